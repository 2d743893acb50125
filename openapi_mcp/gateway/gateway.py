"""`Gateway`: the bridges of several APIs as the tools of one server.

Each API keeps its `Bridge`: its document, its cache, its credentials, limits and connections. The gateway has what they
share: names that are unique, one list or one search, one description. An API that cannot be loaded is left out.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from .. import __version__, modes, plain_text
from ..adaptation import named
from ..api import traffic
from ..bridge import Bridge
from ..cache.indexes import IndexCache
from ..config import Config
from ..errors import BridgeError, DocumentError, UnknownTool, UsageError
from ..instructions import PROGRAMMED, SEARCHED
from ..offer import Offer, ServedTools
from ..runtime.protocol import ServerDescription
from ..runtime.request.redaction import redact
from ..runtime.result.sanitizer import Sanitizer, secrets_of
from ..runtime.server.catalog import BuiltinTool, CallByName, Catalog
from ..runtime.server.hooks import Elicitor, Monitor, Observer, OperationFollower
from ..runtime.server.server import Server
from ..runtime.tool import Tool
from ..runtime.types import CallToolResult, Implementation
from ..token_budget import BYTES_PER_TOKEN

if TYPE_CHECKING:
    from ..contract.drift import DriftLog
    from ..oauth.sign_ins import ApiSignIns
    from .skills import GatewaySkills

Check: TypeAlias = Callable[[Bridge], object]
"""A function that raises BridgeError for a bridge that must not be served."""

MAX_SERVER_NAME = 40
"""Characters of the server's name, which clients put before the names of tools."""


@dataclass(frozen=True, slots=True)
class ApiFailure:
    """An API that could not be loaded, and why. With `is_old` its tools of before are served."""

    name: str
    source: str = field(repr=False)
    error: BridgeError
    is_old: bool = False


@dataclass(frozen=True)
class Gateway(ServedTools):
    """The bridges of several APIs by their names; `config` has the options of the server."""

    config: Config
    bridges: Mapping[str, Bridge]
    failures: tuple[ApiFailure, ...] = ()
    names: tuple[str, ...] = ()
    """The names of all APIs of the file, also of those that could not be loaded: the server is named after them."""

    @classmethod
    def open(
        cls,
        config: Config,
        apis: Mapping[str, Config],
        progress: Callable[[str], None] = lambda _: None,
        *,
        check: Check = lambda _: None,
        strict: bool = False,
        previous: Self | None = None,
        with_document: bool = False,
    ) -> Self:
        """Open the bridges of some APIs, by the options of each.

        An API whose document cannot be loaded, or that `check` refuses, is left out, or is that of the `previous`
        gateway. Raises BridgeError with `strict`, where no API is left, and for options that do not fit all APIs.
        """
        bridges: dict[str, Bridge] = {}
        failures = []
        for name, options in apis.items():
            old = previous.bridges.get(name) if previous else None
            try:
                bridge = Bridge.open(options, progress, with_document=with_document)
                if old and not bridge.compilation.operations:
                    raise DocumentError("the document has no operations", where=redact(options.source))
                check(bridge)
                bridges[name] = bridge
            except BridgeError as error:
                if strict:
                    error.where = f"[apis.{name}] {error.where}".rstrip()
                    raise
                failures.append(ApiFailure(name, options.source, error, old is not None))
                if old:
                    bridges[name] = old
        if not bridges:
            raise failures[0].error
        gateway = cls(config, bridges, tuple(failures), tuple(apis))
        gateway.check()
        return gateway

    def check(self) -> None:
        """Raise UsageError for options that name no tool, and for a variable whose credential two APIs would get."""
        self.offer.check()
        owners: dict[str, list[str]] = {}
        for name, bridge in self.bridges.items():
            for variable in _implicit_variables(bridge):
                owners.setdefault(variable, []).append(name)
        for variable, names in owners.items():
            if len(names) > 1:
                message = f"{' and '.join(names)} would both get the credential of {variable}"
                hint = (
                    f'say which API gets it: [apis.{names[0]}.auth] SCHEME = "env:{variable}"; and another '
                    "variable for each other API"
                )
                raise UsageError(message, where="the credentials", hint=hint)

    @cached_property
    def routes(self) -> Mapping[str, tuple[str, Tool]]:
        """The API of each tool and the tool as its bridge has it, by the name that clients see."""
        pairs = [(name, tool) for name, bridge in self.bridges.items() for tool in bridge.tools]
        return {tool.name: pair for tool, pair in zip(self.tools, pairs, strict=True)}

    @cached_property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of all APIs, in the order of the file and of each document, with unique names.

        The name of its API is the first tag of a tool: a topic of the search, and a rule (`tag:shop`) of settings.
        """
        pairs = [(name, _tagged(name, tool)) for name, bridge in self.bridges.items() for tool in bridge.tools]
        tools = tuple(tool for _, tool in pairs)
        if len({tool.name.casefold() for tool in tools}) < len(tools):
            tools = _with_distinct_names(pairs)
        return named(tools, None, self.config.profile, self.implementation.name)

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """The bytes of each tool in the list, by its name."""
        sizes = {name: bridge.sizes for name, bridge in self.bridges.items()}
        return {name: sizes[api][tool.name] + len(name) - len(tool.name) for name, (api, tool) in self.routes.items()}

    @cached_property
    def offer(self) -> Offer:
        """The tools as a server offers them."""
        asking = [bridge.confirmation for bridge in self.bridges.values() if bridge.confirmation is not None]
        tools = asking[0].tools(self.tools) if asking else self.tools
        fixed = any(bridge.config.argument_values for bridge in self.bridges.values())
        store = None if asking or fixed else self.indexes
        return Offer(tools, self.config, self.sizes, store, self.workflows)

    @property
    def indexes(self) -> IndexCache | None:
        """The cache for the indexes of searches; None where the tools of an API are not cached."""
        return IndexCache.of_apis({name: bridge.indexes for name, bridge in self.bridges.items()})

    @property
    def workflows(self) -> tuple[BuiltinTool, ...]:
        """The workflows of all APIs, each with a name that is no other's, whose calls the server of its API makes."""
        return tuple(tool for _, tool in self._workflows)

    @cached_property
    def api_of(self) -> Mapping[str, str]:
        """The API of each tool and each workflow, by the name that clients see."""
        return {name: api for name, (api, _) in self.routes.items()} | {tool.name: api for api, tool in self._workflows}

    @cached_property
    def _workflows(self) -> Sequence[tuple[str, BuiltinTool]]:
        taken, tools = {tool.name for tool in self.tools}, list[tuple[str, BuiltinTool]]()
        for api, bridge in self.bridges.items():
            for tool in bridge.workflows.tools if bridge.workflows else ():
                name = tool.name if tool.name not in taken else f"{api}_{tool.name}"[: self.config.profile.max_name]
                if name not in taken:
                    taken.add(name)
                    tools.append((api, _of_api(tool, api, name)))
        return tools

    @property
    def implementation(self) -> Implementation:
        """The server's Implementation object, which names all APIs."""
        name = plain_text.trim("-".join(self.names or self.bridges), MAX_SERVER_NAME).rstrip(" …-")
        titles = [bridge.implementation.title or name for name, bridge in self.bridges.items()]
        return Implementation(name=name, version=__version__, title=", ".join(titles))

    @property
    def drifts(self) -> "tuple[DriftLog, ...]":
        """The contract checks of the APIs that have one. The caller closes them."""
        return tuple(drift for bridge in self.bridges.values() for drift in bridge.drifts)

    @property
    def elicitor(self) -> Elicitor | None:
        """Questions to users of clients during calls, the same for all APIs."""
        bridges = self.bridges.values()
        asking = [bridge.confirmation for bridge in bridges] + [bridge.elicitor for bridge in bridges]
        return next((each for each in asking if each is not None), None)

    def find(self, name: str) -> tuple[Bridge, Tool]:
        """Return the bridge of the tool of a name, and its tool. Raises UnknownTool with the nearest name."""
        if name in self.routes:
            api, tool = self.routes[name]
            return self.bridges[api], tool
        from ..tools.names import suggest_names

        hint = suggest_names(name, self.routes) or "`openapi-mcp inspect` names the tools"
        raise UnknownTool(f"no such tool: {name}", where=", ".join(self.bridges), hint=hint)

    def instructions(self) -> str:
        """Return the server's instructions: the user's, or a line for each API, within the limit."""
        if self.config.instructions is not None:
            return self.config.instructions
        searched = PROGRAMMED if self.config.mode is modes.Mode.CODE else SEARCHED
        last = searched if self.mode_decision.searches else ""
        first = f"{len(self.tools):,} tools of {len(self.bridges)} APIs:"
        room = max(self.config.instructions_limit - len(first) - len(last) - 2, 0) // len(self.bridges) - 1
        lines = [plain_text.trim(_line(*each), room) for each in self.bridges.items()] if room > 0 else []
        return "\n".join(line for line in (first, *lines, last) if line)[: self.config.instructions_limit]

    def server(
        self,
        *,
        list_changed: bool = False,
        monitor: Monitor | None = None,
        observer: Callable[[Bridge], Observer | None] = lambda _: None,
        sign_ins: "Callable[[str], ApiSignIns | None]" = lambda _: None,
    ) -> Server:
        """Make an MCP server of the tools of all APIs, without a transport; the arguments are as of `Bridge.server`.

        `observer` returns that of one API, `sign_ins` those for an API of some name.
        """
        from ..telemetry.records import of_api
        from .server import GatewayServer

        elicitor = self.elicitor
        servers = {
            name: bridge.server(
                monitor=of_api(monitor, name) if monitor is not None else None,
                observer=observer(bridge),
                sign_ins=sign_ins(name),
                catalog=Catalog(bridge.tools, sizes=bridge.sizes),
                elicitor=elicitor,
                follower=partial(self._follower, bridge.config, name),
            )
            for name, bridge in self.bridges.items()
        }
        has_tasks = any(bridge.config.has_tasks for bridge in self.bridges.values())
        secrets = [secret for bridge in self.bridges.values() for secret in secrets_of(bridge.request_options())]
        return GatewayServer(
            self.catalog,
            ServerDescription(
                implementation=self.implementation,
                instructions=self.instructions() or None,
                list_changed=list_changed,
                explicit_fields=self.config.explicit_fields,
                elicits=elicitor is not None,
                tasks=has_tasks,
            ),
            servers,
            {name: api for name, (api, _) in self.routes.items()},
            sanitizer=Sanitizer(secrets),
            max_result_bytes=max(bridge.config.result_tokens for bridge in self.bridges.values()) * BYTES_PER_TOKEN,
            rights=lambda: self.rights,
            elicitor=elicitor,
            follower=partial(self._follower, self.config) if has_tasks else None,
            skills=None if self.config.no_skills else self._skills,
        )

    def _skills(self) -> "GatewaySkills":
        """Return what answers requests about skills, made for the first of them."""
        from .skills import GatewaySkills

        return GatewaySkills(self.bridges, self.api_of)

    def _follower(self, config: Config, api: str = "") -> OperationFollower:
        """Return what follows the operations of an API, by the names that its tools have for clients."""
        asks = any(bridge.confirmation is not None for bridge in self.bridges.values())
        return traffic.follower(config, lambda: self._tools_of(api), may_delete=not asks)

    def _tools_of(self, api: str) -> list[Tool]:
        return [tool for tool in self.tools if self.routes[tool.name][0] == api]


def _of_api(tool: BuiltinTool, api: str, name: str) -> BuiltinTool:
    """Return a workflow under a name, which calls the tools of its own API."""

    async def answer(arguments: Mapping[str, Any], call: CallByName) -> CallToolResult:
        return await tool.answer(arguments, call.using(call.events, api))

    return replace(tool, name=name, answer=answer, target=lambda _: name)


Served: TypeAlias = Bridge | Gateway
"""Tools of a server: those of one API, or of several."""


def bridges_of(served: Served) -> tuple[Bridge, ...]:
    """Return the bridges of all APIs that are served."""
    return tuple(served.bridges.values()) if isinstance(served, Gateway) else (served,)


def _line(name: str, bridge: Bridge) -> str:
    """Return a line about one API: its title, the beginning of its tools' names, their number, its description."""
    about = bridge.implementation
    prefix = bridge.config.prefix
    names = f", names begin with {prefix}" if prefix else ""
    text = f": {about.description}" if about.description else ""
    return plain_text.line(f"- {about.title or name} ({len(bridge.tools):,} tools{names}){text}", 2000)


def _tagged(api: str, tool: Tool) -> Tool:
    from ..runtime.search.topics import topics_of

    return replace(tool, tags=(api, *(tool.tags or topics_of(tool))))


def _with_distinct_names(pairs: Sequence[tuple[str, Tool]]) -> tuple[Tool, ...]:
    """Return tools of several APIs with names that no two of them share."""
    from ..tools.names import NameCandidate, distinct_names

    candidates = [
        NameCandidate((tool.name, f"{api}_{tool.name}"), f"{api} {tool.method} {tool.path}") for api, tool in pairs
    ]
    names = distinct_names(candidates, fold=str.casefold)
    return tuple(replace(tool, name=name) for (_, tool), name in zip(pairs, names, strict=True))


def _implicit_variables(bridge: Bridge, environment: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Yield the variables that are set and read for a scheme because of their names, and not because of a setting."""
    configured = {*bridge.config.credentials, *bridge.config.oauth_clients}
    for scheme in bridge.security_schemes():
        variables = (f"{scheme.variable}{suffix}" for suffix in ("", "_CLIENT_ID", "_CLIENT_SECRET"))
        yield from (each for each in variables if scheme.name not in configured and environment.get(each))

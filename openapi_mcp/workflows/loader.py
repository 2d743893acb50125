"""Read the workflows of a bridge: its own tools, operations that it hides, and the documents of other APIs.

Another document gets nothing of this one's settings but limits and the rules of what may be contacted: no credential,
header, base URL or certificate. A variable that both would read by its name is refused.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol

from ..authorization.scopes import ScopeSettings
from ..compilation import DocumentInfo
from ..config import Config
from ..document.fetcher import Fetcher
from ..document.model import Document
from ..document.resolver import Resolver
from ..egress.policy import EgressPolicy
from ..errors import DocumentError, Problem
from ..modes import CODE_NAMES, Mode
from ..runtime.request.redaction import redact
from ..runtime.search.tools import NAMES
from ..runtime.server.catalog import CallByName
from ..runtime.server.hooks import Monitor
from ..runtime.server.server import Server
from ..runtime.tool import SecurityScheme, Tool
from ..selection import Selection
from ..token_budget import BYTES_PER_TOKEN
from ..tools.operations import operations
from .compiler import WorkflowCompiler
from .documents import DescriptionReader
from .references import ANY_METHOD, CalledApi, OperationReferences, workflow_ids
from .short_form import description_of
from .tools import Consent, WorkflowLimits, Workflows, WorkflowTool, workflow_tools

if TYPE_CHECKING:
    from ..elicitation.confirmation import Confirmation

MAX_APIS: Final = 10
"""Documents of other APIs that the workflows of one server name."""


class ServedApi(Protocol):
    """A bridge, as far as workflows need it."""

    @property
    def config(self) -> Config:
        """The options."""

    @property
    def document_info(self) -> DocumentInfo:
        """The facts about the document."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that are offered."""

    @property
    def document(self) -> Document:
        """The document. Raises DocumentError."""

    def unlisted(self, wanted: frozenset[str]) -> tuple[Tool, ...]:
        """Return tools of some operations (see `Selection.only`), whatever is selected."""

    def security_schemes(self) -> tuple[SecurityScheme, ...]:
        """Return the security schemes that the tools use."""


class DocumentApi:
    """The API of a bridge, under a name: a tool for each operation that steps name, offered or not."""

    def __init__(self, name: str, bridge: ServedApi) -> None:
        self.name = name
        self.uri = bridge.document_info.uri
        self.bridge = bridge

    def find(self, wanted: Collection[str]) -> Sequence[Tool]:
        """Return the tools of some operations."""
        folded = {key.casefold() for key in wanted}
        found = [
            tool
            for tool in self.bridge.tools
            if not _keys(tool).isdisjoint(wanted) or (tool.operation_id or "").casefold() in folded
        ]
        missing = frozenset(wanted) - {key for tool in found for key in _keys(tool)}
        missing |= {key for key in wanted if key.startswith(ANY_METHOD)}  # a hidden operation may have the path too
        others = self._unlisted(missing) if missing else ()
        known = {(tool.method, tool.path) for tool in found}
        return [*found, *(tool for tool in others if (tool.method, tool.path) not in known)]

    def _unlisted(self, missing: frozenset[str]) -> Sequence[Tool]:
        """Return tools of operations that are not offered; none of a document that cannot be read again (stdin)."""
        with suppress(DocumentError):
            return self.bridge.unlisted(missing)
        return ()

    def known(self) -> Collection[str]:
        """Return the operationIds of the document."""
        return self._known

    @cached_property
    def _known(self) -> list[str]:
        with suppress(DocumentError):
            found, _ = operations(self.bridge.document, Resolver(self.bridge.document))
            return [each.operation_id or each.label for each in found]
        return [tool.operation_id or tool.name for tool in self.bridge.tools]


def _keys(tool: Tool) -> set[str]:
    return {tool.operation_id or tool.name, tool.name, f"{tool.method} {tool.path}", f"{ANY_METHOD} {tool.path}"}


@dataclass(frozen=True)
class BridgeWorkflows:
    """The workflows of a bridge, and the bridges of other documents that they call, by the names of their APIs."""

    loaded: Workflows
    others: Mapping[str, Any]

    @property
    def tools(self) -> tuple[WorkflowTool, ...]:
        """The workflows as tools."""
        return self.loaded.tools

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The defects of their documents."""
        return self.loaded.problems

    @property
    def digests(self) -> Mapping[str, str]:
        """The digests of the files that they were made from, by address."""
        digests = dict(self.loaded.digests)
        for other in self.others.values():
            digests |= other.document_info.digests
        return digests

    def servers(self, monitor: Monitor | None) -> dict[str, Server]:
        """Return a server for each other API. Users are asked before the workflow, not before its calls."""
        return {name: other.server(monitor=monitor, asks=False) for name, other in self.others.items()}


class WorkflowConsent:
    """Questions to users before workflows that make calls which need their consent: one for all calls of a workflow."""

    def __init__(self, confirmation: "Confirmation") -> None:
        self._confirmation = confirmation

    def as_listed(self, workflow: Tool, operations: Iterable[Tool]) -> Tool | None:
        """Return a workflow with the argument that an answer needs; None if it needs no consent."""
        if not any(map(self._confirmation.asks_for, operations)):
            return None
        (listed,) = self._confirmation.tools((replace(workflow, confirm=True),))
        return listed

    async def ask(self, workflow: Tool, arguments: Mapping[str, Any], call: CallByName) -> Mapping[str, Any]:
        """Return the arguments of a workflow that may run. Raises RuntimeFailure."""
        if not call.asks:
            return arguments
        return await self._confirmation.consent(workflow, arguments, call.events, call.sanitizer)


def load_for(
    bridge: ServedApi, open_bridge: Callable[[Config], ServedApi], confirmation: "Confirmation | None"
) -> BridgeWorkflows:
    """Return the workflows of a bridge. `confirmation` asks users before calls.

    Raises DocumentError for a file that is no Arazzo Description, and UsageError for a table that is no workflow.
    """
    config, others = bridge.config, dict[str, ServedApi]()

    def open_api(address: str) -> CalledApi:
        if len(others) >= MAX_APIS:
            raise DocumentError(f"it is one of more than {MAX_APIS} documents of other APIs", where=redact(address))
        other = open_bridge(_settings_of_other(config, address))
        if shared := set(_variables(other)) & set(_variables(bridge)):
            hint = "give its API another title, or this one's credential another name with --auth SCHEME=env:NAME"
            message = f"it would get the credential of {min(shared)}, which is this API's"
            raise DocumentError(message, where=redact(address), hint=hint)
        others[address] = other
        return DocumentApi(address, other)

    seconds, size = config.total_timeout or None, config.result_tokens * BYTES_PER_TOKEN
    prefix = f"{config.prefix}{'' if config.prefix.endswith(('_', '-')) else '_'}" if config.prefix else ""
    room = config.profile.room_for_name(bridge.document_info.implementation.name)
    limits = WorkflowLimits(seconds=seconds, result_bytes=size, prefix=prefix, max_name=room)
    names = {tool.name for tool in bridge.tools} | NAMES | CODE_NAMES
    consent = None if confirmation is None else WorkflowConsent(confirmation)
    return BridgeWorkflows(
        _load(config, DocumentApi("", bridge), open_api, limits, taken=names, consent=consent), others
    )


def _load(
    config: Config,
    own: CalledApi,
    open_api: Callable[[str], CalledApi],
    limits: WorkflowLimits,
    *,
    taken: Collection[str],
    consent: Consent | None,
) -> Workflows:
    """Return the workflows that the options name. `own` is the API that is served, `open_api` opens another document.

    No tool has a name that is `taken`.
    """
    fetcher = Fetcher("", certificates=config.compile_options.certificates, egress=EgressPolicy(config.egress))
    settings = None if config.workflows is None else description_of(config.workflows)
    reader = DescriptionReader(fetcher, allow_remote=config.allow_remote_refs)
    roots = reader.read_all(config.workflow_files, settings)
    references = OperationReferences(reader, own, open_api)
    problems: list[Problem] = []
    workflows = WorkflowCompiler(references, problems.append).compile(list(reader.found.values()))
    listed = dict.fromkeys((root.identity, name) for root in roots for name in workflow_ids(root))
    keys = [key for key in listed if key in workflows]
    return Workflows(
        tools=workflow_tools(workflows, keys, limits, taken, consent),
        problems=tuple(dict.fromkeys([*reader.problems, *references.problems, *problems])),
        digests={redact(file.uri): file.digest for file in reader.files},
        validators={redact(file.uri): file.validators for file in reader.files if file.validators},
        apis={name: api.uri for name, api in references.apis.items() if name},
    )


def _settings_of_other(config: Config, address: str) -> Config:
    """Return the options for the document of another API: limits, egress and certificates to trust, no secrets."""
    default = Config(source=address)
    kept = (
        *("egress", "allow_remote_refs", "connect_timeout", "timeout", "total_timeout", "retries", "max_response_size"),
        *("max_result_tokens", "rate_limit", "upstream_rate_limit", "circuit_breaker", "redis", "ca", "no_cache"),
        *("confirm", "quiet", "lenient"),
    )
    return replace(default, **{name: getattr(config, name) for name in kept})


def _variables(bridge: ServedApi, environment: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Yield the variables that are set and read for a scheme because of their names, and not because of a setting."""
    configured = {*bridge.config.credentials, *bridge.config.oauth_clients}
    for scheme in bridge.security_schemes():
        names = (f"{scheme.variable}{end}" for end in ("", "_CLIENT_ID", "_CLIENT_SECRET"))
        yield from (name for name in names if scheme.name not in configured and environment.get(name))


def settings_of_unlisted(config: Config, wanted: frozenset[str]) -> Config:
    """Return the options for operations that are called by workflows and offered to nobody."""
    return replace(
        config,
        selection=Selection(only=wanted),
        mode=Mode.ALL,
        max_tools=None,
        pinned=(),
        prefix=None,
        client="generic",
        auth_rights=ScopeSettings(),
        workflow_files=(),
        workflows=None,
    )

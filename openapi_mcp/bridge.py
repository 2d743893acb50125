"""`Bridge`: the whole pipeline as one object, from a document to a server. The decisions are made in its parts.

The document itself is loaded on demand: a server with cached tools works without it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeVar

import httpx

from . import modes
from .answers.shaper import AnswerShaper
from .api import traffic
from .api.document import ApiDocument
from .cache.compilations import CompilationCache
from .cache.files import Cache, folder
from .compilation import Compilation, DocumentInfo
from .config import Config
from .errors import Problem, UnknownTool, UsageError
from .instructions import PROGRAMMED, SEARCHED, Instructions, instructions, overview
from .offer import Offer, ServedTools
from .runtime.protocol import ServerDescription
from .runtime.request.redaction import redact
from .runtime.server.catalog import Catalog
from .runtime.server.hooks import Elicitor, Monitor, Observer, OperationFollower
from .runtime.server.server import Server
from .runtime.tool import Tool
from .runtime.types import CallToolResult
from .token_budget import BYTES_PER_TOKEN, sizes

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from .elicitation.confirmation import Confirmation
    from .extension.hooks import Extension, Hooks
    from .extension.source import Auth, Source
    from .oauth.sign_ins import ApiSignIns
    from .workflows.loader import BridgeWorkflows

B = TypeVar("B", bound="Bridge")


@dataclass(frozen=True)
class Bridge(ServedTools, ApiDocument):
    """The tools of a document, and the options they were made with."""

    @classmethod
    def open(
        cls,
        source: "Source",
        progress: Callable[[str], None] = lambda _: None,
        *,
        with_document: bool = False,
        hooks: "Hooks | Sequence[Hooks]" = (),
        transport: "httpx.AsyncBaseTransport | None" = None,
        auth: "Auth | None" = None,
        **options: Any,
    ) -> Self:
        """Load a document and compile its tools; `progress` is called with each step.

        Raises DocumentError, and UsageError where the options name what the document does not have.

        `source` is a path, a URL, a document as Python values, or a Config. `options` are those of the command line by
        name (`base_url="…"`, `include=["tag:pets"]`). `hooks` change tools, requests and results. `transport` sends the
        requests, instead of this program's own and its rules of what may be contacted; the caller closes it.
        `auth` signs requests (an `httpx.Auth`, or a function), or is the option: credentials by security scheme.
        Tools that were compiled before come from the cache. With `with_document`, a document that was read stays in
        memory; else it is released, and `document` reads it again.
        """
        if isinstance(source, Config) and not (source.plugins or hooks or transport or auth or options):
            return cls._opened(source, progress, with_document=with_document)
        from .extension.source import extended

        with extended(source, hooks, transport, auth, options) as (config, extension):
            in_memory = isinstance(source, Mapping)
            return cls._opened(config, progress, with_document=with_document or in_memory, extension=extension)

    @classmethod
    def from_app(cls, app: Any, document: Mapping[str, Any] | None = None, **options: Any) -> Self:
        """Open the bridge of an application in memory: FastAPI, or any ASGI application with its document.

        Without a `document`, `app.openapi()` returns it. `options` are those of `open`. Calls do not leave the process;
        the application's lifespan is not run. Raises DocumentError and UsageError.
        """
        from .extension import app as applications

        return cls.open(document or applications.document_of(app), **{**applications.defaults(app), **options})

    @classmethod
    def _opened(
        cls,
        config: Config,
        progress: Callable[[str], None],
        *,
        with_document: bool,
        extension: "Extension | None" = None,
    ) -> Self:
        bridge = _extended(cls._read(config, progress, with_document=with_document), extension)
        _check_names(config, bridge.document_info, bridge.compilation)
        bridge.offer.check()
        return bridge

    @classmethod
    def _read(cls, config: Config, progress: Callable[[str], None], *, with_document: bool) -> Self:
        """Return the bridge of a document, whose options are not checked."""
        progress(f"reading {redact(config.source)}")
        options = config.compile_options
        entries = None if config.no_cache else CompilationCache(Cache(folder()), config.source, options)
        if entries and (entry := entries.find()):
            return cls(config, *entry, indexes=entries.indexes(entry))
        from .tools import compiler

        document = compiler.load(config.source, options, progress)
        progress("compiling tools")
        entry = compiler.document_info(document, options), compiler.compile_document(document, options)
        if entries:
            entries.store(entry)
        kept = document if with_document or config.check_contract else None
        return cls(config, *entry, kept, entries.indexes(entry) if entries else None)

    @cached_property
    def confirmation(self) -> "Confirmation | None":
        """The questions to users before calls, with `confirm`, or where `x-mcp` asks for them."""
        chosen = self.config.confirm
        if chosen == "never" and not any(tool.confirm for tool in self.compilation.tools):
            return None
        from .elicitation.confirmation import Confirmation

        wait = self.config.total_timeout
        return Confirmation(all_changes=chosen == "changing", by_hints=chosen != "never", max_wait=wait)

    @cached_property
    def elicitor(self) -> Elicitor | None:
        """Questions to users of clients during calls: for their consent, or to sign in."""
        signs_in = self.config.sign_in_port is not None or self.config.sign_in_url is not None
        if self.confirmation is not None or not signs_in:
            return self.confirmation
        from .elicitation.asker import ClientQuestions

        return ClientQuestions(self.config.total_timeout)

    @property
    def sizes(self) -> Mapping[str, int]:
        """The bytes of each tool in the list, by its name."""
        measured = sizes(self.tools) if self.config.argument_values else self.compilation.sizes
        grown = zip(self.tools, self.compilation.tools, measured, strict=True)
        return {tool.name: size + len(tool.name) - len(original.name) for tool, original, size in grown}

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The defects of the document that loading it and compiling its tools found."""
        own = self.document_info.problems + self.compilation.problems
        return own + self.workflows.problems if self.workflows else own

    @cached_property
    def workflows(self) -> "BridgeWorkflows | None":
        """The workflows that are tools, and the bridges of other documents that they call; None without any."""
        if not (self.config.workflow_files or self.config.workflows):
            return None
        from .workflows.loader import load_for

        return load_for(self, Bridge.open, self.confirmation)

    def unlisted(self, wanted: frozenset[str]) -> tuple[Tool, ...]:
        """Return tools of some operations (see `Selection.only`), whatever is selected. Raises DocumentError."""
        from .workflows.loader import settings_of_unlisted

        found = self._read(settings_of_unlisted(self.config, wanted), lambda _: None, with_document=False)
        return _extended(found, self.extension).tools

    @cached_property
    def offer(self) -> Offer:
        """The tools as a server offers them."""
        store = self.indexes if self.confirmation is None and not self.config.argument_values else None
        tools = self.tools if self.confirmation is None else self.confirmation.tools(self.tools)
        return Offer(tools, self.config, self.sizes, store, self.workflows.tools if self.workflows else ())

    def tool(self, name: str) -> Tool:
        """Return the tool of a name. Raises UnknownTool, which suggests the nearest name."""
        tools = {tool.name: tool for tool in self.tools}
        if name not in tools:
            from .tools.names import suggest_names

            source = redact(self.config.source)
            hint = suggest_names(name, tools) or f"openapi-mcp inspect {source}"
            raise UnknownTool(f"no such tool: {name}", where=source, hint=hint)
        return tools[name]

    def find(self, name: str) -> tuple[Self, Tool]:
        """Return this bridge and its tool of a name. Raises UnknownTool."""
        return self, self.tool(name)

    def instructions(self, *, lists_all: bool = False) -> Instructions:
        """Return the server's instructions: the user's, or an overview of the tools and the document's own text.

        `lists_all`: the server lists all tools, whatever the mode is.
        """
        own = self.config.instructions
        if own is not None:
            return Instructions(own or None, len(own))
        searches = not lists_all and self.mode_decision.searches
        text = overview(
            self.implementation.title or "",
            self.implementation.description or "",
            self.compilation.facts,
            (PROGRAMMED if self.config.mode is modes.Mode.CODE else SEARCHED) if searches else "",
        )
        return instructions(self.document_info, text, self.config.instructions_limit)

    def description(self, *, list_changed: bool = False, lists_all: bool = False) -> ServerDescription:
        """Describe a server of these tools, as the protocol needs it; `lists_all` as for `instructions`."""
        return ServerDescription(
            implementation=self.implementation,
            instructions=self.instructions(lists_all=lists_all).text,
            list_changed=list_changed,
            explicit_fields=self.config.explicit_fields,
            elicits=self.elicitor is not None,
            tasks=self.config.has_tasks,
        )

    def server(
        self,
        *,
        list_changed: bool = False,
        monitor: Monitor | None = None,
        observer: Observer | None = None,
        sign_ins: "ApiSignIns | None" = None,
        catalog: Catalog | None = None,
        elicitor: Elicitor | None = None,
        follower: "Callable[[], OperationFollower] | None" = None,
        asks: bool = True,
    ) -> Server:
        """Make an MCP server of these tools, without a transport.

        `list_changed`: it announces changes of the list. `monitor` observes its calls, `observer` the API's responses;
        without one those are checked against the document if that was chosen. `sign_ins` let its users sign in. A
        server of several APIs gives its own `catalog`, `elicitor` and `follower`. Without `asks` nobody is asked before
        calls.
        """
        options = self.request_options()
        return Server(
            catalog or self.catalog,
            self.description(list_changed=list_changed),
            traffic.upstream(
                self.config, self.egress, self.implementation.name, self.compilation.base_urls, self.extension
            ),
            options=options,
            source=self.oauth_tokens(options.credentials, sign_ins),
            monitor=traffic.monitor(monitor, self.extension),
            elicitor=(elicitor or self.elicitor) if asks else None,
            shaper=None if self.config.select == "never" else AnswerShaper(),
            follower=(follower or self._follower) if self.config.has_tasks else None,
            max_result_bytes=self.config.result_tokens * BYTES_PER_TOKEN,
            limiter=traffic.call_limiter(self.config, self.implementation.name),
            observer=observer if observer is not None else (self.drift.observe if self.drift else None),
            rights=lambda: self.rights,
            others=self.workflows.servers(monitor) if self.workflows else None,
            skills=self.offer.skills(self.document_info),
        )

    async def call(self, name: str, arguments: Mapping[str, Any] | None = None) -> CallToolResult:
        """Call a tool and return its result, as a client would; whoever writes the call is not asked for consent.

        A failure is a result with `is_error`. Connections are those of this call alone: for many calls keep a server
        (`bridge.server()`), which has a `call` too. Raises UnknownTool, and UsageError for a missing variable.
        """
        server = self.server(asks=False)
        try:
            if server.catalog.get(name) is None:
                self.tool(name)
            return await server.call(name, arguments or {})
        finally:
            await server.aclose()

    def asgi(
        self,
        path: str = "/mcp",
        *,
        allowed_hosts: Collection[str] | None = (),
        allowed_origins: Collection[str] = (),
        auth_token: str | None = None,
    ) -> "Starlette":
        """Return an ASGI application that serves MCP over Streamable HTTP at `path`.

        `allowed_hosts` are the names of the server besides those of this machine, None for any; `allowed_origins` those
        of web pages in browsers. With `auth_token` clients must send it. Its lifespan closes the connections to the
        API: `mount` runs it with that of another application. Raises UsageError.
        """
        from .extension import app

        app.check(self.config)
        return app.endpoint(
            self.server(),
            path,
            allowed_hosts=allowed_hosts,
            allowed_origins=allowed_origins,
            auth_token=auth_token,
        )

    def mount(self, app: "Starlette", path: str = "/", **access: Any) -> None:
        """Serve MCP at `path`/mcp of a FastAPI or Starlette application, beside its own routes.

        `access` are the options of `asgi`. Raises UsageError.
        """
        from .extension import app as applications

        applications.mount(app, path, self.asgi(**access))

    def _follower(self) -> OperationFollower:
        """Return what follows operations that the API carries out in the background."""
        return traffic.follower(self.config, lambda: self.tools, may_delete=self.confirmation is None)


def _extended(bridge: B, extension: "Extension | None") -> B:
    """Return a bridge with tools as an extension makes them, whose index is not that of the document."""
    if extension is None:
        return bridge
    made = extension.compilation(bridge.compilation, read_only=bridge.config.selection.read_only)
    indexes = bridge.indexes if made is bridge.compilation else None
    return replace(bridge, compilation=made, indexes=indexes, extension=extension)


def _check_credentials(names: Iterable[str], info: DocumentInfo, compilation: Compilation) -> None:
    """Raise UsageError for a credential of no security scheme; a header that operations declare may be one too."""
    used = (scheme.name for tool in compilation.tools for group in tool.security for scheme in group)
    known = tuple(dict.fromkeys((*info.security_schemes, *used)))
    for name in names:
        if name not in known:
            from .tools.names import suggest_names

            hint = suggest_names(name, known) or f"the document's security schemes are: {', '.join(known) or 'none'}"
            raise UsageError(f"no such security scheme: {name}", where=f"--auth {name}=…", hint=hint)


def _check_names(config: Config, info: DocumentInfo, compilation: Compilation) -> None:
    """Raise UsageError for a credential of no security scheme, or a FROM that is no base URL."""
    if config.credentials:
        _check_credentials(config.credentials, info, compilation)
    config.base_url_map.check(compilation.base_urls)
    if config.argument_values:
        config.argument_values.check(compilation.tools)

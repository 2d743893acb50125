"""`Bridge`: the whole pipeline as one object, from a document to a server. The decisions are made in its parts.

The document itself is loaded on demand: a server with cached tools works without it.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

import httpx

from . import modes
from .answers.shaper import AnswerShaper
from .cache.compilations import CompilationCache
from .cache.files import Cache, folder
from .cache.indexes import IndexCache
from .compilation import Compilation, DocumentInfo
from .config import Config
from .egress.breaker import CircuitBreaker
from .egress.guard import MIN_UNANSWERED, GuardedTransport
from .egress.policy import EgressPolicy
from .errors import Problem, UnknownTool, UsageError
from .instructions import PROGRAMMED, SEARCHED, Instructions, instructions, overview
from .offer import Offer
from .runtime.errors import RequestError
from .runtime.protocol import ServerDescription
from .runtime.request.build import RequestOptions
from .runtime.request.credentials import read_variables
from .runtime.request.redaction import redact
from .runtime.result.sanitizing import secrets_of
from .runtime.server.catalog import Catalog
from .runtime.server.hooks import Elicitor, Limiter, Monitor, Observer, OperationFollower
from .runtime.server.server import Server
from .runtime.tool import SecurityScheme, Tool
from .runtime.types import Implementation
from .token_budget import BYTES_PER_TOKEN, sizes

if TYPE_CHECKING:
    from .authorization.rights import ScopeRights
    from .contract.drift import DriftLog
    from .document.model import Document
    from .elicitation.confirmation import Confirmation
    from .oauth.clients import OAuthSettings
    from .oauth.sign_ins import UserSignIns
    from .oauth.tokens import OAuthTokens
    from .workflows.bridged import BridgeWorkflows


@dataclass(frozen=True)
class Bridge:
    """The tools of a document, and the options they were made with."""

    config: Config
    document_info: DocumentInfo
    compilation: Compilation
    loaded_document: "Document | None" = field(default=None, repr=False, compare=False)
    """The document, if it was read and will be needed again."""
    indexes: IndexCache | None = field(default=None, repr=False, compare=False)
    """The cache for the indexes of searches."""

    @classmethod
    def open(
        cls, config: Config, progress: Callable[[str], None] = lambda _: None, *, with_document: bool = False
    ) -> Self:
        """Load a document and compile its tools; `progress` is called with each step.

        Raises DocumentError, and UsageError where the options name what the document does not have.

        Tools that were compiled before come from the cache. With `with_document`, a document that was read stays in
        memory; else it is released, and `document` reads it again.
        """
        bridge = cls._read(config, progress, with_document=with_document)
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
    def tools(self) -> tuple[Tool, ...]:
        """The tools, in the order of the document, with the base URLs of `Config.base_url_map`."""
        base_urls, tools = self.config.base_url_map, self.compilation.tools
        tools = tuple(map(base_urls.apply, tools)) if base_urls.pairs else tools
        tools = tuple(map(values.apply, tools)) if (values := self.config.argument_values) else tools
        if self.config.prefix or self.config.client != "generic":
            from .adaptation import named

            tools = named(tools, self.config.prefix, self.config.profile, self.implementation.name)
        return tools

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
        from .elicitation.asking import ClientQuestions

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
        from .workflows.bridged import load_for

        return load_for(self, Bridge.open, self.confirmation)

    def unlisted(self, wanted: frozenset[str]) -> tuple[Tool, ...]:
        """Return tools of some operations (see `Selection.only`), whatever is selected. Raises DocumentError."""
        from .workflows.bridged import settings_of_unlisted

        return self._read(settings_of_unlisted(self.config, wanted), lambda _: None, with_document=False).tools

    @property
    def implementation(self) -> Implementation:
        """The server's Implementation object: title and version of the document, and how a client may show it."""
        return self.document_info.implementation

    @cached_property
    def document(self) -> "Document":
        """The document as OpenAPI 3.x, read again if it has been released. Raises DocumentError."""
        from .tools import compiler

        return self.loaded_document or compiler.load(self.config.source, self.config.compile_options)

    @cached_property
    def offer(self) -> Offer:
        """The tools as a server offers them."""
        store = self.indexes if self.confirmation is None and not self.config.argument_values else None
        tools = self.tools if self.confirmation is None else self.confirmation.tools(self.tools)
        return Offer(tools, self.config, self.sizes, store, self.workflows.tools if self.workflows else ())

    @property
    def catalog(self) -> Catalog:
        """The tools as clients get them: listed, in pages of `page_size` if that is set, or by a search."""
        return self.offer.catalog

    @property
    def rights(self) -> "ScopeRights":
        """The tools that the scopes of an access token allow, offered in the way that the whole is."""
        return self.offer.rights

    @property
    def mode_decision(self) -> modes.ModeDecision:
        """The choice between list and search, with its reason."""
        return self.offer.mode_decision

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

    def security_schemes(self) -> tuple[SecurityScheme, ...]:
        """Return the security schemes that the tools use, each once, in the order they appear."""
        schemes = (scheme for tool in self.tools for alternative in tool.security for scheme in alternative)
        return tuple(dict.fromkeys(schemes))

    def request_options(self, environment: Mapping[str, str] = os.environ) -> RequestOptions:
        """Return the options of the tools' requests, with secrets of the configuration and the environment.

        Raises UsageError for one that cannot be read.
        """
        options = self.config.request_options(self.security_schemes(), environment)
        try:
            variables = read_variables(self.tools, environment)
        except RequestError as error:
            hint = "set the variable, or fix the argument to another value with --set"
            raise UsageError(str(error), where="the arguments", hint=hint) from None
        return replace(options, variables=variables) if variables else options

    @cached_property
    def egress(self) -> EgressPolicy:
        """The policy of calls and of token requests: what they may contact."""
        return self.config.egress_policy(trusts_document=self.document_info.is_private)

    @property
    def oauth_settings(self) -> "OAuthSettings":
        """The settings of OAuth clients of this document."""
        return replace(self.config.oauth_settings, egress=self.egress)

    def oauth_tokens(
        self,
        static: Mapping[str, str] | None = None,
        sign_ins: "UserSignIns | None" = None,
        *,
        is_shown: bool = False,
    ) -> "OAuthTokens | None":
        """Return the source of access tokens for the schemes whose OAuth client is configured; None without any.

        A scheme with a credential in `static` uses that. `sign_ins` are those of users over HTTP, which then know these
        schemes; with `is_shown` the source is as it would be with them, to be described. Raises UsageError.
        """
        schemes = {scheme.name: scheme for scheme in self.security_schemes() if scheme.name not in (static or {})}
        candidates = [each for each in self.document_info.oauth_schemes if each.name in schemes]
        if not candidates:
            return None
        from .oauth.conversation import local_sign_ins
        from .oauth.tokens import OAuthTokens

        settings = self.oauth_settings
        if sign_ins is None and not is_shown:
            settings = replace(settings, callback=None)
        tokens = OAuthTokens(settings, sign_ins or local_sign_ins(self.config.sign_in_port))
        for scheme in candidates:
            tokens.add(scheme, schemes[scheme.name].variable)
        if sign_ins is not None:
            sign_ins.sources = {name: source for name, source in tokens.sources.items() if source.is_personal}
        return tokens if tokens.sources else None

    def validate(self) -> Iterator[Problem]:
        """Yield the findings of openapi-core's validator, which runs in a process of its own, for a limited time."""
        from .contract import validation_process

        return validation_process.validate(self.document)

    @cached_property
    def drift(self) -> "DriftLog | None":
        """The contract check of the calls of this bridge's servers, with `check_contract`. The caller closes it."""
        if not self.config.check_contract:
            return None
        from .contract.checker import Contract
        from .contract.drift import DriftLog

        options = self.request_options()
        secrets = [*secrets_of(options), *options.credentials.values(), *(value for _, value in options.headers)]
        return DriftLog(Contract(self.document, secrets))

    @property
    def drifts(self) -> "tuple[DriftLog, ...]":
        """The contract check, if there is one. The caller closes it."""
        return () if self.drift is None else (self.drift,)

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
        sign_ins: "UserSignIns | None" = None,
        catalog: Catalog | None = None,
        elicitor: Elicitor | None = None,
        asks: bool = True,
    ) -> Server:
        """Make an MCP server of these tools, without a transport.

        `list_changed`: it announces changes of the list. `monitor` observes its calls, `observer` the API's responses;
        without one those are checked against the document if that was chosen. `sign_ins` let its users sign in. A
        server of several APIs gives its own `catalog` and `elicitor`. Without `asks` nobody is asked before calls.
        """
        options = self.request_options()
        return Server(
            catalog or self.catalog,
            self.description(list_changed=list_changed),
            self.config.upstream(self.egress, self._guarded),
            options=options,
            source=self.oauth_tokens(options.credentials, sign_ins),
            monitor=monitor,
            elicitor=(elicitor or self.elicitor) if asks else None,
            shaper=None if self.config.select == "never" else AnswerShaper(),
            follower=self._follower if self.config.task_timeout else None,
            max_result_bytes=self.config.result_tokens * BYTES_PER_TOKEN,
            limiter=self._limiter(),
            observer=observer if observer is not None else (self.drift.observe if self.drift else None),
            rights=lambda: self.rights,
            others=self.workflows.servers(monitor) if self.workflows else None,
            skills=self.offer.skills(self.document_info),
        )

    def _guarded(self, transport: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
        """Return a transport that spares hosts which fail, and keeps to the rate limit of each."""
        config = self.config
        hosts = {urlsplit(url).netloc for url in set(self.compilation.base_urls)}
        limiter = None
        if config.upstream_rate_limit:
            from .replicas.rate_limits import rate_limit

            limiter = rate_limit(config.upstream_rate_limit, config.redis, f"{self.implementation.name}:upstream")
        return GuardedTransport(
            transport,
            CircuitBreaker(config.circuit_breaker) if config.circuit_breaker else None,
            limiter,
            rate=config.upstream_rate_limit or "",
            is_shared=len(hosts) > 1 and config.only_base_url is None,
            patience=min(MIN_UNANSWERED, (config.total_timeout or MIN_UNANSWERED) / 2),
        )

    def _follower(self) -> OperationFollower:
        """Return what follows operations that the API carries out in the background."""
        from .tasks.board import TaskBoard

        return TaskBoard(self.config.task_timeout, lambda: self.tools, may_delete=self.confirmation is None)

    def _limiter(self) -> Limiter | None:
        if not self.config.rate_limit:
            return None
        from .replicas.rate_limits import rate_limit

        return rate_limit(self.config.rate_limit, self.config.redis, self.implementation.name)


def _check_names(config: Config, info: DocumentInfo, compilation: Compilation) -> None:
    """Raise UsageError for a credential of no security scheme, or a FROM that is no base URL."""
    for name in config.credentials:
        if name not in info.security_schemes:
            from .tools.names import suggest_names

            defined = ", ".join(info.security_schemes) or "none"
            hint = suggest_names(name, info.security_schemes) or f"the document's security schemes are: {defined}"
            raise UsageError(f"no such security scheme: {name}", where=f"--auth {name}=…", hint=hint)
    config.base_url_map.check(compilation.base_urls)
    if config.argument_values:
        config.argument_values.check(compilation.tools)

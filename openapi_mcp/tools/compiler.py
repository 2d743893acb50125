"""Compile a document into tools: load it, select its operations, and make each a `Tool` or one Problem that names it.

The entry of the compile side: values go in (`CompileOptions`) and come out (`DocumentInfo`, `Compilation`), so that a
process with cached tools never imports it. `operations == len(tools) + lost_operations + excluded`, always.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from .. import plain_text
from ..compilation import BaseUrlOptions, Compilation, CompileOptions, DocumentInfo
from ..curation.arguments import InputParts
from ..curation.extensions import ArgumentExtensions, ArgumentKey, LocatedNode
from ..document import loader
from ..document.hidden_text import hidden_text_problems
from ..document.model import Document
from ..document.resolver import BrokenReference, Resolver
from ..document.swagger2.conversion import convert
from ..egress.policy import EgressPolicy
from ..errors import Problem, UsageError
from ..instructions import facts_of
from ..oauth.schemes import oauth_schemes
from ..overlay.sources import amendment
from ..runtime.request.redaction import redact
from ..runtime.tool import SecurityScheme, Tool, hints
from ..schemas.definitions import SchemaCompiler
from ..selection import Selection
from ..token_budget import FULL, TokenBudget, ToolLimits, sizes
from . import negotiation, server_info
from .base_urls import BaseUrls, check_variables
from .extensions import Overrides, read_overrides
from .input_schema import InputSchema, ParameterArguments, input_schema
from .names import ToolKey, function_names, suggest_names, tool_names, words
from .negotiation import ContentType, DeclaredHeader
from .operations import Operation, operations
from .parameters import Parameter, ParameterKey, SharedParameters, parameter_key, parameters
from .request_body import BodyArguments, RequestBodies
from .responses import Responses
from .security import Alternatives, Security, defined_schemes

MAX_HINT_NAMES: Final = 10
"""Names that an error lists where none is like the one that was given."""

_PREFIX: Final = re.compile(r"[A-Za-z0-9_-]{0,32}")
"""Half of a name at most: the other half has to distinguish the tools."""

_Selected = list[tuple[Operation, Overrides]]


def load(source: str, options: CompileOptions, progress: Callable[[str], None] = lambda _: None) -> Document:
    """Load a document as OpenAPI 3.x and report each step to `progress`. Raises DocumentError."""
    document = loader.load(
        source,
        headers=options.headers,
        certificates=options.certificates,
        egress=EgressPolicy(options.egress),
        allow_remote_refs=options.allow_remote_refs,
        amendment=amendment(options.overlays),
        progress=progress,
    )
    return convert(document)


def compile_document(document: Document, options: CompileOptions) -> Compilation:
    """Return the tools of a document of OpenAPI 3.x with their sizes. Raises UsageError for options it cannot meet."""
    compilation = build(
        document, selection=options.selection, base_url=options.servers, token_budget=options.token_budget
    )
    facts = facts_of(compilation.tools, read_only=options.selection.read_only)
    return replace(compilation, sizes=tuple(sizes(compilation.tools)), facts=facts)


def document_info(document: Document, options: CompileOptions) -> DocumentInfo:
    """Return the facts about a document that are needed once its tools are compiled.

    They are cached, so the document's own address is in them without a query, which may sign it.
    """
    own = {document.uri: redact(document.uri)}
    return DocumentInfo(
        uri=own[document.uri],
        version=document.source_version,
        implementation=server_info.implementation(document),
        instructions=server_info.instructions(document, options.max_instructions),
        instructions_length=server_info.instructions_length(document),
        instructions_links=server_info.instructions_links(document, options.max_instructions),
        security_schemes=defined_schemes(document),
        oauth_schemes=oauth_schemes(document),
        problems=document.problems,
        digests={own.get(uri, uri): digest for uri, digest in document.digests.items()},
        validators={own.get(uri, uri): headers for uri, headers in document.validators.items() if headers},
        unread=tuple(uri for uri in document.files if uri not in document.digests),
        is_private=document.is_private,
    )


def build(
    document: Document,
    *,
    selection: Selection | None = None,
    prefix: str = "",
    base_url: BaseUrlOptions | None = None,
    token_budget: TokenBudget | None = None,
    limits: ToolLimits = FULL,
) -> Compilation:
    """Compile the tools of a document of OpenAPI 3.x.

    `prefix` stands before every name. `base_url` chooses among the document's servers; `token_budget` limits the number
    of tools and the length of their texts; without one they have these `limits`. Raises UsageError where the options
    ask for something impossible; every defect of the document is a Problem.
    """
    if not _PREFIX.fullmatch(prefix):
        raise UsageError(
            "a prefix is at most 32 of the characters A-Z, a-z, 0-9, _ and -",
            where=prefix,
            hint="shorten or rewrite it",
        )
    resolver = Resolver(document)
    valid, problems = operations(document, resolver)
    reported: list[Problem] = []
    read = [(operation, read_overrides(operation, resolver, reported.append)) for operation in valid]
    candidates = [(overrides.tagged(operation), overrides) for operation, overrides in read]
    named = [operation for operation, _ in candidates]
    _check_rules(selection or Selection(), [*named, *_lost_operations(problems)])
    lost_count = len({problem.operation for problem in problems} - {None})
    selected = _select(candidates, selection or Selection(), token_budget.max_tools if token_budget else None)
    limits = token_budget.limits(len(selected)) if token_budget else limits
    servers = base_url or BaseUrlOptions()
    check_variables(servers, document, valid)
    compiler = _ToolCompiler(document, resolver, servers, limits, reported)
    names = _tool_names(valid, selected, prefix)
    reported += _lost_names(resolver, names, selected, prefix)
    tools = [compiler.tool(name, *entry) for name, entry in zip(names, selected, strict=True)]
    return Compilation(
        tools=tuple(tool for tool in tools if tool is not None),
        problems=tuple(dict.fromkeys([*problems, *compiler.all_problems(), *hidden_text_problems(resolver)])),
        operations=len(valid) + lost_count,
        excluded=len(valid) - len(selected),
        limits=limits,
        base_urls=_base_urls(document, resolver, servers, valid),
    )


def _base_urls(
    document: Document, resolver: Resolver, options: BaseUrlOptions, all_operations: Iterable[Operation]
) -> tuple[str, ...]:
    """Return the base URLs of all operations, each once. Problems are reported for those of tools only."""
    base_urls = BaseUrls(document, resolver, options)
    return tuple(dict.fromkeys(url for operation in all_operations if (url := base_urls.of(operation))))


def _check_rules(selection: Selection, candidates: Collection[Operation]) -> None:
    """Raise UsageError for a rule that matches no operation, with the names that are most like it."""
    for option, rule in selection.unmatched(candidates):
        values = list(dict.fromkeys(value for operation in candidates for value in rule.values(operation) if value))
        some = f"the document has {', '.join(values[:MAX_HINT_NAMES])}{' …' if len(values) > MAX_HINT_NAMES else ''}"
        hint = suggest_names(rule.pattern, values) or (some if values else "the document has nothing of this kind")
        raise UsageError(f"the rule {rule} matches no operation", where=f"{option} {rule}", hint=hint)


def _lost_operations(problems: Iterable[Problem]) -> Iterator[Operation]:
    """Yield the operations that a defect cost, as far as rules can match them: by method and path."""
    for problem in problems:
        if label := problem.operation:
            method, _, path = ("", "", label) if label.startswith("/") else label.partition(" ")
            yield Operation(method=method, path=path, pointer=problem.pointer, value={})


def _select(candidates: _Selected, selection: Selection, max_tools: int | None) -> _Selected:
    """Return at most `max_tools` selected operations in the document's order; deprecated ones are dropped first."""
    selected = [
        (operation, overrides)
        for operation, overrides in candidates
        if (selection.only or not overrides.hidden)
        and selection.admits(operation, read_only=overrides.annotations.get("readOnlyHint"))
    ]
    if max_tools is None or len(selected) <= max_tools:
        return selected
    indexes = sorted(range(len(selected)), key=lambda index: selected[index][0].deprecated)
    return [selected[index] for index in sorted(indexes[:max_tools])]


def _tool_names(valid: Iterable[Operation], selected: _Selected, prefix: str) -> list[str]:
    """Return the names of the selected operations; all that are valid tell whether FastAPI made the operationIds."""
    functions = function_names([_key(operation) for operation in valid])
    keys = ((_key(operation), overrides) for operation, overrides in selected)
    return tool_names([replace(key, name=own.name, function_names=functions.get(key, ())) for key, own in keys], prefix)


def _lost_names(resolver: Resolver, names: Sequence[str], selected: _Selected, prefix: str) -> Iterator[Problem]:
    """Yield a Problem for each explicit name that another operation has too."""
    wanted = Counter(own.name.casefold() for _, own in selected if own.name)
    for name, (operation, own) in zip(names, selected, strict=True):
        if own.name and name != f"{prefix}{own.name}" and wanted[own.name.casefold()] > 1:
            message = f"several operations have the name {own.name} of `x-mcp`; this one is named {name}"
            yield Problem(pointer=resolver.display(operation.pointer), message=message, kind="x-mcp")


def _key(operation: Operation) -> ToolKey:
    return ToolKey(operation.method, operation.path, operation.operation_id)


class _ToolCompiler:
    """A compiler of the operations of one document; schemas, servers and security schemes are read once for all."""

    def __init__(
        self,
        document: Document,
        resolver: Resolver,
        base_url: BaseUrlOptions,
        limits: ToolLimits,
        problems: list[Problem],
    ) -> None:
        self._problems = problems
        self._limits = limits
        self._resolver = resolver
        self._schemas = SchemaCompiler(document, resolver, limits.argument)
        self._bodies = RequestBodies(self._schemas, problems.append)
        self._responses = Responses(resolver, limits.output)
        self._security = Security(document, resolver)
        self._parameters: SharedParameters = {}
        self._arguments: ParameterArguments = {}
        self._base_urls = BaseUrls(document, resolver, base_url)
        self._extensions = ArgumentExtensions(document, resolver, problems.append, limits.argument)

    def all_problems(self) -> Iterable[Problem]:
        """Yield the problems of the parts of all operations compiled so far."""
        yield from self._problems
        yield from self._schemas.problems
        yield from self._responses.all_problems()
        yield from self._security.problems
        yield from self._base_urls.problems
        if self._resolver.is_exhausted:
            yield Problem(
                pointer="#",
                kind="schema",
                message="the references of this document lead to too many schemas; some accept anything, or offer "
                "properties that are read-only, or have lost a pattern",
                hint="select fewer operations with --include, or simplify the schemas that many others refer to",
            )

    def tool(self, name: str, operation: Operation, overrides: Overrides) -> Tool | None:
        """Return the tool of an operation; report a Problem and return None where a reference it needs is broken."""
        try:
            return self._tool(name, operation, overrides)
        except BrokenReference as error:
            self._problems.append(replace(error.problem, operation=operation.label))
            return None

    def _tool(self, name: str, operation: Operation, overrides: Overrides) -> Tool:
        security = self._security.of(operation)
        declared = parameters(operation, self._resolver, _secrets(security), self._parameters)
        self._problems += declared.problems
        if declared.has_authorization and not security:
            security = self._security.of_header()
        body = self._bodies.of(operation)
        response = self._responses.of(operation)
        base_url = self._base_urls.of(operation)
        accept = negotiation.accept(declared.negotiated.get("accept"), response.media_types)
        content_type = self._content_type(declared.negotiated.get("content-type"), body)
        body = content_type.body
        inputs = input_schema(declared.settable, body, self._schemas, accept, self._arguments)
        curated = self._curated(inputs, declared.settable, body)
        return Tool(
            name=name,
            title=_title(operation, overrides),
            description=_description(name, operation, overrides, self._limits.description),
            input_schema=curated.schema,
            output_schema=response.output_schema if overrides.select is None else None,
            annotations=_annotations(operation, overrides),
            method=operation.method,
            path=operation.path,
            base_url=base_url,
            base_url_is_guess=self._base_urls.is_guess(base_url),
            arguments=curated.arguments,
            presets=curated.presets,
            body=body.body if body else None,
            security=security,
            required_schemes=_required_schemes(security, declared.required_secrets),
            accept=accept.value,
            content_type=content_type.without_body,
            response_headers=response.headers,
            scopes=self._security.scopes_of(operation) if overrides.scopes is None else overrides.scopes,
            confirm=overrides.confirm,
            select=overrides.select,
            max_result_bytes=overrides.max_result_bytes,
            operation_id=operation.operation_id,
            tags=operation.tags,
            deprecated=operation.deprecated,
        )

    def _curated(self, inputs: InputSchema, settable: Iterable[Parameter], body: BodyArguments | None) -> InputParts:
        """Return the inputs of an operation with what `x-mcp` says of them."""
        extensions: dict[ArgumentKey, LocatedNode] = {
            (each.location, each.wire_name): each.extension for each in settable if each.extension is not None
        }
        return self._extensions.apply(
            InputParts(inputs.schema, inputs.arguments), extensions, body.pointer if body else None
        )

    def _content_type(self, declared: DeclaredHeader | None, body: BodyArguments | None) -> ContentType:
        content_type = negotiation.content_type(declared, body)
        if declared is not None and content_type.problem:
            message = f"the header parameter Content-Type has no effect: {content_type.problem}"
            pointer = self._resolver.display(declared.pointer)
            self._problems.append(Problem(pointer=pointer, message=message, kind="parameter"))
        return content_type


def _secrets(security: Alternatives) -> Iterable[tuple[str, str]]:
    """Yield location and name of each parameter that carries a credential."""
    for alternative in security:
        for scheme in alternative:
            if scheme.location and scheme.parameter:
                yield scheme.location, scheme.parameter


def _required_schemes(security: Alternatives, required: Collection[ParameterKey]) -> tuple[SecurityScheme, ...]:
    """Return the schemes whose credential is a required parameter of the operation, each once."""
    schemes = dict.fromkeys(scheme for alternative in security for scheme in alternative)
    return tuple(
        scheme for scheme in schemes if parameter_key(scheme.location or "", scheme.parameter or "") in required
    )


def _annotations(operation: Operation, overrides: Overrides) -> dict[str, bool]:
    """Return the hints of a request with those of `x-mcp`; a tool that only reads has no hints about changes."""
    own = hints(operation.method, operation.path, operation.operation_id)
    if overrides.annotations.get("readOnlyHint"):
        own = {name: own[name] for name in ("readOnlyHint", "openWorldHint")}
    return own | dict(overrides.annotations)


def _title(operation: Operation, overrides: Overrides) -> str:
    """Return the title of `x-mcp`, else the summary, else the words of the operationId, else method and path."""
    return (
        plain_text.line(overrides.title)
        or plain_text.line(operation.value.get("summary"))
        or plain_text.line(" ".join(words(operation.operation_id or "")).capitalize())
        or plain_text.line(operation.label)
    )


def _description(name: str, operation: Operation, overrides: Overrides, limit: int) -> str:
    """Return the description for models, which is never empty: at most `limit` characters.

    A summary that only repeats the tool's name stands there alone or not at all.
    """
    text = plain_text.clean(overrides.description) or server_info.summary_and_description(operation.value)
    summary, _, rest = text.partition("\n\n")
    if not overrides.description and rest and words(summary) == words(name):
        text = rest.strip()
    text = text.removesuffix("\n\nDeprecated.") if operation.deprecated else text  # it is not cut off
    deprecated = "\n\nDeprecated." if operation.deprecated and not text.endswith("Deprecated.") else ""
    return plain_text.trim(text or operation.label, limit - len(deprecated)) + deprecated

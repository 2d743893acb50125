"""Whether a call's request and answer are what the document says, judged by openapi-core: each difference is a `Drift`.

Nothing is changed or fetched, and no crash of openapi-core leaves this module. What openapi-core cannot read (XML,
multipart, objects in a parameter's style) is not judged rather than misjudged.
"""

import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import httpx

from . import exchanges, validators
from .document import Document
from .excerpts import Excerpt, Excerpts
from .findings import UNCHECKED, Finding, Findings, line
from .runtime.models import SecurityScheme, Tool
from .runtime.results import CUT_SHORT
from .validation import sealed

Side = Literal["request", "answer"]

_TRANSFER: Final = frozenset({"content-length", "content-encoding", "transfer-encoding"})
"""Headers of a transfer, which is over when an answer is judged."""

_PLACES: Final = 1024
"""Places of the document that are found once for an operation. A check looks at some hundred, many times each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """One difference between a message and the document.

    `kind` is the JSON Schema keyword that fails (`type`, `required`, …; also for parameters and headers), or `status`
    and `content type` of what is not documented, `syntax` of a body that is not what its media type says, `security`
    of a request without the credentials that are asked for, or `not checked` of a request or an answer that could not
    be judged. `where` is the same for all messages: it has no index, and for an answer begins with its status, as in
    `200 body.pets[].price`.
    """

    tool: str
    side: Side
    kind: str
    where: str
    message: str


class Contract:
    """A document as the judge of messages. `secrets` are values that are never shown."""

    def __init__(self, document: Document, secrets: Collection[str] = ()) -> None:
        # openapi-core warns of what a document deprecates and of what it cannot do itself; neither is drift.
        warnings.filterwarnings("ignore", module=r"openapi_core\.")
        self._version = document.version
        self._excerpts = Excerpts(document)
        self._specs: dict[tuple[str, str], Any] = {}
        self._findings = Findings(secrets)

    def check(self, tool: Tool, request: httpx.Request, response: httpx.Response) -> tuple[Drift, ...]:
        """How a request and its answer differ from the document, each difference once. Takes milliseconds."""
        sides: dict[Side, Iterable[Finding]] = {
            "request": self._of_request(tool, request),
            "answer": self._of_answer(tool, request, response),
        }
        found: dict[tuple[Side, str, str], Drift] = {}
        for side, findings in sides.items():
            for kind, place, said in self._surviving(findings):
                where, message = line(place), self._findings.public(said)
                drift = Drift(tool=tool.name, side=side, kind=kind, where=where, message=message)
                found.setdefault((side, kind, where), drift)
        return tuple(found.values())

    def _surviving(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        try:
            yield from findings
        except (RecursionError, Exception) as error:  # noqa: BLE001  openapi-core crashes on some documents, with anything
            yield UNCHECKED, "", f"{type(error).__name__}: {error}"

    def _of_request(self, tool: Tool, request: httpx.Request) -> Iterator[Finding]:
        if tool.security and not any(all(_carries(request, scheme) for scheme in some) for some in tool.security):
            names = " or ".join(" and ".join(scheme.name for scheme in some) for some in tool.security)
            yield "security", "", f"there is no credential for {names}"
        excerpt = self._excerpts.of(tool)
        content_type = request.headers.get("content-type", "")
        key, readable = _described(excerpt.request_types, content_type, request.content)
        spec, decoders = self._spec(tool, excerpt), exchanges.Decoders(content_type)
        judge = validators.of_requests(self._version, spec, decoders, with_body=readable)
        for error in judge.iter_errors(exchanges.sent(request, tool.path, exchanges.handed(content_type, key))):
            yield from self._findings.of(error)

    def _of_answer(self, tool: Tool, request: httpx.Request, response: httpx.Response) -> Iterator[Finding]:
        if response.request.url != request.url:
            yield UNCHECKED, "", "the answer came after a redirect, from elsewhere"
            return
        excerpt = self._excerpts.of(tool)
        content_type = response.headers.get("content-type", "")
        key, readable = _described(excerpt.types_of_answer(response.status_code), content_type, response.content)
        readable = readable and request.method != "HEAD" and not response.extensions.get(CUT_SHORT)
        spec, decoders = self._spec(tool, excerpt), exchanges.Decoders(content_type)
        judge = validators.of_answers(self._version, spec, decoders, with_body=readable)
        answer = exchanges.received(response, exchanges.handed(content_type, key))
        for error in judge.iter_errors(exchanges.sent(request, tool.path, ""), answer):
            for kind, where, message in self._findings.of(error):
                if where.removeprefix("header ").lower() not in _TRANSFER:
                    yield kind, f"{response.status_code} {where}".rstrip(), message

    def _spec(self, tool: Tool, excerpt: Excerpt) -> Any:
        key = (tool.method, tool.path)
        if key not in self._specs:
            self._specs[key] = sealed(excerpt.root, kept=_PLACES)
        return self._specs[key]


def _described(keys: Sequence[str], content_type: str, body: bytes) -> tuple[str, bool]:
    """Under which media type the document describes a body, and whether it can be judged by it."""
    key = exchanges.documented(keys, content_type)
    if key is None or not body:  # openapi-core says what is wrong with that
        return content_type, True
    return key, exchanges.is_readable(content_type, key)


def _carries(request: httpx.Request, scheme: SecurityScheme) -> bool:
    """Whether a request has something where a credential goes; a client certificate is not seen here."""
    if scheme.location == "query":
        return scheme.parameter in request.url.params
    if scheme.location == "cookie":
        return f"{scheme.parameter}=" in request.headers.get("cookie", "")
    return scheme.type == "mutualTLS" or (scheme.parameter or "authorization") in request.headers

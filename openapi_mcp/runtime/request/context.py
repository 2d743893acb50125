"""Facts about a request that its answer is explained with: its credentials, a guessed base URL, its deviations.

`deviate` is called where a value does not fit the document but can be written. A value that cannot be written, or would
lead to another resource or end a header, is refused in any case, without a call of it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

import httpx

from ..errors import ArgumentError
from ..tool import SecurityScheme

_EXTENSION: Final = "openapi_mcp.context"
_DEVIATIONS: Final[ContextVar[list[str] | None]] = ContextVar("deviations", default=None)
"""The deviations of the request that is built; None where none is allowed."""


FORWARDED: Final[ContextVar[tuple[tuple[str, str], ...]]] = ContextVar("forwarded", default=())
"""Headers of the client's HTTP request that are sent to the API too, since the server's operator named them."""

CALLER_HEADERS: Final[ContextVar[Mapping[str, str] | None]] = ContextVar("caller_headers", default=None)
"""The headers of the client's HTTP request, by name in lower case, of which presets name some; None over stdio."""


@dataclass(frozen=True, slots=True)
class RequestContext:
    """The schemes whose credentials a request carries, each with its source, and whether its base URL is a guess.

    `deviations` are sentences about where the request deviates from the document, with `RequestOptions.lenient`.
    """

    sent: tuple[tuple[SecurityScheme, str], ...] = ()
    base_url_is_guess: bool = False
    deviations: tuple[str, ...] = ()


@contextmanager
def deviations_allowed() -> Iterator[list[str]]:
    """Let requests that are built in this context deviate from the document; yield the list of their deviations."""
    deviations: list[str] = []
    token = _DEVIATIONS.set(deviations)
    try:
        yield deviations
    finally:
        _DEVIATIONS.reset(token)


def deviate(refusal: str, remedy: str) -> None:
    """Raise ArgumentError with the refusal; where deviations are allowed, note it, and what is sent instead."""
    deviations = _DEVIATIONS.get()
    if deviations is None:
        raise ArgumentError(refusal)
    deviations.append(f"{refusal} {remedy}")


def attach(request: httpx.Request, context: RequestContext) -> None:
    """Attach a context to a request."""
    request.extensions[_EXTENSION] = context


def context_of(request: httpx.Request) -> RequestContext:
    """Return the context of a request; an empty one where none is attached."""
    context = request.extensions.get(_EXTENSION)
    return context if isinstance(context, RequestContext) else RequestContext()


def guess_hint(request: httpx.Request) -> str:
    """Return a sentence about a guessed base URL; empty where the document or the configuration names it."""
    if not context_of(request).base_url_is_guess:
        return ""
    host = request.url.netloc.decode("ascii")
    return (
        f"The base URL is a guess: the document names no host, so calls go to {host}, where the document was read. "
        "If the API is elsewhere, start the server with `--base-url URL`."
    )

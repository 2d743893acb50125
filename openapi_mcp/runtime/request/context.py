"""Facts about a request that its answer is explained with: its credentials, a guessed base URL, its deviations."""

from dataclasses import dataclass
from typing import Final

import httpx

from ..tool import SecurityScheme

_EXTENSION: Final = "openapi_mcp.context"


@dataclass(frozen=True, slots=True)
class RequestContext:
    """The schemes whose credentials a request carries, each with its source, and whether its base URL is a guess.

    `deviations` are sentences about where the request deviates from the document, with `RequestOptions.lenient`.
    """

    sent: tuple[tuple[SecurityScheme, str], ...] = ()
    base_url_is_guess: bool = False
    deviations: tuple[str, ...] = ()


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

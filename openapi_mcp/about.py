"""What a server says of itself: the document's `info` as an MCP Implementation, and as instructions for a model.

Nothing is fetched or judged here: texts are cleaned and cut, and an address is given out only where a client may follow
it without harm. Specification: OpenAPI 3.2 Info Object, External Documentation Object; MCP `Implementation`, `Icon`.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from . import prose
from .document import Document
from .naming import words
from .runtime.types import Implementation

INSTRUCTIONS_LIMIT: Final = 2000
"""Characters. Clients put them before every conversation, whatever that is about; a page of text is a lot there."""

DESCRIPTION_LIMIT: Final = 200
"""Characters of the line that describes a server in a list of servers."""

VERSION_LIMIT: Final = 64
"""Characters; the longest that are in use name a date and a commit."""

_LONGEST_URL: Final = 2048
"""Characters of an address; what is longer is refused on the way by many a proxy."""

_LONGEST_PICTURE: Final = 8192
"""Characters of a picture that is written out (`data:`), as every client gets it with every greeting."""

_PICTURES: Final[Mapping[str, str]] = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "svg": "image/svg+xml",
    "webp": "image/webp",
    "gif": "image/gif",
    "ico": "image/x-icon",
}
"""Media types by the ends of names: the same on every machine, whatever its own tables say."""

_DATA: Final = re.compile(r"data:(image/[a-z0-9.+-]+);base64,[A-Za-z0-9+/=]+")
_HEADING: Final = re.compile(r"(?m)^(?:#+ .*|[=-]{3,})$")
"""A heading of Markdown, which names what follows and says nothing."""


def implementation(document: Document) -> Implementation:
    """Who the server says it is: the document's title and version, and how a client may show it."""
    title = prose.line(document.title) or "OpenAPI"
    info = _info(document)
    return Implementation(
        name="-".join(words(title))[: prose.TITLE_LIMIT] or "openapi",
        version=prose.line(document.api_version, VERSION_LIMIT) or "0",
        title=title,
        description=_lead(info) or None,
        website_url=next(_websites(document), None),
        icons=tuple(_icons(info.get("x-logo"))),
    )


def instructions(document: Document) -> str | None:
    """What a model should know before it uses any of the tools; None where the document says nothing of the kind.

    At most INSTRUCTIONS_LIMIT characters. Where to read on and whom to ask stand at the end and are not cut for it.
    """
    info = _info(document)
    said = _said(info)
    if not said and not _web(_object(document.root.get("externalDocs")).get("url")):
        return None
    heading = prose.line(document.title)
    end = ""
    for link in _links(document):
        if len(end) + len(link) < INSTRUCTIONS_LIMIT // 2:
            end += f"\n{link}" if end else link
    room = INSTRUCTIONS_LIMIT - len(heading) - len(end) - 4  # two empty lines between the three
    return "\n\n".join(part for part in (heading, prose.trimmed(said, room), end) if part)


def _info(document: Document) -> Mapping[str, Any]:
    return _object(document.root.get("info"))


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _said(info: Mapping[str, Any]) -> str:
    """Summary and description, the one not repeated by the other."""
    summary, description = prose.clean(info.get("summary")), prose.clean(info.get("description"))
    return description if description.startswith(summary) else "\n\n".join(filter(None, (summary, description)))


def _lead(info: Mapping[str, Any]) -> str:
    """The summary, or what the description begins with, in one line."""
    summary = prose.line(info.get("summary"), DESCRIPTION_LIMIT)
    paragraphs = _HEADING.sub("", prose.clean(info.get("description"))).strip().split("\n\n")
    return summary or prose.line(paragraphs[0], DESCRIPTION_LIMIT)


def _links(document: Document) -> Iterator[str]:
    """Where to read on and whom to ask, one a line."""
    info = _info(document)
    documentation = _object(document.root.get("externalDocs"))
    if address := _web(documentation.get("url")):
        yield f"{prose.line(documentation.get('description')) or 'Documentation'}: {address}"
    if address := _web(info.get("termsOfService")):
        yield f"Terms of service: {address}"
    contact = _object(info.get("contact"))
    ways = (prose.line(contact.get("name")), prose.line(contact.get("email")), _web(contact.get("url")))
    if any(ways[1:]):
        yield f"Contact: {', '.join(filter(None, ways))}"


def _websites(document: Document) -> Iterator[str]:
    """The address of the documentation, else that of who is responsible."""
    for holder in (document.root.get("externalDocs"), _info(document).get("contact")):
        if address := _web(_object(holder).get("url")):
            yield address


def _icons(logo: Any) -> Iterator[Mapping[str, Any]]:
    """The Icon of `x-logo`, an address or `{"url": …}` (as Redoc reads it); https and pictures written out only."""
    source = logo.get("url") if isinstance(logo, Mapping) else logo
    written = _DATA.fullmatch(source) if isinstance(source, str) and len(source) <= _LONGEST_PICTURE else None
    if written:
        yield {"src": written[0], "mimeType": written[1]}
    elif address := _web(source, schemes=("https",)):
        kind = _PICTURES.get(urlsplit(address).path.rpartition(".")[2].lower())
        yield {"src": address, **({"mimeType": kind} if kind else {})}


def _web(value: Any, schemes: tuple[str, ...] = ("https", "http")) -> str:
    """An absolute address on the web, or nothing: one that is relative, or that carries a password, is nobody's."""
    text = value.strip() if isinstance(value, str) else ""
    if not text or len(text) > _LONGEST_URL or not text.isprintable() or " " in text:
        return ""
    try:
        parts = urlsplit(text)
        usable = parts.scheme in schemes and parts.hostname and "@" not in parts.netloc
    except ValueError:
        return ""
    return text if usable else ""

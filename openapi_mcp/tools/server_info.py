"""Describe the MCP server: the document's `info` as an MCP Implementation, and as instructions for a model.

Nothing is fetched. Texts are cleaned and cut; a URL is included only where a client can follow it without harm.
Specification: OpenAPI 3.2 Info Object, External Documentation Object; MCP `Implementation`, `Icon`.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from .. import plain_text
from ..compilation import MAX_INSTRUCTIONS
from ..document.model import Document
from ..runtime.types import Implementation
from .names import latin_words

MAX_DESCRIPTION_LENGTH: Final = 200
"""Characters of the description, which is one line in a list of servers."""

MAX_VERSION_LENGTH: Final = 64
"""Characters; the longest versions in use name a date and a commit."""

_MAX_URL_LENGTH: Final = 2048
"""Characters of a URL; many proxies refuse longer ones."""

_MAX_ICON_LENGTH: Final = 8192
"""Characters of an inline picture (`data:` URL), which every client receives with every initialize result."""

_MEDIA_TYPES: Final[Mapping[str, str]] = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "svg": "image/svg+xml",
    "webp": "image/webp",
    "gif": "image/gif",
    "ico": "image/x-icon",
}
"""Media types of pictures by file extension: the same on every machine, unlike those of `mimetypes`."""

_DATA_URL: Final = re.compile(r"data:(image/[a-z0-9.+-]+);base64,[A-Za-z0-9+/=]+")
_HEADING: Final = re.compile(r"(?m)^(?:#+ .*|[=-]{3,})$")
"""A Markdown heading, which describes nothing by itself."""


def implementation(document: Document) -> Implementation:
    """Return the server's name, title, version, description, website and icon, from the document."""
    title = plain_text.line(document.title) or "OpenAPI"
    info = _info(document)
    return Implementation(
        name=_name(title)[: plain_text.MAX_TITLE_LENGTH] or "openapi",
        version=plain_text.line(document.api_version, MAX_VERSION_LENGTH) or "0",
        title=title,
        description=_one_line_description(info) or None,
        website_url=next(_websites(document), None),
        icons=tuple(_icons(info.get("x-logo"))),
    )


def instructions(document: Document, max_length: int = MAX_INSTRUCTIONS) -> str | None:
    """Return the document's own text for the instructions; None where it has none.

    At most `max_length` characters. Links and contact stand at the end; the text before them is cut to fit.
    """
    info = _info(document)
    text = summary_and_description(info)
    if not text and not _web_url(_object(document.root.get("externalDocs")).get("url")):
        return None
    heading = plain_text.line(document.title)
    links = instructions_links(document, max_length)
    limit = max(0, max_length - len(heading) - len(links) - 4)  # two empty lines between the three
    parts = (heading, plain_text.trim(text, limit) if limit else "", links)
    return plain_text.trim("\n\n".join(part for part in parts if part), max_length)[:max_length] or None


def instructions_links(document: Document, max_length: int = MAX_INSTRUCTIONS) -> str:
    """Return the links and the contact at the end of the instructions, those that fit into half of them."""
    links = ""
    for link in _links(document):
        if len(links) + len(link) < max_length // 2:
            links += f"\n{link}" if links else link
    return links


def instructions_length(document: Document) -> int:
    """Return the characters of the instructions without a limit."""
    return len(instructions(document, sys.maxsize) or "")


def _info(document: Document) -> Mapping[str, Any]:
    return _object(document.root.get("info"))


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _name(title: str) -> str:
    """Return a title as a name: `GitHub's REST API` is github-rest-api. Capitals inside a word separate nothing."""
    return "-".join(latin_words(re.sub(r"['\u2019]s\b", "", title)))


def summary_and_description(node: Mapping[str, Any]) -> str:
    """Return the `summary` of an object, then its `description`; one of them where it begins with the other's words."""
    summary, description = plain_text.clean(node.get("summary")), plain_text.clean(node.get("description"))
    if plain_text.begins_with(description, summary):
        return description
    return summary if plain_text.begins_with(summary, description) else f"{summary}\n\n{description}"


def _one_line_description(info: Mapping[str, Any]) -> str:
    """Return the summary, or else the first paragraph of the description, in one line."""
    summary = plain_text.line(info.get("summary"), MAX_DESCRIPTION_LENGTH)
    paragraphs = _HEADING.sub("", plain_text.clean(info.get("description"))).strip().split("\n\n")
    return summary or plain_text.line(paragraphs[0], MAX_DESCRIPTION_LENGTH)


def _links(document: Document) -> Iterator[str]:
    """Yield documentation, terms of service and contact, each as one line."""
    info = _info(document)
    documentation = _object(document.root.get("externalDocs"))
    if url := _web_url(documentation.get("url")):
        yield f"{plain_text.line(documentation.get('description')) or 'Documentation'}: {url}"
    if url := _web_url(info.get("termsOfService")):
        yield f"Terms of service: {url}"
    contact = _object(info.get("contact"))
    details = (
        plain_text.line(contact.get("name")),
        plain_text.line(contact.get("email")),
        _web_url(contact.get("url")),
    )
    if any(details[1:]):
        yield f"Contact: {', '.join(filter(None, details))}"


def _websites(document: Document) -> Iterator[str]:
    """Yield the URL of the documentation, then that of the contact."""
    for node in (document.root.get("externalDocs"), _info(document).get("contact")):
        if url := _web_url(_object(node).get("url")):
            yield url


def _icons(logo: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the Icon of `x-logo`, a URL or `{"url": …}` (as Redoc reads it): https and inline pictures only."""
    source = logo.get("url") if isinstance(logo, Mapping) else logo
    inline = _DATA_URL.fullmatch(source) if isinstance(source, str) and len(source) <= _MAX_ICON_LENGTH else None
    if inline:
        yield {"src": inline[0], "mimeType": inline[1]}
    elif url := _web_url(source, schemes=("https",)):
        media_type = _MEDIA_TYPES.get(urlsplit(url).path.rpartition(".")[2].lower())
        yield {"src": url, **({"mimeType": media_type} if media_type else {})}


def _web_url(value: Any, schemes: tuple[str, ...] = ("https", "http")) -> str:
    """Return an absolute web URL; an empty text for any other value, a relative URL or one with credentials."""
    text = value.strip() if isinstance(value, str) else ""
    if not text or len(text) > _MAX_URL_LENGTH or not text.isprintable() or " " in text:
        return ""
    try:
        parts = urlsplit(text)
        usable = parts.scheme in schemes and parts.hostname and "@" not in parts.netloc
    except ValueError:
        return ""
    return text if usable else ""

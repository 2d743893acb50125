"""Load a `Document` whose references are all internal from a path, a URL or stdin.

Format and OpenAPI version are detected from the content. A defect inside a document is a Problem of it; DocumentError
means that there is no usable document.

The address of a host, or of a page with an API's documentation, leads to its document (`discovery`). A document may be
compressed (`archives`).
"""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from ..egress.policy import EgressPolicy
from ..errors import DocumentError, Problem
from ..runtime.request.redaction import redact
from .addresses import Certificates, is_remote
from .archives import unpacked
from .bundle import Bundle
from .discovery import Discovery
from .fetcher import Fetcher
from .formats import format_of_text, version_of
from .model import DEFAULT_LIMITS, Document, Limits
from .parser import Parsed, parse, text_of
from .sources import References, SourceFile, read_root

logger = logging.getLogger(__name__)

_HOST: Final = re.compile(r"https?://[^/?#]+/?", re.IGNORECASE)
"""The address of a host without a path."""

_MARKUP: Final = re.compile(r"\s*<")
_PAGE_START: Final = 1024
"""Bytes of a file that tell whether it is a web page."""

__all__ = ["Document", "Limits", "load"]
_EXTERNAL_REFERENCE: Final = re.compile(r'"\$(?:ref|dynamicRef)"\s*:\s*"(?!#)')
"""A reference to another file, in JSON text: a document without a match needs no bundling."""

Reader: TypeAlias = Callable[[str], tuple[Any, str]]
"""Reads and parses another file from a path or URL; returns its value and its URI. Raises DocumentError."""

Amendment: TypeAlias = Callable[[Any, str, Reader, Callable[[Any, str | int], None]], Sequence[Problem]]
"""Changes the root of a document in place, which was read from a URI, and returns Problems. The last argument is to be
called for each container and key whose value is replaced."""

_HINT: Final = "an OpenAPI document is one JSON or YAML mapping; correct it at that position"


def load(
    source: str,
    *,
    headers: Mapping[str, str] = {},
    certificates: Certificates | None = None,
    egress: EgressPolicy | None = None,
    allow_remote_refs: bool = False,
    reference_root: Path | None = None,
    limits: Limits = DEFAULT_LIMITS,
    amendment: Amendment | None = None,
    progress: Callable[[str], None] | None = None,
) -> Document:
    """Load a document and the files it refers to. Raises DocumentError.

    `source` is a path, an http(s) or file URL, or `-` for stdin (whose references are relative to the current folder).
    `headers` are sent to the origin of `source` only; `certificates` are for fetching, and `egress` judges the hosts.
    `allow_remote_refs` permits references to other, public hosts; `reference_root` is the folder that references of a
    local document may not leave (default: see `sources`). `amendment` changes the document before its references are
    followed. `progress` is called with a text such as "reading schemas/pet.yaml" for each file.
    """
    home = source if is_remote(source) else ""
    fetcher = Fetcher(home, headers, certificates=certificates or Certificates(), egress=egress or EgressPolicy())
    text, document, parsed = _read(source, fetcher, limits)
    if amendment is not None:
        document, text = _amended(document, text, parsed, amendment, fetcher)
    if parsed.texts is None and not _EXTERNAL_REFERENCE.search(text):
        return document
    references = References(
        document.uri, fetcher, limits, allow_remote=allow_remote_refs, reference_root=reference_root
    )
    return Bundle(document, parsed.texts, references, limits, progress or (lambda _: None)).run()


def load_root(source: str, amendment: Amendment | None = None) -> Document:
    """Load the root of a document, without the files that it refers to. Raises DocumentError."""
    fetcher = Fetcher(source if is_remote(source) else "")
    text, document, parsed = _read(source, fetcher, DEFAULT_LIMITS)
    if amendment is None:
        return document
    return _amended(document, text, parsed, amendment, fetcher)[0]


def _read(source: str, fetcher: Fetcher, limits: Limits) -> tuple[str, Document, Parsed]:
    """Read and parse the root document; errors name it.

    Where the address of a host or of a page was given, the document that it leads to is read (see `discovery`).
    """
    label = "stdin" if source == "-" else redact(source)
    page = ""
    try:
        content = read_root(source, fetcher, limits)
        page = _page(content)
        text, document = _decoded(content, limits)
        del content  # memory that the parser can use
        return _parsed(text, document, limits)
    except DocumentError as error:
        hint = error.hint or _HINT
        if _may_lead_on(source, page):
            discovery = Discovery(source, fetcher, limits)
            if found := _found(discovery, page, limits):
                return found
            hint = f"give the address of the document itself: it is at none of {len(discovery.tried)} usual places"
        inside = "" if error.where == label else error.where
        where = f"{label}, {inside}" if inside else label
        raise type(error)(error.message, where=where, hint=hint) from error


def _page(content: SourceFile) -> str:
    """Return the text of a web page; empty for another file."""
    start = content.data[:_PAGE_START].lstrip().lower()
    return content.data.decode(errors="replace") if start.startswith((b"<!doctype html", b"<html", b"<!--")) else ""


def _may_lead_on(source: str, page: str) -> bool:
    """Return whether an address is that of a host or of a page."""
    return is_remote(source) and bool(page or _HOST.fullmatch(source))


def _found(discovery: Discovery, page: str, limits: Limits) -> tuple[str, Document, Parsed] | None:
    """Return the first document that an address leads to, or None."""
    for content in discovery.candidates(page):
        with suppress(DocumentError):
            read = _parsed(*_decoded(content, limits), limits)
            logger.warning("found the document at %s", redact(content.uri))
            return read
    return None


def _decoded(content: SourceFile, limits: Limits) -> tuple[str, Document]:
    """Return the text of a root document, and the document without its root and version."""
    text, notes = text_of(unpacked(content.data, limits), content.uri, content.charset)
    document = Document(
        {},
        content.uri,
        "",
        notes,
        digests={content.uri: content.digest},
        validators={content.uri: content.validators},
        is_private=content.is_private,
    )
    return text, document


def _parsed(text: str, document: Document, limits: Limits) -> tuple[str, Document, Parsed]:
    """Parse the text of a root document; return it with the document that has its root."""
    parsed = _parsed_text(text, limits)
    version, problems = version_of(parsed.value)
    problems = (*document.problems, *parsed.problems, *problems)
    return text, replace(document, root=parsed.value, version=version, problems=problems, values=parsed.values), parsed


def _parsed_text(text: str, limits: Limits) -> Parsed:
    """Parse a text; a format that is known by its beginning is named. Raises DocumentError."""
    if _MARKUP.match(text) and (found := format_of_text(text)):  # which would take the parser of YAML a while
        raise found.error()
    try:
        parsed = parse(text, limits)
    except DocumentError as error:
        if found := format_of_text(text):
            raise found.error() from error
        raise
    value = parsed.value
    has_version = isinstance(value, dict) and ("openapi" in value or "swagger" in value)
    if not has_version and (found := format_of_text(text)):
        raise found.error()
    return parsed


def _amended(
    document: Document, text: str, parsed: Parsed, amendment: Amendment, fetcher: Fetcher
) -> tuple[Document, str]:
    """Change a document that was read; return it with the files that the changes come from, and all texts.

    The files are fetched with the certificates and the policy of `fetcher`.
    """
    sources: list[SourceFile] = []
    texts = [text]

    def read(source: str) -> tuple[Any, str]:
        value, content, own_text = read_value(source, fetcher)
        sources.append(content)
        texts.append(own_text)
        return value, content.uri

    forget = parsed.texts.forget if parsed.texts is not None else lambda _container, _key: None
    problems = amendment(document.root, document.uri, read, forget)
    version, version_problems = version_of(document.root)
    amended = replace(
        document,
        version=version,
        problems=(*document.problems, *problems, *version_problems),
        digests={**document.digests, **{each.uri: each.digest for each in sources}},
        validators={**document.validators, **{each.uri: each.validators for each in sources}},
        is_private=document.is_private and all(each.is_private for each in sources),
    )
    return amended, "".join(texts)


def read_value(source: str, fetcher: Fetcher, limits: Limits = DEFAULT_LIMITS) -> tuple[Any, SourceFile, str]:
    """Return the value of another file from a path or URL, the file, and its text. Raises DocumentError.

    It is fetched with the certificates and the policy of `fetcher`, and without its headers.
    """
    own = Fetcher(source if is_remote(source) else "", certificates=fetcher.certificates, egress=fetcher.egress)
    try:
        content = read_root(source, own, limits)
        text, _ = text_of(content.data, content.uri, content.charset)
        return parse(text, limits).value, content, text
    except DocumentError as error:
        raise type(error)(error.message, where=redact(source), hint=error.hint) from error

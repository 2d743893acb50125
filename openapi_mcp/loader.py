"""From a path, a URL or stdin to a `Document` whose references are all internal; the one door for documents.

Format and version are told by content. What is wrong inside is a Problem of the document; a DocumentError means that
there is none to be had.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from .bundle import Bundle
from .decoding import text_of
from .document import DEFAULT_LIMITS, Document, Limits
from .errors import DocumentError
from .fetch import Fetcher, is_remote, public
from .sources import Content, References, read_root
from .syntax import Parsed, parse
from .versions import version_of

__all__ = ["Document", "Limits", "load"]

_LEAVES_THE_FILE: Final = re.compile(r'"\$(?:ref|dynamicRef)"\s*:\s*"(?!#)')
"""A reference to elsewhere in JSON text. Most documents have none, and need not be walked to find that out."""


_CURE: Final = "an OpenAPI document is one JSON or YAML mapping; correct it there"


def load(
    source: str,
    *,
    headers: Mapping[str, str] = {},
    allow_remote_refs: bool = False,
    reference_root: Path | None = None,
    limits: Limits = DEFAULT_LIMITS,
    progress: Callable[[str], None] | None = None,
) -> Document:
    """Load a document and the files it refers to. Raises DocumentError.

    `source` is a path, an http(s) or file URL, or `-` for stdin (whose references are relative to the current
    directory). `headers` are sent to the origin of `source` alone. `allow_remote_refs` lets references go to other,
    public hosts; `reference_root` is the folder that references of a local document may not leave (default: see
    `sources`). `progress` is told, in words, what is being read.
    """
    fetcher = Fetcher(source if is_remote(source) else "", headers)
    content, text, document, parsed = _read(source, fetcher, limits)
    if parsed.written is None and not _LEAVES_THE_FILE.search(text):
        return document
    references = References(content.uri, fetcher, limits, allow_remote=allow_remote_refs, reference_root=reference_root)
    return Bundle(document, parsed.written, references, limits, progress or (lambda _: None)).run()


def _read(source: str, fetcher: Fetcher, limits: Limits) -> tuple[Content, str, Document, Parsed]:
    """The root document alone, with errors that name it."""
    shown = "stdin" if source == "-" else public(source) if fetcher.home else source
    try:
        content = read_root(source, fetcher, limits)
        text, notes = text_of(content.data, content.uri, content.charset)
        parsed = parse(text, limits)
        version, odd = version_of(parsed.value)
    except DocumentError as error:
        inside = "" if error.where == shown else error.where
        where = f"{shown}, {inside}" if inside else shown
        raise type(error)(error.message, where=where, hint=error.hint or _CURE) from error
    problems = (*notes, *parsed.problems, *odd)
    document = Document(
        parsed.value,
        content.uri,
        version,
        problems,
        digests={content.uri: content.digest},
        validators={content.uri: content.validators},
    )
    return content, text, document, parsed

"""Load a `Document` whose references are all internal from a path, a URL or stdin.

Format and OpenAPI version are detected from the content. A defect inside a document is a Problem of it; DocumentError
means that there is no usable document.

The prefix of the version decides: `3.0.0-RC1`, `3.0.1-5` and the number 3.1 are read as 3.0, 3.0 and 3.1. A document of
another kind or of an unknown major version is refused at once, since all later errors would be misleading.
Specification: OpenAPI 3.2 section 4.1.1.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from ..egress.policy import EgressPolicy
from ..errors import DocumentError, Problem
from ..runtime.request.redaction import redact
from .addresses import Certificates, is_remote
from .bundle import Bundle
from .fetcher import Fetcher
from .model import DEFAULT_LIMITS, Document, Limits
from .parser import Parsed, parse, text_of
from .sources import References, SourceFile, read_root

VERSIONS: Final = ("2.0", "3.0", "3.1", "3.2")
_OPENAPI_3: Final = re.compile(r"\s*3(?:\.(\d+))?(?!\d)")
_OTHER_FORMATS: Final = {
    "swaggerVersion": "a Swagger 1.x document",
    "asyncapi": "an AsyncAPI document",
    "arazzo": "an Arazzo document",
    "overlay": "an OpenAPI Overlay",
    "$schema": "a JSON Schema",
    "raml": "a RAML document",
}

_VERSION_HINT: Final = 'it must have `openapi: 3.x` or `swagger: "2.0"` at the top level'
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
    content, text, document, parsed = _read(source, fetcher, limits)
    if amendment is not None:
        document, text = _amended(document, text, parsed, amendment, fetcher)
    if parsed.texts is None and not _EXTERNAL_REFERENCE.search(text):
        return document
    references = References(content.uri, fetcher, limits, allow_remote=allow_remote_refs, reference_root=reference_root)
    return Bundle(document, parsed.texts, references, limits, progress or (lambda _: None)).run()


def load_root(source: str, amendment: Amendment | None = None) -> Document:
    """Load the root of a document, without the files that it refers to. Raises DocumentError."""
    fetcher = Fetcher(source if is_remote(source) else "")
    _, text, document, parsed = _read(source, fetcher, DEFAULT_LIMITS)
    if amendment is None:
        return document
    return _amended(document, text, parsed, amendment, fetcher)[0]


def _read(source: str, fetcher: Fetcher, limits: Limits) -> tuple[SourceFile, str, Document, Parsed]:
    """Read and parse the root document; errors name it."""
    label = "stdin" if source == "-" else redact(source)
    try:
        content = read_root(source, fetcher, limits)
        text, notes = text_of(content.data, content.uri, content.charset)
        parsed = parse(text, limits)
        version, version_problems = version_of(parsed.value)
    except DocumentError as error:
        inside = "" if error.where == label else error.where
        where = f"{label}, {inside}" if inside else label
        raise type(error)(error.message, where=where, hint=error.hint or _HINT) from error
    problems = (*notes, *parsed.problems, *version_problems)
    document = Document(
        parsed.value,
        content.uri,
        version,
        problems,
        digests={content.uri: content.digest},
        validators={content.uri: content.validators},
        values=parsed.values,
        is_private=content.is_private,
    )
    return content, text, document, parsed


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


def version_of(root: Any) -> tuple[str, tuple[Problem, ...]]:
    """Return one of `VERSIONS`, and a Problem if the document's own text is another. Raises DocumentError."""
    if not isinstance(root, dict):
        raise DocumentError(f"this is {_describe(root)}, not an OpenAPI document", hint=_VERSION_HINT)
    if root.get("openapi") is not None:
        return _openapi(root["openapi"])
    if root.get("swagger") is not None:
        return _swagger(root["swagger"])
    kind = next((name for key, name in _OTHER_FORMATS.items() if key in root), None)
    defect = f"is {kind}, not an OpenAPI document" if kind else "has no OpenAPI version"
    raise DocumentError(f"this {defect}", hint=_VERSION_HINT)


def _openapi(value: Any) -> tuple[str, tuple[Problem, ...]]:
    match = _OPENAPI_3.match(str(value)) if isinstance(value, str | int | float) else None
    if match:
        version = f"3.{match[1]}"
        if version in VERSIONS:
            return version, ()
        return VERSIONS[-1], (_version_problem("openapi", value, VERSIONS[-1]),)
    if str(value).strip().startswith("2"):
        return "2.0", (_version_problem("openapi", value, "2.0"),)
    raise DocumentError(f"OpenAPI {value!r} is not supported", hint=f"supported are {', '.join(VERSIONS)}")


def _swagger(value: Any) -> tuple[str, tuple[Problem, ...]]:
    if str(value).strip() in ("2.0", "2"):
        return "2.0", ()
    if re.match(r"2\.0\D", str(value)):
        return "2.0", (_version_problem("swagger", value, "2.0"),)
    raise DocumentError(
        f"Swagger {value!r} is not supported", hint='supported is "2.0"; later versions have `openapi: 3.x` instead'
    )


def _version_problem(field: str, value: Any, version: str) -> Problem:
    return Problem(
        pointer=f"#/{field}", kind="version", message=f"the version {value!r} is unknown; it is read as {version}"
    )


def _describe(value: Any) -> str:
    if value is None:
        return "an empty file"
    if isinstance(value, str) and value.lstrip().startswith("<"):
        return "a web page or XML"
    return "a list" if isinstance(value, list) else "a single value"

"""From bytes to text: UTF-8, UTF-16 and UTF-32 are known for certain, anything else is a guess and said to be one.

JSON and YAML are Unicode by specification (RFC 8259 section 8.1, YAML 1.2.2 section 5.2), their files are not always.
"""

import json
from urllib.parse import urlsplit
from urllib.request import url2pathname

from .errors import DocumentError, Problem


def text_of(data: bytes, uri: str = "", charset: str | None = None) -> tuple[str, tuple[Problem, ...]]:
    """The text of a file, and a Problem if its encoding had to be guessed; `charset` is what its server says.

    Raises DocumentError with the line of the first byte that no encoding explains.
    """
    encoding = json.detect_encoding(data)
    try:
        return data.decode(encoding).removeprefix("\ufeff"), ()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what = f"the byte {data[error.start]:#04x} is not {encoding.upper()}"
    text, how = _guess(data, charset or _detected(uri))
    if text is None:
        raise DocumentError(what, where=f"line {line}", hint="save it as UTF-8")
    problem = Problem(pointer="#", kind="syntax", message=f"line {line}: {what}; {how}", hint="save it as UTF-8")
    return text, (problem,)


def _guess(data: bytes, encoding: str | None) -> tuple[str | None, str]:
    """The text of bytes that are not Unicode, and how it was read."""
    text = data.decode("utf-8", errors="replace")
    broken = text.count("\ufffd")
    if sum(not character.isascii() for character in text) > 2 * broken:  # most of it is UTF-8: a few bytes are damaged
        return text, f"{broken} such characters are replaced"
    try:
        return (data.decode(encoding), f"it is read as {encoding}") if encoding else (None, "")
    except (LookupError, UnicodeError):
        return None, ""


def _detected(uri: str) -> str | None:
    """What prance takes the encoding of a local file to be."""
    if urlsplit(uri).scheme != "file":
        return None
    from prance.util.fs import detect_encoding

    try:
        return str(detect_encoding(url2pathname(urlsplit(uri).path)))
    except (OSError, AttributeError):  # the detector has no idea
        return None

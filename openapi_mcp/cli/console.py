"""All that the command line prints goes through here: no secret to stderr, no control character to a terminal.

Everything on stderr (messages, log lines, tracebacks) is redacted, and control characters in it are written as escapes:
it may hold texts of a document or an API. stdout has what was asked for; it is escaped at a terminal only, and
unchanged in a file or a pipe. `hide` names the secrets that the program was given.
"""

import json
import logging
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TextIO

from ..runtime.request.redaction import SECRET_NAME, is_secret_header, redact, secrets_of_url
from ..runtime.result import hidden_characters

if TYPE_CHECKING:  # it brings httpx, which `main` prepares first, and which `--help` does not need
    from ..runtime.result.sanitizer import Sanitizer

MIN_SECRET_LENGTH: Final = 4
"""Characters of a text that is replaced: a shorter one keeps no secret, and is part of many words."""


class _Secrets:
    """The secrets of this process: they are only added to, since an old one may still be printed after a reload."""

    known: frozenset[str] = frozenset()
    sanitizer: "Sanitizer | None" = None


def hide(secrets: Iterable[str]) -> None:
    """Replace these texts by `***` in all that is written to stderr from now on."""
    known = _Secrets.known | {secret for secret in secrets if len(secret.strip()) >= MIN_SECRET_LENGTH}
    if known != _Secrets.known:
        from ..runtime.result.sanitizer import Sanitizer

        _Secrets.known, _Secrets.sanitizer = known, Sanitizer(known)


def secrets_of_options(source: str, options: Mapping[str, Any]) -> Iterator[str]:
    """Yield the secrets of a command line or a settings file, as far as they can be told from other values."""
    yield from secrets_of_url(source)
    for option in ("auth_token", "auth_client_secret", "session_secret"):
        yield str(options.get(option) or "")
    yield from secrets_of_url(str(options.get("redis") or ""))
    for option in ("header", "spec_header"):
        yield from filter(None, map(_header_secret, _texts(options.get(option))))
    from ..runtime.request.credentials import FROM_ENVIRONMENT

    for text in _texts(options.get("auth")):
        credential = text.partition("=")[2]
        if not credential.startswith(FROM_ENVIRONMENT):
            yield credential
            yield credential.partition(":")[2]
    clients = (text for text in _texts(options.get("oauth")) if text.partition("=")[0].strip().endswith("secret"))
    for text in (*_texts(options.get("set")), *clients):
        name, _, value = text.partition("=")
        if not value.startswith(FROM_ENVIRONMENT) and SECRET_NAME.search(name):
            yield value
    for text in _texts(options.get("base_url")):
        for url in (text, *text.split("=", 1)[1:]):
            for secret in secrets_of_url(url):
                yield secret
                yield secret.partition(":")[2]


def _header_secret(text: str) -> str:
    """Return the value of a header that is a credential, without its scheme; a text without a colon may be one."""
    name, colon, value = text.partition(":")
    if not colon:
        return text
    return value.strip().rpartition(" ")[2] if is_secret_header(name, value) else ""


def _texts(value: Any) -> list[str]:
    """Return the texts of an option that may be repeated: one, a list of them, or a table of names and values."""
    if isinstance(value, Mapping):
        return [f"{name}={inner}" for name, inner in value.items()]
    return [value] if isinstance(value, str) else [str(item) for item in value or ()]


def safe(text: str) -> str:
    """Return a text as stderr gets it: without secrets, and with control characters as escapes."""
    redacted = redact(text)
    return _Secrets.sanitizer.text(redacted) if _Secrets.sanitizer else hidden_characters.escape(redacted)


def out(text: str) -> None:
    """Print a text on stdout, as it is in a file or a pipe, and with control characters as escapes at a terminal."""
    stream = sys.stdout
    try:
        stream.write(f"{hidden_characters.escape(text) if stream.isatty() else text}\n")
    except UnicodeEncodeError:  # half a surrogate pair, or a terminal that is not UTF-8
        stream.write(
            text.encode(stream.encoding or "utf-8", "backslashreplace").decode(stream.encoding or "utf-8") + "\n"
        )
    stream.flush()


def info(text: str) -> None:
    """Print a text on stderr that is no warning and no error, unless quiet was chosen."""
    if not _Format.quiet:
        err(text, "info")


def err(text: str, level: str = "error") -> None:
    """Print a text on stderr, as JSON in one line where that was chosen."""
    if _Format.json:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        text = json.dumps({"time": now, "level": level, "message": safe(text)})
    err_line(text)


def err_line(text: str) -> None:
    """Print a line on stderr as it is, but for secrets and control characters."""
    sys.stderr.write(safe(text) + "\n")
    sys.stderr.flush()


class _Format:
    """The form of what this process prints on stderr."""

    json = False
    quiet = False


def use_format(log_format: str | None, *, quiet: bool) -> None:
    """Choose the form of all later lines on stderr, log lines of libraries included: `json` or text."""
    _Format.json, _Format.quiet = log_format == "json", quiet
    if _Format.json:
        handler = logging.StreamHandler(_JsonLines())
        handler.setFormatter(_JsonFormatter())
        logging.basicConfig(handlers=[handler], force=True)


class _JsonLines:
    """A stream of log records that are JSON already."""

    def write(self, text: str) -> None:
        """Write a line."""
        sys.stderr.write(safe(text.rstrip("\n")) + "\n")

    def flush(self) -> None:
        """Flush stderr."""
        sys.stderr.flush()


class _JsonFormatter(logging.Formatter):
    """A log record as a JSON object in one line, with its traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        now = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        facts = {"time": now, "level": record.levelname.lower(), "logger": record.name, "message": record.getMessage()}
        if record.exc_info:
            facts["traceback"] = self.formatException(record.exc_info)
        return json.dumps(facts)


class GuardedStream:
    """A text stream to stderr whose texts are made safe, whoever writes them: tracebacks and logs of libraries too.

    It is no terminal, so that nobody writes colours to it.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text."""
        self.stream.write(safe(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for text in lines:
            self.write(text)

    def isatty(self) -> bool:
        """Return False: control sequences would be written as escapes."""
        return False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def guard() -> None:
    """Let all that this process writes to stderr pass through `safe`."""
    if sys.stderr is not None and not isinstance(sys.stderr, GuardedStream):
        sys.stderr = GuardedStream(sys.stderr)


def terminal() -> TextIO | None:
    """Return stderr itself if it is a terminal, for what moves on it; else None."""
    stream = sys.stderr.stream if isinstance(sys.stderr, GuardedStream) else sys.stderr
    return stream if stream is not None and stream.isatty() else None


def log_everything() -> None:
    """Log what this program does to stderr, with its level."""
    logging.basicConfig(stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("openapi_mcp").setLevel(logging.DEBUG)  # and not httpx, which logs queries and their keys

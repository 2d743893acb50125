"""What a user asked for, as one frozen value: where the document is, which tools are wanted, how the API is called.

No credential is ever printed.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from .code_limits import USUAL, Limits
from .economy import Economy
from .errors import UsageError
from .mode import Mode
from .offering import MOST_TOOLS
from .rate_limits import rate_limit
from .runtime import addresses
from .runtime.errors import RequestError
from .runtime.models import SecurityScheme
from .runtime.requests import RequestOptions
from .runtime.retries import Retries
from .runtime.server import MAX_RESULT_BYTES
from .runtime.upstream import Upstream
from .selection import Selection
from .wanted import BaseUrlOptions, Wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """One bridge's settings. `credentials` are those given outright, by the name of their security scheme."""

    source: str
    spec_headers: Mapping[str, str] = field(default_factory=dict)
    allow_remote_refs: bool = False
    selection: Selection = field(default_factory=Selection)
    base_url: str | None = None
    servers: BaseUrlOptions = field(default_factory=BaseUrlOptions)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)
    max_result_bytes: int = MAX_RESULT_BYTES
    file_roots: tuple[Path, ...] = ()
    connect_timeout: float = 10.0
    timeout: float = 60.0
    total_timeout: float | None = None
    retries: int = 2
    ca: Path | None = None
    client_cert: Path | None = None
    client_key: Path | None = None
    check_contract: bool = False
    page_size: int | None = None
    explicit_fields: bool = False
    mode: Mode = Mode.AUTO
    pinned: tuple[str, ...] = ()
    code_timeout: float = USUAL.seconds
    code_calls: int = USUAL.calls
    rate_limit: str | None = None
    watch: bool = False
    watch_interval: float = 1.0
    no_cache: bool = False
    budget: int | None = None
    compact: bool = False
    max_tools: int | None = None

    @classmethod
    def from_options(cls, source: str, options: Mapping[str, Any]) -> Self:
        """Read options as the command line and a settings file have them (see OPTIONS). Raises UsageError."""
        texts = {name: _texts(value) for name, value in options.items()}
        plain: dict[str, Any] = {name: options[name] for name in _PLAIN & options.keys()}
        if "rate_limit" in plain:
            rate_limit(plain["rate_limit"])  # what is no limit is told before anything is served
        paths: dict[str, Any] = {name: Path(options[name]) for name in _PATHS & options.keys()}
        return cls(
            source=source,
            spec_headers=dict(map(parse_header, texts.get("spec_header", ()))),
            allow_remote_refs=bool(options.get("allow_remote_refs")),
            selection=Selection.parse(
                texts.get("include", ()), texts.get("exclude", ()), read_only=bool(options.get("read_only"))
            ),
            base_url=_base_url(options.get("base_url")),
            servers=BaseUrlOptions(
                server=_number_or_text(options.get("server")),
                variables=dict(map(parse_server_variable, texts.get("server_var", ()))),
            ),
            headers=tuple(map(parse_header, texts.get("header", ()))),
            credentials=dict(map(parse_credential, texts.get("auth", ()))),
            file_roots=tuple(map(_folder, texts.get("allow_files", ()))),
            mode=_mode(options.get("mode")),
            pinned=tuple(texts.get("pin", ())),
            **plain,
            **paths,
        )

    @property
    def wanted(self) -> Wanted:
        """What is wanted of the document: all that its tools depend on besides itself."""
        return Wanted(
            headers=self.spec_headers,
            allow_remote_refs=self.allow_remote_refs,
            selection=self.selection,
            servers=self.servers,
            economy=self._economy(),
        )

    def _economy(self) -> Economy:
        """A budget that was asked for holds for all tools, the usual one for those that a client is shown at once."""
        if self.budget is not None:
            return Economy(budget=self.budget, compact=self.compact, max_tools=self.max_tools)
        most_listed = {Mode.ALL: None, Mode.SEARCH: 0, Mode.CODE: 0, Mode.AUTO: MOST_TOOLS}[self.mode]
        return Economy(compact=self.compact, max_tools=self.max_tools, most_listed=most_listed)

    @property
    def code_limits(self) -> Limits:
        """What a program of code mode may use."""
        return Limits(seconds=self.code_timeout, calls=self.code_calls)

    def request_options(self, schemes: Iterable[SecurityScheme], environment: Mapping[str, str]) -> RequestOptions:
        """How requests are made: a scheme's credential is the one given outright, else its environment variable's."""
        found = {scheme.name: environment.get(scheme.variable, "") for scheme in schemes} | dict(self.credentials)
        credentials = {name: secret for name, secret in found.items() if secret}
        return RequestOptions(
            base_url=self.base_url,
            headers=self.headers,
            credentials=credentials,
            client_certificate=self.client_cert is not None,
            file_roots=self.file_roots,
        )

    def upstream(self) -> Upstream:
        """A client of the API. Raises UsageError for certificate files that cannot be used."""
        try:
            return Upstream(
                connect_timeout=self.connect_timeout,
                read_timeout=self.timeout,
                total_timeout=self.total_timeout,
                retries=Retries(attempts=self.retries + 1),
                ca=self.ca,
                client_cert=self.client_cert,
                client_key=self.client_key,
            )
        except RequestError as error:
            hint = "see --ca, --client-cert and --client-key"
            raise UsageError(str(error), where="the certificates", hint=hint) from None


OPTIONS: Final[Mapping[str, type]] = {
    "spec_header": list,
    "allow_remote_refs": bool,
    "include": list,
    "exclude": list,
    "read_only": bool,
    "base_url": str,
    "server": str,
    "server_var": list,
    "header": list,
    "auth": list,
    "max_result_bytes": int,
    "allow_files": list,
    "connect_timeout": float,
    "timeout": float,
    "total_timeout": float,
    "retries": int,
    "ca": str,
    "client_cert": str,
    "client_key": str,
    "check_contract": bool,
    "page_size": int,
    "mode": str,
    "pin": list,
    "code_timeout": float,
    "code_calls": int,
    "explicit_fields": bool,
    "rate_limit": str,
    "watch": bool,
    "watch_interval": float,
    "no_cache": bool,
    "budget": int,
    "compact": bool,
    "max_tools": int,
}
"""What a settings file may hold, by the type of its value; a list of `name=value` may also be a table."""

_PLAIN: Final = frozenset(
    {
        "max_result_bytes",
        "connect_timeout",
        "timeout",
        "total_timeout",
        "retries",
        "check_contract",
        "page_size",
        "code_timeout",
        "code_calls",
        "explicit_fields",
        "rate_limit",
        "watch",
        "watch_interval",
        "no_cache",
        "budget",
        "compact",
        "max_tools",
    }
)
_PATHS: Final = frozenset({"ca", "client_cert", "client_key"})


def _texts(value: Any) -> list[str]:
    """A list of `name=value` texts, also where it is a table."""
    if isinstance(value, dict):
        return [f"{name}={inner}" for name, inner in value.items()]
    return [str(item) for item in value] if isinstance(value, list | tuple) else []


def _base_url(value: str | None) -> str | None:
    try:
        return value if value is None or addresses.base(value) else None
    except RequestError:
        hint = "give all of it, as https://api.example.com/v1"
        raise UsageError("this is no address that calls can go to", where=f"--base-url {value}", hint=hint) from None


def _folder(text: str) -> Path:
    if not Path(text).is_dir():
        raise UsageError("there is no such folder", where=f"--allow-files {text}", hint="name one that is there")
    return Path(text)


def _mode(value: Any) -> Mode:
    try:
        return Mode(value or Mode.AUTO)
    except ValueError:
        raise UsageError(f"there is no mode {value}", where="mode", hint=f"known are {', '.join(Mode)}") from None


def _number_or_text(value: Any) -> int | str | None:
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def parse_header(text: str) -> tuple[str, str]:
    """Read `Name: value`, as --header and --spec-header take it."""
    name, colon, value = text.partition(":")
    if not colon or not name.strip() or any(character in text for character in "\r\n\0"):
        raise UsageError(
            "a header is written 'Name: value'", where=name.strip() or text[:20], hint="quote the whole of it"
        )
    return name.strip(), value.strip()


def _named_value(what: str, option: str, hint: str) -> Callable[[str], tuple[str, str]]:
    def parse(text: str) -> tuple[str, str]:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise UsageError(f"{what} is written name=value", where=option, hint=hint)
        return name, value

    return parse


parse_credential: Final = _named_value("a credential", "--auth", "`openapi-mcp inspect` names the security schemes")
parse_server_variable: Final = _named_value("a server variable", "--server-var", "for example --server-var region=eu")

"""`Config`: the options of one bridge as a frozen value: where the document is, which tools, how the API is called.

`Config.from_options` makes it from the values that the table of options (`options/`) describes. No credential is ever
printed.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import httpx

from .authorization.resource import check_url
from .authorization.scopes import ScopeSettings
from .base_url_map import BaseUrlMap
from .clients.profiles import PROFILES, Profile
from .code_mode.limits import CodeLimits
from .compilation import BaseUrlOptions, CompileOptions
from .document.addresses import Certificates
from .egress.policy import NO_RULES, EgressPolicy, EgressRules
from .errors import UsageError
from .modes import MAX_LISTED_TOOLS, Mode
from .oauth.clients import CALLBACK, OAuthClient, OAuthSettings, parse_clients
from .options.table import DEFAULTS, SETTINGS
from .replicas.rate_limits import parse as parse_rate_limit
from .runtime.errors import RequestError
from .runtime.request import credentials
from .runtime.request.build import RequestOptions
from .runtime.request.headers import is_field_name
from .runtime.tool import SecurityScheme
from .runtime.upstream.client import Upstream
from .runtime.upstream.retries import Retries
from .runtime.upstream.tls import tls_context
from .runtime.upstream.transport import Transport
from .selection import Selection
from .token_budget import TokenBudget

if TYPE_CHECKING:
    from .curation.settings import ArgumentValues


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The options of one bridge; fields named as options hold their values as they are.

    `base_url` replaces that of every tool; with `base_url_map` those that the map does not match. `credentials` are by
    the name of their security scheme, each a value or `env:` and the name of an environment variable; those of the
    schemes' own variables are not among them. `oauth_clients` are by the name of their scheme too.
    """

    source: str = field(repr=False)
    spec_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    allow_remote_refs: bool = False
    overlays: tuple[str, ...] = ()
    workflow_files: tuple[str, ...] = ()
    workflows: Mapping[str, Any] | None = field(default=None, repr=False)
    egress: EgressRules = NO_RULES
    selection: Selection = field(default_factory=Selection)
    base_url: str | None = field(default=None, repr=False)
    base_url_map: BaseUrlMap = field(default_factory=BaseUrlMap)
    servers: BaseUrlOptions = field(default_factory=BaseUrlOptions)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)
    oauth_clients: Mapping[str, OAuthClient] = field(default_factory=dict, repr=False)
    max_result_tokens: int = DEFAULTS["max_result_tokens"]
    max_response_size: int = DEFAULTS["max_response_size"]
    argument_values: "ArgumentValues | None" = field(default=None, repr=False)
    file_roots: tuple[Path, ...] = ()
    lenient: bool = False
    connect_timeout: float = DEFAULTS["connect_timeout"]
    timeout: float = DEFAULTS["timeout"]
    total_timeout: float = DEFAULTS["total_timeout"]
    task_timeout: float = DEFAULTS["task_timeout"]
    retries: int = DEFAULTS["retries"]
    follow_redirects_to: tuple[str, ...] = ()
    accept_hosts: tuple[str, ...] = ()
    ca: Path | None = None
    client_cert: Path | None = None
    client_key: Path | None = None
    check_contract: bool = False
    page_size: int | None = None
    explicit_fields: bool = False
    no_skills: bool = False
    mode: Mode = Mode.AUTO
    pinned: tuple[str, ...] = ()
    prefix: str | None = None
    client: str = "generic"
    code_timeout: float = DEFAULTS["code_timeout"]
    code_calls: int = DEFAULTS["code_calls"]
    rate_limit: str | None = None
    upstream_rate_limit: str | None = None
    circuit_breaker: int = DEFAULTS["circuit_breaker"]
    confirm: str = "never"
    select: str = "auto"
    sign_in_port: int | None = None
    sign_in_url: str | None = None
    redis: str | None = field(default=None, repr=False)
    auth_rights: ScopeSettings = field(default_factory=ScopeSettings)
    watch: bool = False
    watch_interval: float = DEFAULTS["watch_interval"]
    no_cache: bool = False
    plugins: tuple[str, ...] = ()
    log_format: str | None = None
    quiet: bool = False
    audit: Path | None = None
    audit_arguments: bool = False
    metrics: str | None = None
    budget: int | None = None
    compact: bool = False
    max_tools: int | None = None
    max_instructions: int = DEFAULTS["max_instructions"]
    instructions: str | None = None

    @classmethod
    def from_options(cls, source: str, options: Mapping[str, Any]) -> Self:
        """Make a Config from options as the command line and a settings file have them. Raises UsageError."""
        texts = {name: _texts(value) for name, value in options.items() if name in SETTINGS and SETTINGS[name].many}
        base_urls = BaseUrlMap.parse(texts.get("base_url", ()))
        for name in ("rate_limit", "upstream_rate_limit"):
            if name in options:
                parse_rate_limit(options[name], f"--{name.replace('_', '-')}")  # before anything is served
        parsed: dict[str, Any] = {
            "base_url": base_urls.other,
            "base_url_map": base_urls if base_urls.pairs else BaseUrlMap(),
            "mode": _mode(options.get("mode")),
            "prefix": parse_prefix(options.get("prefix")),
            "spec_headers": dict(parse_header(text, "--spec-header") for text in texts.get("spec_header", ())),
            "egress": EgressRules.parse_options(texts.get("egress_allow", ()), texts.get("egress_only", ())),
            "selection": Selection.parse(
                texts.get("include", ()), texts.get("exclude", ()), read_only=bool(options.get("read_only"))
            ),
            "servers": BaseUrlOptions(
                server=_index_or_name(options.get("server")),
                variables=dict(map(parse_server_variable, texts.get("server_var", ()))),
            ),
            "headers": tuple(map(parse_header, texts.get("header", ()))),
            "credentials": dict(map(parse_credential, texts.get("auth", ()))),
            "oauth_clients": parse_clients(texts.get("oauth", ())),
            "argument_values": _argument_values(texts.get("set", ())),
            "file_roots": tuple(map(_folder, texts.get("allow_files", ()))),
            "metrics": parse_metrics(options.get("metrics")),
            "overlays": tuple(map(_source_of_overlay, texts.get("overlay", ()))),
            "workflow_files": tuple(map(_source_of_overlay, texts.get("workflow", ()))),
            "pinned": tuple(texts.get("pin", ())),
            "plugins": tuple(texts.get("plugin", ())),
            "instructions": _own_instructions(options.get("instructions")),
            "auth_rights": ScopeSettings.parse(texts.get("auth_scopes", ()), texts.get("auth_includes", ())),
            "accept_hosts": tuple(map(_name_of_host, texts.get("accept_host", ()))),
            "sign_in_url": parse_sign_in_url(options.get("sign_in_url")),
            "follow_redirects_to": tuple(map(_host, texts.get("follow_redirects_to", ()))),
        }
        names = {each.name for each in fields(cls)} & SETTINGS.keys() & options.keys()
        unchanged: dict[str, Any] = {
            name: Path(options[name]) if SETTINGS[name].kind is Path else options[name] for name in names
        }
        return cls(source=source, **unchanged | parsed)

    @property
    def has_tasks(self) -> bool:
        """True if calls may become tasks."""
        return self.task_timeout > 0

    @property
    def compile_options(self) -> CompileOptions:
        """The options that the tools depend on, besides the document itself."""
        return CompileOptions(
            headers=self.spec_headers,
            certificates=Certificates(self.ca, self.client_cert, self.client_key),
            allow_remote_refs=self.allow_remote_refs,
            overlays=self.overlays,
            egress=self.egress,
            selection=self.selection,
            servers=self.servers,
            token_budget=self._token_budget(),
            max_instructions=self.max_instructions,
        )

    def _token_budget(self) -> TokenBudget:
        """Apply a budget of the user to all tools, and the usual budget to those that are listed and not searched."""
        if self.budget is not None:
            return TokenBudget(budget=self.budget, compact=self.compact, max_tools=self.max_tools)
        max_listed = {Mode.ALL: None, Mode.SEARCH: 0, Mode.CODE: 0, Mode.AUTO: self.max_listed_tools}[self.mode]
        return TokenBudget(compact=self.compact, max_tools=self.max_tools, max_listed=max_listed)

    @property
    def profile(self) -> Profile:
        """The profile of the client."""
        return PROFILES[self.client]

    @property
    def result_tokens(self) -> int:
        """The tokens of a result, which the client may limit further."""
        return min(self.max_result_tokens, self.profile.max_result_tokens or self.max_result_tokens)

    @property
    def instructions_limit(self) -> int:
        """The characters of the instructions, which the client may limit further."""
        return min(self.max_instructions, self.profile.max_instructions or self.max_instructions)

    @property
    def max_listed_tools(self) -> int:
        """The tools that mode `auto` lists at most: those that the client takes, or that many clients do."""
        return self.profile.max_tools or MAX_LISTED_TOOLS

    @property
    def code_limits(self) -> CodeLimits:
        """The time and calls that a program of code mode may use."""
        return CodeLimits(seconds=self.code_timeout, calls=self.code_calls)

    @property
    def only_base_url(self) -> str | None:
        """The base URL of all calls; None where each tool has its own, as with `base_url_map`."""
        return None if self.base_url_map.pairs else self.base_url

    def request_options(self, schemes: Iterable[SecurityScheme], environment: Mapping[str, str]) -> RequestOptions:
        """Return the options of all requests. Raises UsageError for a credential that cannot be read or used."""
        schemes = tuple(schemes)
        used = {scheme.name for scheme in schemes}  # a credential of another scheme of the document is not read
        configured = {name: text for name, text in self.credentials.items() if name in used}
        try:
            secrets = credentials.read_credentials(schemes, configured, environment)
        except RequestError as error:
            hint = "set the variable, or correct --auth or `[auth]` of the settings file"
            raise UsageError(str(error), where="the credentials", hint=hint) from None
        return RequestOptions(
            base_url=self.only_base_url,
            headers=self.headers,
            other_base_urls=tuple(url for _, url in self.base_url_map.pairs),
            credentials=secrets,
            credential_sources=credentials.credential_sources(configured),
            client_certificate=self.client_cert is not None,
            file_roots=self.file_roots,
            lenient=self.lenient,
        )

    @property
    def oauth_settings(self) -> OAuthSettings:
        """The settings that OAuth clients of all schemes share, and the clients."""
        certificates = self.ca, self.client_cert, self.client_key
        callback = None if self.sign_in_url is None else f"{self.sign_in_url}{CALLBACK}"
        return OAuthSettings(self.source, self.oauth_clients, *certificates, callback=callback)

    def egress_policy(self, *, trusts_document: bool) -> EgressPolicy:
        """Return the policy of calls and token requests, with the hosts that the user named.

        `trusts_document`: the document, which came from this machine or a private address, may name private hosts.
        """
        chosen = [*self.servers.variables.values(), str(self.servers.server or "")]
        urls = [self.base_url, *(url for _, url in self.base_url_map.pairs), *chosen]
        urls += [url for client in self.oauth_clients.values() for url in client.urls]
        hosts = [*self.follow_redirects_to, *self.servers.variables.values()]
        return EgressPolicy(self.egress, trusts_document=trusts_document).naming(*urls).naming_hosts(hosts)

    def upstream(
        self,
        egress: EgressPolicy | None = None,
        make: Callable[..., Upstream] = Upstream,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> Upstream:
        """Make a client of the API, by default over the usual transport. Raises UsageError for bad certificates."""
        try:
            if transport is None:
                verify = tls_context(self.ca, self.client_cert, self.client_key)
                transport = Transport(verify=verify, egress=egress or self.egress_policy(trusts_document=True))
            return make(
                transport=transport,
                connect_timeout=self.connect_timeout,
                read_timeout=self.timeout,
                total_timeout=self.total_timeout,
                max_bytes=self.max_response_size * 1024 * 1024,
                retries=Retries(attempts=self.retries + 1),
                follow_redirects_to=self.follow_redirects_to,
            )
        except RequestError as error:
            hint = "see --ca, --client-cert and --client-key"
            raise UsageError(str(error), where="the certificates", hint=hint) from None


def _texts(value: Any) -> list[str]:
    """Return a list of texts; a table of a settings file as `name=value`."""
    if isinstance(value, dict):
        return [f"{name}={inner}" for name, inner in value.items()]
    if isinstance(value, str):
        return [value]
    return [str(item) for item in value] if isinstance(value, list | tuple) else []


def _argument_values(texts: Sequence[str]) -> "ArgumentValues | None":
    """Return the values of arguments that the user fixes. Raises UsageError."""
    if not texts:
        return None
    from .curation.settings import ArgumentValues

    return ArgumentValues.parse(texts)


def _source_of_overlay(text: str) -> str:
    """Return a path or URL that means the same in any folder, since it is a part of the key of cached tools."""
    return text if "://" in text else str(Path(text).absolute())


def _folder(text: str) -> Path:
    if not Path(text).is_dir():
        hint = "--allow-files takes the path of an existing folder"
        raise UsageError(f"folder does not exist: {text}", where=f"--allow-files {text}", hint=hint)
    return Path(text)


def _host(text: str) -> str:
    if not _HOST.fullmatch(text):
        hint = "write host, host:port or *.host, without a scheme and a path"
        raise UsageError("not a host", where="--follow-redirects-to", hint=hint)
    return text


_HOST: Final = re.compile(r"(\*\.)?[\w.-]+(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?")


def _name_of_host(text: str) -> str:
    """Return the host, with its port, of a text that may be a URL."""
    return text.partition("://")[2].partition("/")[0].rpartition("@")[2] if "://" in text else text.strip("/")


def _own_instructions(text: str | None) -> str | None:
    """Return the user's instructions. Raises UsageError."""
    if text is None:
        return None
    from .instructions import read_own

    return read_own(text)


def _mode(value: Any) -> Mode:
    try:
        return Mode(value or Mode.AUTO)
    except ValueError:
        hint = f"modes are {', '.join(Mode)}"
        raise UsageError(f"unknown mode: {value}", where="--mode", hint=hint) from None


_PREFIX: Final = re.compile(r"[A-Za-z0-9_-]{0,32}")
"""A prefix of tools' names: it leaves them half of their 64 characters."""


def parse_prefix(text: str | None) -> str | None:
    """Return the prefix of tools' names. Raises UsageError."""
    if text is not None and not _PREFIX.fullmatch(text):
        hint = "write up to 32 letters, digits, - and _"
        raise UsageError(f"not a prefix: {text!r}", where="--prefix", hint=hint)
    return text


def _index_or_name(value: Any) -> int | str | None:
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def parse_header(text: str, option: str = "--header") -> tuple[str, str]:
    """Read `Name: value`, as --header and --spec-header take it. Raises UsageError, which shows nothing of the text."""
    name, colon, value = text.partition(":")
    if not colon or not is_field_name(name.strip()) or _CONTROL.search(text):
        hint = "put it in quotes as one word, on one line; a name has letters, digits and dashes"
        raise UsageError("a header must be written 'Name: value'", where=option, hint=hint)
    return name.strip(), value.strip()


def parse_metrics(text: str | None) -> str | None:
    """Return the path or the port of the metrics. Raises UsageError."""
    if text is None or text.startswith("/") or (text.isdecimal() and 0 < int(text) < 65536):
        return text
    raise UsageError("metrics need a path or a port", where="--metrics", hint="write /metrics, or 9464")


def parse_sign_in_url(text: str | None) -> str | None:
    """Return the address of the sign-in pages, without a slash at its end. Raises UsageError."""
    if text is None:
        return None
    check_url(text, "--sign-in-url")
    return text.rstrip("/")


_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def _pair_parser(noun: str, option: str, hint: str) -> Callable[[str], tuple[str, str]]:
    def parse(text: str) -> tuple[str, str]:
        name, equals, value = text.partition("=")
        if not equals or not name or not value.strip("="):  # the equals signs at the end of base64 are no value
            raise UsageError(f"{noun} must be written NAME=VALUE", where=option, hint=hint)
        return name, value

    return parse


parse_credential: Final = _pair_parser("a credential", "--auth", "`openapi-mcp inspect` names the security schemes")
parse_server_variable: Final = _pair_parser("a server variable", "--server-var", "for example --server-var region=eu")

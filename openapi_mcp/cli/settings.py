"""The settings of a command: options of the command line and of a settings file, from which a bridge is opened.

The command line wins. `HttpSettings` holds the options of the HTTP server; those of the tools, which may change while
it listens, are in `Config`. `ProgressLine` shows the current step of long work: only on a terminal, only on stderr, and
only once it has taken a second.
"""

import gc
import ipaddress
import threading
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from ..bridge import Bridge
from ..config import Config
from ..curation.keys import NEVER_PASSED_ON
from ..errors import UsageError
from ..options.table import DEFAULTS, SETTINGS
from ..runtime.request.headers import is_field_name
from ..runtime.result.sanitizer import secrets_of
from ..settings.file import FILE_NAME, FileSettings, find_file, is_document, read_file
from . import console

if TYPE_CHECKING:
    from ..authorization.settings import DoorSettings
    from ..gateway.gateway import Gateway, Served

LISTENING: Final = frozenset({"host", "port", "path"})
"""Options that ask for HTTP where no transport is named."""


@dataclass(frozen=True, slots=True)
class Settings:
    """A document, the options of the command line by name, and the settings file if there is one.

    Without a `source` the file says what is served: one document, or several APIs; `api` chooses one of these. It can
    be sent to another process, which then opens the same tools.
    """

    source: str = field(default="", repr=False)
    command_line: Mapping[str, Any] = field(default_factory=dict, repr=False)
    file: Path | None = None
    api: str = ""

    @classmethod
    def find(cls, spec: str | None, options: Mapping[str, Any], file: Path | None = None) -> Self:
        """Return the settings for a document, or an API of a settings file. Raises UsageError where there is neither.

        A document that is named is served without the file of the folder, which is about another one.
        """
        if spec is not None and (file is not None or is_document(spec)):
            found = None if file is None or is_document(spec) else read_file(file)
            return cls("", options, file, spec) if found and spec in found.apis else cls(spec, options, file)
        file = file or find_file(Path())
        if file is None:
            if spec is not None:
                return cls(spec, options)
            hint = f"name a document (SPEC): openapi-mcp serve petstore.yaml; or `openapi-mcp init` writes {FILE_NAME}"
            raise UsageError("no document is named, and this folder has no settings file", where="SPEC", hint=hint)
        if spec is None:
            return cls("", options, file)
        return cls("", options, file, spec) if spec in read_file(file).apis else cls(spec, options)

    @property
    def place(self) -> str:
        """The document as it was named, or the file that names it."""
        return self.source or str(self.file)

    def options(self) -> dict[str, Any]:
        """Return all options of the server or of its API, reading the file as it is now. Raises UsageError."""
        file = self.contents()
        if self.api and self.api not in file.apis:
            hint = f"its APIs are {', '.join(file.apis) or 'none'}"
            raise UsageError(f"no such API: {self.api}", where=str(self.file), hint=hint)
        options = (file.of_api(self.api) if self.api else dict(file.options)) | dict(self.command_line)
        console.hide(console.secrets_of_options(self.source or options.get("spec", ""), options))
        return options

    def contents(self) -> FileSettings:
        """Return the contents of the file as it is now; empty where there is none. Raises UsageError."""
        return read_file(self.file) if self.file else FileSettings(Path())

    def bridge(self, progress: Callable[[str], None] = lambda _: None, *, with_document: bool = False) -> Bridge:
        """Open the bridge of the one document that these options describe, as it is now. Raises BridgeError.

        `progress` and `with_document` are as of `Bridge.open`.
        """
        apis = self.contents().apis
        if apis and not self.api:
            hint = f"name one: {', '.join(apis)}" if not self.source else "leave SPEC out, or name an API of the file"
            raise UsageError("the settings file describes several APIs", where=str(self.file), hint=hint)
        options = self.options()
        source = self.source or options.get("spec")
        if not source:
            raise UsageError("the settings file names no document", where=str(self.file), hint='add spec = "…"')
        bridge = Bridge.open(Config.from_options(source, options), progress, with_document=with_document)
        hide_secrets(bridge)
        return bridge

    def open(
        self,
        progress: Callable[[str], None] = lambda _: None,
        *,
        with_document: bool = False,
        previous: "Served | None" = None,
        check: Callable[[Bridge], object] = lambda _: None,
    ) -> "Served":
        """Open the bridge of one document, or the gateway of several APIs. Raises BridgeError.

        An API that cannot be loaded, or that `check` refuses, is that of the `previous` gateway, or left out; an error
        with `strict`.
        """
        if self.source or self.api or not self.contents().apis:
            return self.bridge(progress, with_document=with_document)
        return _open_gateway(self, progress, previous, check=check, with_document=with_document)


def hide_secrets(bridge: Bridge) -> None:
    """Keep the credentials of a bridge out of all that is printed."""
    with suppress(UsageError):  # reported by a command that needs credentials
        console.hide(secrets_of(bridge.request_options()))


_OF_ALL: Final = frozenset({"pin", "instructions", "client", "auth_scopes", "auth_includes"})
"""Options that are about the tools of all APIs together."""


def _open_gateway(
    settings: Settings,
    progress: Callable[[str], None],
    previous: "Served | None" = None,
    *,
    check: Callable[[Bridge], object] = lambda _: None,
    with_document: bool = False,
) -> "Gateway":
    """Open the gateway that a settings file describes; the arguments are as of `Settings.open`. Raises BridgeError."""
    from ..gateway.gateway import Gateway

    file = settings.contents()
    _check_command_line(settings.command_line)
    options = {**file.options, **settings.command_line}
    config = Config.from_options("", options)
    gateway = Gateway.open(
        config,
        {name: _config(file, name, settings.command_line, config) for name in file.apis},
        progress,
        check=check,
        strict=bool(options.get("strict")),
        previous=previous if isinstance(previous, Gateway) else None,
        with_document=with_document,
    )
    for bridge in gateway.bridges.values():
        hide_secrets(bridge)
    return gateway


def _check_command_line(options: Mapping[str, Any]) -> None:
    """Raise UsageError for an option of one API: it would be that of all, and a credential would go to each."""
    for name in options:
        if name in SETTINGS and SETTINGS[name].to == "config" and SETTINGS[name].scope == "api":
            hint = "write it into the table of its API in the settings file, or name the API as SPEC"
            raise UsageError(f"--{SETTINGS[name].setting} is an option of one API", where="the options", hint=hint)


def _config(file: FileSettings, name: str, command_line: Mapping[str, Any], server: Config) -> Config:
    """Return the options of one API of a server; the command line wins. Raises UsageError."""
    options = {"prefix": name, **file.of_api(name), **command_line}
    console.hide(console.secrets_of_options(options["spec"], options))
    config = Config.from_options(options["spec"], {key: options[key] for key in options.keys() - _OF_ALL})
    return replace(config, max_result_tokens=replace(config, client=server.client).result_tokens)


def drop_placeholders(environment: MutableMapping[str, str]) -> None:
    """Remove variables whose value is the placeholder that `install` wrote: their users have not filled them in."""
    for name, value in list(environment.items()):
        if value.startswith("$") and value in (f"${{{name}}}", f"${{env:{name}}}", f"${name}"):
            del environment[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """The address of the HTTP server, its processes, its limits, and its access control.

    `port` 0 takes a free one; times are in seconds. `auth_token` is what clients must send (`Authorization: Bearer …`);
    `auth_issuer` is an authorization server whose tokens they send instead (see `door`). Without either the server
    listens to this machine only, unless `allow_unauthenticated`. `session_secret` signs session ids; None takes a
    random one. `sign_in_url` is the address of the pages on which users sign in. `allow_host` and `allow_origin` are
    names besides those of this machine, `trusted_proxy` addresses and networks, `forward_header` headers of clients
    that the API gets too.
    """

    host: str = DEFAULTS["host"]
    port: int = DEFAULTS["port"]
    path: str = DEFAULTS["path"]
    workers: int = DEFAULTS["workers"]
    auth_token: str | None = field(default=None, repr=False)
    allow_unauthenticated: bool = False
    allow_host: tuple[str, ...] = ()
    allow_origin: tuple[str, ...] = ()
    trusted_proxy: tuple[str, ...] = ()
    forward_header: tuple[str, ...] = ()
    session_secret: str | None = field(default=None, repr=False)
    auth_issuer: str | None = None
    auth_audience: tuple[str, ...] = ()
    auth_introspection: bool = False
    auth_client_id: str | None = None
    auth_client_secret: str | None = field(default=None, repr=False)
    sign_in_url: str | None = None
    max_concurrency: int = DEFAULTS["max_concurrency"]
    max_body_bytes: int = DEFAULTS["max_body_bytes"]
    request_timeout: float = DEFAULTS["request_timeout"]
    no_ui: bool = False

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """Take the options of the HTTP server from those of a command line or settings file. Raises UsageError."""
        values: dict[str, Any] = {
            name: tuple([value] if isinstance(value, str) else value) if SETTINGS[name].many else value
            for name, value in options.items()
            if name in SETTINGS and SETTINGS[name].to == "http"
        }
        if "path" in values:
            values["path"] = "/" + values["path"].strip("/")
        token = values.get("auth_token")
        if token is not None and not (token.isascii() and token.isprintable() and token.split() == [token]):
            raise UsageError(
                "a token consists of visible ASCII characters without spaces",
                where="--auth-token",
                hint="choose another token",
            )
        for text in values.get("trusted_proxy", ()):
            _check_network(text)
        for name in values.get("forward_header", ()):
            _check_forwarded(name)
        settings = cls(**values)
        _ = settings.door
        return settings

    @property
    def door(self) -> "DoorSettings | None":
        """The settings of the door that verifies tokens; None where no authorization server is named.

        Raises UsageError, as `from_options` does.
        """
        named = (self.auth_issuer, self.auth_audience, self.auth_introspection, self.auth_client_id)
        if not any(named):
            return None
        from ..authorization.settings import DoorSettings

        return DoorSettings.from_options(asdict(self), self.path)


def _check_forwarded(name: str) -> None:
    if not is_field_name(name):
        raise UsageError(f"not the name of a header: {name!r}", where="--forward-header", hint="write X-Tenant")
    if NEVER_PASSED_ON.fullmatch(name):
        message = f"{name} belongs to the connection with this server and is not sent to the API"
        hint = "see --header for a fixed value, and --oauth SCHEME.exchange for the caller's token"
        raise UsageError(message, where="--forward-header", hint=hint)


def _check_network(text: str) -> None:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        hint = "write an address or a network, as 10.0.0.7 or 10.0.0.0/8"
        raise UsageError(f"not an IP address: {text!r}", where="--trusted-proxy", hint=hint) from None


PROGRESS_DELAY: Final = 1.0
"""Seconds before progress is shown: people take shorter work for an immediate answer."""


class ProgressLine:
    """A line on the terminal with the current step of long work; call it with each new step.

    with ProgressLine("reading petstore.yaml") as progress:
        progress("compiling tools")
    """

    def __init__(self, step: str) -> None:
        self.step = step
        self._terminal = console.terminal()
        self._finished = threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True)

    def __call__(self, step: str) -> None:
        """Show another step."""
        self.step = step

    def __enter__(self) -> Self:
        if self._terminal:
            self._thread.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._finished.set()
        if self._thread.is_alive():
            self._thread.join()

    def _show(self) -> None:
        if self._finished.wait(PROGRESS_DELAY):
            return
        from rich.console import Console
        from rich.text import Text

        with Console(file=self._terminal).status(Text(console.safe(self.step))) as status:
            while not self._finished.wait(0.1):
                status.update(Text(console.safe(self.step)))


def open_served(
    settings: Settings, *, with_document: bool = False, check: Callable[[Bridge], object] = lambda _: None
) -> "Served":
    """Open what the settings describe, showing progress at a terminal; the arguments are as of `Settings.open`."""
    with ProgressLine(f"reading {settings.place}") as progress, _garbage_collection_paused():
        return settings.open(progress, with_document=with_document, check=check)


def open_bridge(settings: Settings, *, with_document: bool = False) -> Bridge:
    """Open the bridge of one document in the same way. Raises UsageError where the settings describe several APIs."""
    with ProgressLine(f"reading {settings.place}") as progress, _garbage_collection_paused():
        return settings.bridge(progress, with_document=with_document)


@contextmanager
def _garbage_collection_paused() -> Iterator[None]:
    """Pause garbage collection while tools are made: they stay in memory, and examining them takes a sixth of the time.

    Objects made meanwhile are not examined later either: they live as long as the program.
    """
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        gc.enable()

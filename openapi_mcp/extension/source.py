"""The options of a bridge as a program gives them: a document, or one in memory, and options by name."""

import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import httpx

from ..config import Config
from ..errors import DocumentError, UsageError
from ..options.table import SETTINGS
from ..runtime.arguments.spelling import suggestion
from . import plugins
from .hooks import Extension, Hooks

Source: TypeAlias = str | Path | Mapping[str, Any] | Config
"""A path, a URL, `-` for stdin, the document itself as Python values, or the options with its place."""

Auth: TypeAlias = httpx.Auth | Callable[[httpx.Request], httpx.Request] | Mapping[str, str] | Sequence[str]
"""Signature of requests: an `httpx.Auth`, a function that returns the signed request, or the credentials of security
schemes, as the option `auth` has them."""


@contextmanager
def extended(
    source: Source,
    hooks: Hooks | Sequence[Hooks],
    transport: httpx.AsyncBaseTransport | None,
    auth: Auth | None,
    options: Mapping[str, Any],
) -> Iterator[tuple[Config, Extension]]:
    """Yield the options of a bridge and what is added to it, plugins first. Raises UsageError and DocumentError."""
    signature, credentials = _auth(auth)
    own = (hooks,) if isinstance(hooks, Hooks) else tuple(hooks)
    with config_of(source, {**options, **credentials}) as config:
        yield config, Extension((*plugins.load(config.plugins), *own), transport, signature)


@contextmanager
def config_of(source: Source, options: Mapping[str, Any]) -> Iterator[Config]:
    """Yield the options of a bridge, as long as whose document is read. Raises UsageError and DocumentError.

    A document in memory is a file meanwhile, since everything that reads documents reads files.
    """
    if isinstance(source, Config):
        if options:
            hint = "give the options to Config.from_options, or the document to Bridge.open"
            raise UsageError("a Config holds its options", where=", ".join(options), hint=hint)
        yield source
    elif isinstance(source, Mapping):
        with TemporaryDirectory(prefix="openapi-mcp-") as folder:
            path = Path(folder) / "openapi.json"
            path.write_text(_json(source), encoding="utf-8")
            yield Config.from_options(str(path), {**_checked(options), "no_cache": True})
    else:
        yield Config.from_options(str(source), _checked(options))


def _json(document: Mapping[str, Any]) -> str:
    try:
        return json.dumps(document, default=str)  # YAML has dates, which JSON writes as text
    except (TypeError, ValueError, RecursionError) as error:
        hint = "give it as dictionaries, lists, texts and numbers"
        raise DocumentError(f"the document cannot be written as JSON: {error}", where="memory", hint=hint) from error


def _checked(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with the types that the command line gives them. Raises UsageError."""
    return {name: _value(name, value) for name, value in options.items() if value is not None}


def _value(name: str, value: Any) -> Any:
    option = SETTINGS.get(name)
    if option is None or option.to != "config":
        known = [each.name for each in SETTINGS.values() if each.to == "config"]
        hint = suggestion(name, known) or "docs/reference/options.md has all options"
        raise UsageError(f"unknown option: {name}", where="Bridge.open", hint=hint)
    if isinstance(value, str | Path) and option.many:
        value = [value]
    if isinstance(value, list | tuple):
        value = [str(item) if isinstance(item, Path) else item for item in value]
    elif isinstance(value, Mapping):
        value = dict(value)
    elif isinstance(value, Path):
        value = str(value)
    if not option.accepts(value):
        raise UsageError(f"{name} must be {option.expectation}", where="Bridge.open", hint=option.help)
    return value


def _auth(auth: Auth | None) -> tuple[httpx.Auth | None, Mapping[str, Any]]:
    """Return what signs requests; or where credentials are named instead, the option `auth`."""
    if auth is None or isinstance(auth, httpx.Auth):
        return auth, {}
    return (_FunctionAuth(auth), {}) if callable(auth) else (None, {"auth": auth})


class _FunctionAuth(httpx.Auth):
    """A function that signs requests, as an `httpx.Auth`."""

    def __init__(self, sign: Callable[[httpx.Request], httpx.Request]) -> None:
        self._sign = sign

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Yield the signed request."""
        yield self._sign(request)

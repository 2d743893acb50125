"""Where an operation's calls go: the nearest `servers` that say so, as one absolute URL, or nothing.

The host comes from the document and the options, never from an argument. A server that cannot be used is passed over
for the next; where none can, the tool exists and its calls say what is missing. Specification: OpenAPI 3.2 Server
Object and Server Variable Object, "Relative References in API URLs".
"""

import re
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from .document import Document, join
from .errors import Problem, UsageError
from .operations import Found, Operation
from .resolver import Resolver
from .runtime import addresses
from .runtime.errors import RequestError
from .wanted import BaseUrlOptions

_VARIABLE: Final = re.compile(r"\{([^{}]*)\}")


class _Unusable(Exception):
    """A server that no call can be sent to, why, and what to do; nothing is said where the document is not at fault."""

    def __init__(self, message: str = "", hint: str = "give --base-url") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class BaseUrls:
    """The base URLs of one document."""

    def __init__(self, document: Document, resolver: Resolver, options: BaseUrlOptions) -> None:
        """Raise UsageError where `options` choose a server that is not there."""
        self._problems: list[Problem] = []
        self._unnamed = dict(options.variables)  # those that were given, and are in no server so far
        self._document = document
        self._resolver = resolver
        self._variables = options.variables
        self._known: dict[str, str | None] = {}
        servers = document.root.get("servers")
        if servers is not None and not isinstance(servers, list):
            self._problem("#/servers", "`servers` is a list; this one is left out", "write it as a list")
        listed: list[Any] = servers if isinstance(servers, list) else []
        self._root: Found = (listed, "#/servers")
        if options.server is not None:
            self._root = _chosen(listed, options.server)

    @property
    def problems(self) -> list[Problem]:
        """What is wrong with the servers, and with what was given for their variables."""
        unnamed = (f"there is no variable {{{name}}} in any server that is used" for name in self._unnamed)
        return self._problems + [self._defect("#/servers", message, "see --server-var") for message in unnamed]

    def of(self, operation: Operation) -> str | None:
        """The base URL of an operation, absolute and without a slash at its end."""
        for servers, pointer in (*reversed(operation.servers), self._root):
            if isinstance(servers, list) and servers:
                return self._first(servers, pointer)
        return self._first([{"url": "/"}], "#")

    def _first(self, servers: list[Any], pointer: str) -> str | None:
        if pointer not in self._known:
            self._known[pointer] = self._usable(servers, pointer)
        return self._known[pointer]

    def _usable(self, servers: list[Any], pointer: str) -> str | None:
        """The first URL that can be used. Only where there is none are the others problems."""
        problems = []
        for index, server in enumerate(servers):
            try:
                return self._url(server, self._document.uri_of(pointer))
            except _Unusable as reason:
                if reason.message:
                    problems.append(self._defect(join(pointer, index), reason.message, reason.hint))
        self._problems += problems
        return None

    def _defect(self, pointer: str, message: str, hint: str) -> Problem:
        return Problem(pointer=self._resolver.shown(pointer), message=message, kind="server", hint=hint)

    def _problem(self, pointer: str, message: str, hint: str) -> None:
        self._problems.append(self._defect(pointer, message, hint))

    def _url(self, server: Any, home: str) -> str:
        template = server.get("url") if isinstance(server, dict) else None
        if not isinstance(template, str):
            raise _Unusable("a server is an object with a `url`")
        variables = server.get("variables")
        filled = _VARIABLE.sub(lambda match: self._value(match[1], variables), template.strip())
        return self._absolute(filled, home)

    def _value(self, name: str, variables: Any) -> str:
        variable = variables.get(name) if isinstance(variables, dict) else None
        variable = variable if isinstance(variable, dict) else {}
        values = variable["enum"] if isinstance(variable.get("enum"), list) else []
        if name in self._variables:
            self._unnamed.pop(name, None)
            return self._chosen_value(name, values)
        default = variable.get("default")
        if isinstance(default, bool) or not isinstance(default, str | int | float):
            hint = f"give --server-var {name}={values[0] if values else 'VALUE'}, or --base-url"
            raise _Unusable(f"the server's variable {{{name}}} has no default", hint)
        return str(default)

    def _chosen_value(self, name: str, values: list[Any]) -> str:
        """What the user wants, who may know of values that the document does not."""
        value = self._variables[name]
        known = [str(item) for item in values]
        if known and value not in known:
            message = f"{value} is none of the values of the server's variable {{{name}}}; it is used all the same"
            self._problem("#/servers", message, f"they are {', '.join(known[:20])}")
        return value

    def _absolute(self, url: str, home: str) -> str:
        """A URL that can be called. Relative to a local file it is not, which is no defect of the document."""
        try:
            from_web = urlsplit(home).scheme in ("http", "https")
            if url.startswith("//") and not from_web:
                url = "https:" + url
            whole = urljoin(home, url) if from_web else url
            if not urlsplit(whole).scheme:
                raise _Unusable
            addresses.base(whole)
        except (RequestError, ValueError) as error:
            raise _Unusable(f"no call can be sent to the server {url}") from error
        return whole.rstrip("/")


def _chosen(servers: list[Any], wanted: int | str) -> Found:
    """A list of the one server that a user chose, and where it stands."""
    if isinstance(wanted, int):
        index = wanted if 0 <= wanted < len(servers) else None
    else:
        index = next((i for i, server in enumerate(servers) if wanted in _called(server)), None)
    if index is None:
        offered = "; ".join(f"{i}: {server.get('url')}" for i, server in enumerate(servers) if isinstance(server, dict))
        raise UsageError(f"the document has no server {wanted}", where="servers", hint=offered or "give --base-url")
    return [servers[index]], f"#/servers#{index}"


def _called(server: Any) -> tuple[Any, ...]:
    return tuple(server.get(field) for field in ("url", "name", "description")) if isinstance(server, dict) else ()

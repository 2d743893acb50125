"""Choose the base URL of each operation: the first usable server of the nearest `servers`, as an absolute URL, or None.

The host comes from the document and the options, never from an argument. A server that cannot be used is skipped; where
none can be used, the tool is still listed and its calls report what is missing. Specification: OpenAPI 3.2 Server
Object and Server Variable Object, "Relative References in API URLs".
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from ..compilation import BaseUrlOptions
from ..document.model import Document, join
from ..document.resolver import Resolver
from ..errors import Problem, UsageError
from ..runtime.errors import RequestError
from ..runtime.request import urls
from .names import suggest_names
from .operations import LocatedNode, Operation

_VARIABLE: Final = re.compile(r"\{([^{}]*)\}")


MAX_URL_LENGTH: Final = 8000
"""Characters of a base URL. Servers refuse longer addresses (RFC 9112 section 3 names 8,000 octets)."""


class _UnusableServer(Exception):
    """A server that no call can be sent to: reason and cure. `message` is empty where the document is not at fault."""

    def __init__(self, message: str = "", hint: str = "give --base-url") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class BaseUrls:
    """The base URLs of the operations of one document."""

    def __init__(self, document: Document, resolver: Resolver, options: BaseUrlOptions) -> None:
        """Raise UsageError where `options` choose a server that the document does not have."""
        self._problems: list[Problem] = []
        self._unused_variables = dict(options.variables)  # given by the user, and not in any server read so far
        self._document = document
        self._resolver = resolver
        self._variables = options.variables
        self._urls: dict[str, str | None] = {}
        self._guesses: set[str] = set()
        servers = document.root.get("servers")
        if servers is not None and not isinstance(servers, list):
            self._problem("#/servers", "`servers` is not a list; it is ignored", "write it as a list")
        listed: list[Any] = servers if isinstance(servers, list) else []
        self._root: LocatedNode = (listed, "#/servers")
        if options.server is not None:
            self._root = _select_server(listed, options.server)

    @property
    def problems(self) -> list[Problem]:
        """The Problems of the servers, and of the values given for their variables."""
        unused = (f"no server in use has the variable {{{name}}}" for name in self._unused_variables)
        hint = "choose a server that has it with --server, or leave its --server-var out"
        return self._problems + [self._defect("#/servers", message, hint) for message in unused]

    def of(self, operation: Operation) -> str | None:
        """Return the base URL of an operation, absolute, without a trailing slash; None where no server is usable."""
        for servers, pointer in (*reversed(operation.servers), self._root):
            if isinstance(servers, list) and servers:
                return self._first(servers, pointer)
        return self._first([{"url": "/"}], "#")

    def is_guess(self, url: str | None) -> bool:
        """Return whether the host of a base URL is only that of the document's own URL."""
        return url in self._guesses

    def _first(self, servers: list[Any], pointer: str) -> str | None:
        if pointer not in self._urls:
            self._urls[pointer] = self._usable(servers, pointer)
        return self._urls[pointer]

    def _usable(self, servers: list[Any], pointer: str) -> str | None:
        """Return the first URL that can be used. Report the servers only where none can be used."""
        problems = []
        for index, server in enumerate(servers):
            try:
                return self._url(server, self._document.uri_of(pointer))
            except _UnusableServer as reason:
                if reason.message:
                    problems.append(self._defect(join(pointer, index), reason.message, reason.hint))
        self._problems += problems
        return None

    def _defect(self, pointer: str, message: str, hint: str) -> Problem:
        return Problem(pointer=self._resolver.display(pointer), message=message, kind="server", hint=hint)

    def _problem(self, pointer: str, message: str, hint: str) -> None:
        self._problems.append(self._defect(pointer, message, hint))

    def _url(self, server: Any, document_uri: str) -> str:
        template = server.get("url") if isinstance(server, dict) else None
        if not isinstance(template, str):
            raise _UnusableServer("the server is not an object with a `url`")
        return self._absolute(self._filled(template.strip(), server.get("variables")), document_uri)

    def _filled(self, template: str, variables: Any) -> str:
        """Return a URL with the values of its variables, which may occur many times."""
        url = ""
        for index, piece in enumerate(_VARIABLE.split(template)):  # names of variables at odd indexes
            url += self._value(piece, variables) if index % 2 else piece
            if len(url) > MAX_URL_LENGTH:
                raise _UnusableServer(f"the URL of the server is longer than {MAX_URL_LENGTH:,} characters")
        return url

    def _value(self, name: str, variables: Any) -> str:
        variable = variables.get(name) if isinstance(variables, dict) else None
        variable = variable if isinstance(variable, dict) else {}
        values = variable["enum"] if isinstance(variable.get("enum"), list) else []
        if name in self._variables:
            self._unused_variables.pop(name, None)
            return self._chosen_value(name, values)
        default = variable.get("default")
        if isinstance(default, bool) or not isinstance(default, str | int | float):
            hint = f"give --server-var {name}={values[0] if values else 'VALUE'}, or --base-url"
            raise _UnusableServer(f"the server variable {{{name}}} has no default", hint)
        return str(default)

    def _chosen_value(self, name: str, values: list[Any]) -> str:
        """Return the user's value. One that the document does not list is used, and reported."""
        value = self._variables[name]
        documented = [str(item) for item in values]
        if documented and value not in documented:
            message = f"{value} is not in the `enum` of the server variable {{{name}}}; it is used anyway"
            self._problem("#/servers", message, f"the documented values are {', '.join(documented[:20])}")
        return value

    def _absolute(self, url: str, document_uri: str) -> str:
        """Return a URL that calls can be sent to. A URL relative to a local file cannot be used, but is no defect."""
        try:
            from_web = urlsplit(document_uri).scheme in ("http", "https")
            if url.startswith("//") and not from_web:
                url = "https:" + url
            absolute = urljoin(document_uri.partition("?")[0], url) if from_web else url  # whose query may sign it
            if not urlsplit(absolute).scheme:
                raise _UnusableServer
            urls.parse_base_url(absolute)
        except (RequestError, ValueError) as error:
            raise _UnusableServer(f"no call can be sent to the server {url}") from error
        base_url = absolute.rstrip("/")
        if not urlsplit(url).netloc:
            self._guesses.add(base_url)
        return base_url


def check_variables(options: BaseUrlOptions, document: Document, operations: Iterable[Operation]) -> None:
    """Raise UsageError for the value of a variable that no server has, and for one that leads to another path."""
    if not options.variables:
        return
    for name, value in options.variables.items():
        if part := urls.dot_part(value):
            message = f"the value has the part `{part}`, which would lead to another path"
            raise UsageError(message, where=f"--server-var {name}=…", hint="give --base-url for another path")
    lists = (document.root.get("servers"), *(servers for operation in operations for servers, _ in operation.servers))
    names = list(dict.fromkeys(name for servers in lists for name in _variable_names(servers)))
    for name in options.variables:
        if name not in names:
            hint = suggest_names(name, names) or f"the variables of its servers are: {', '.join(names) or 'none'}"
            message = f"no server of the document has the variable {{{name}}}"
            raise UsageError(message, where=f"--server-var {name}=…", hint=hint)


def _variable_names(servers: Any) -> Iterator[str]:
    for server in servers if isinstance(servers, list) else ():
        if isinstance(server, dict):
            yield from _VARIABLE.findall(str(server.get("url")))
            variables = server.get("variables")
            yield from map(str, variables if isinstance(variables, dict) else ())


def _select_server(servers: list[Any], choice: int | str) -> LocatedNode:
    """Return a list of the one server that the user chose, and its pointer. Raises UsageError."""
    if isinstance(choice, int):
        index = choice if 0 <= choice < len(servers) else None
    else:
        index = next((i for i, server in enumerate(servers) if choice in _labels(server)), None)
    if index is None:
        urls_by_index = "; ".join(
            f"{i}: {server.get('url')}" for i, server in enumerate(servers) if isinstance(server, dict)
        )
        raise UsageError(
            f"the document has no server {choice}", where=f"--server {choice}", hint=urls_by_index or "give --base-url"
        )
    return [servers[index]], f"#/servers#{index}"


def _labels(server: Any) -> tuple[Any, ...]:
    return tuple(server.get(field) for field in ("url", "name", "description")) if isinstance(server, dict) else ()

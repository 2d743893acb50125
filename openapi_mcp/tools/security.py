"""Read the security requirements of an operation: OpenAPI's OR of ANDs, each scheme as far as a request needs it.

No credential is read here. A scheme that is not defined cannot be satisfied, so the alternative that names it is left
out. The scopes of an operation are read apart: who may call its tool does not depend on the credential that the server
itself has for the API. Specification: OpenAPI 3.2 Security Requirement Object and Security Scheme Object.
"""

from collections.abc import Mapping
from typing import Any, Final, get_args

from ..document.model import Document, join
from ..document.resolver import BrokenReference, Resolver
from ..errors import Problem
from ..runtime.tool import SecurityScheme, SecurityType
from .names import environment_variables
from .operations import Operation

Alternatives = tuple[tuple[SecurityScheme, ...], ...]
"""One of these groups of schemes is required, and of that all schemes."""

Scopes = tuple[tuple[str, ...], ...]
"""One of these groups of scopes is required, and of that all scopes; empty where none is."""

MAX_ALTERNATIVES: Final = 100
"""Security requirements of an operation, and schemes of each. Real documents have five of them and three schemes."""

_TYPES: Final[Mapping[str, SecurityType]] = {name: name for name in get_args(SecurityType)}
_LOCATIONS: Final = ("header", "query", "cookie")
_OAUTH: Final = ("oauth2", "openIdConnect")

AUTHORIZATION: Final = "Authorization"
"""The header of credentials, and the name of the scheme of operations that declare it as a parameter only."""


class Security:
    """The security schemes and requirements of one document."""

    def __init__(self, document: Document, resolver: Resolver) -> None:
        self.problems: list[Problem] = []
        self._root = document.root
        self._resolver = resolver
        self._nodes = _nodes(document)
        self._variables = environment_variables(dict.fromkeys((*self._nodes, AUTHORIZATION)), document.title)
        self._schemes: dict[str, SecurityScheme | None] = {}
        self._alternatives: dict[str, Alternatives] = {}
        self._types: dict[str, Any] = {}
        self._scopes: dict[str, Scopes] = {}

    def of(self, operation: Operation) -> Alternatives:
        """Return the alternatives in the document's order; empty where the operation requires no known scheme."""
        requirements, pointer = self._requirements(operation)
        if not isinstance(requirements, list):
            if requirements is not None:
                self._problem(pointer, "`security` is not a list; it is left out")
            return ()
        if pointer not in self._alternatives:
            self._alternatives[pointer] = self._read_requirements(requirements, pointer)
        return self._alternatives[pointer]

    def of_header(self) -> Alternatives:
        """Return what stands for the header parameter Authorization of an operation that requires no scheme.

        OpenAPI ignores the parameter, and no model may set it: the header is sent as an API key of the server.
        """
        defined = self._scheme(AUTHORIZATION, "#/components/securitySchemes") if AUTHORIZATION in self._nodes else None
        if defined is not None:
            return ((defined,),)
        node = {"in": "header", "name": AUTHORIZATION}
        return ((self._scheme_of_type(AUTHORIZATION, "apiKey", node),),)

    def scopes_of(self, operation: Operation) -> Scopes:
        """Return the scopes that a client's token needs for an operation.

        An alternative without OAuth, as an API key, says nothing about the rights of clients: it does not count beside
        one with scopes. The names that another scheme or an undefined one has are scopes too (roles, since 3.1).
        """
        requirements, pointer = self._requirements(operation)
        if pointer not in self._scopes:
            nodes = requirements if isinstance(requirements, list) else []
            alternatives = (self._demanded(node) for node in nodes if isinstance(node, dict))
            groups = dict.fromkeys(group for group in alternatives if group is not None)
            self._scopes[pointer] = () if () in groups else tuple(groups)
        return self._scopes[pointer]

    def _demanded(self, requirement: Mapping[str, Any]) -> tuple[str, ...] | None:
        """Return the scopes of one alternative, sorted; None where it says nothing about scopes."""
        values = [value for value in requirement.values() if isinstance(value, list)]
        scopes = {name for value in values for name in value if isinstance(name, str) and name}
        is_oauth = any(self._nodes_type(name) in _OAUTH for name in requirement)
        return tuple(sorted(scopes)) if scopes or is_oauth or not requirement else None

    def _nodes_type(self, name: str) -> Any:
        """Return the type of the scheme of a name, which thousands of requirements may have."""
        if name not in self._types:
            try:
                node, _ = self._resolver.follow(self._nodes.get(name), join("#/components/securitySchemes", name))
            except BrokenReference:
                node = None
            self._types[name] = node.get("type") if isinstance(node, dict) else None
        return self._types[name]

    def _requirements(self, operation: Operation) -> tuple[Any, str]:
        """Return the requirements of an operation, else of the document, and where they stand."""
        own = operation.value.get("security")
        if own is None:
            return self._root.get("security"), "#/security"
        return own, operation.pointer + "/security"

    def _read_requirements(self, requirements: list[Any], pointer: str) -> Alternatives:
        if (
            max(len(requirements), *(len(node) for node in requirements if isinstance(node, dict)), 0)
            > MAX_ALTERNATIVES
        ):
            self._problem(
                pointer, f"there are more than {MAX_ALTERNATIVES} alternatives, or schemes in one; these are left out"
            )
        some = [node for node in requirements if not (isinstance(node, dict) and len(node) > MAX_ALTERNATIVES)]
        alternatives = (
            self._alternative(node, join(pointer, index)) for index, node in enumerate(some[:MAX_ALTERNATIVES])
        )
        return tuple(dict.fromkeys(alternative for alternative in alternatives if alternative is not None))

    def _alternative(self, requirement: Any, pointer: str) -> tuple[SecurityScheme, ...] | None:
        if not isinstance(requirement, dict):
            self._problem(pointer, "the security requirement is not an object; it is left out")
            return None
        schemes = [self._scheme(name, pointer) for name in requirement]
        return None if None in schemes else tuple(scheme for scheme in schemes if scheme is not None)

    def _scheme(self, name: str, pointer: str) -> SecurityScheme | None:
        if name not in self._nodes:
            self._problem(pointer, f"the security scheme {name} is not defined; this alternative is left out")
            return None
        if name not in self._schemes:
            self._schemes[name] = self._read(name, join("#/components/securitySchemes", name))
        return self._schemes[name]

    def _read(self, name: str, pointer: str) -> SecurityScheme | None:
        try:
            node, pointer = self._resolver.follow(self._nodes[name], pointer)
        except BrokenReference as error:
            self.problems.append(error.problem)
            return None
        kind = _TYPES.get(node["type"]) if isinstance(node, dict) and isinstance(node.get("type"), str) else None
        if kind is None:
            self._problem(pointer, f"the security scheme {name} has no known type; alternatives with it are left out")
            return None
        if kind == "apiKey" and not (node.get("in") in _LOCATIONS and isinstance(node.get("name"), str)):
            message = f"the API key {name} has no valid `in` and `name`; alternatives with it are left out"
            self._problem(pointer, message)
            return None
        return self._scheme_of_type(name, kind, node)

    def _scheme_of_type(self, name: str, kind: SecurityType, node: Mapping[str, Any]) -> SecurityScheme:
        scheme = node.get("scheme")
        return SecurityScheme(
            name=name,
            type=kind,
            variable=self._variables[name],
            location=node["in"] if kind == "apiKey" else None,
            parameter=node["name"] if kind == "apiKey" else None,
            scheme=_scheme_name(scheme) if kind == "http" and isinstance(scheme, str) else None,
        )

    def _problem(self, pointer: str, message: str) -> None:
        self.problems.append(Problem(pointer=self._resolver.display(pointer), message=message, kind="security"))


def defined_schemes(document: Document) -> tuple[str, ...]:
    """Return the names of the security schemes that a document defines, used or not."""
    return tuple(map(str, _nodes(document)))


def _nodes(document: Document) -> dict[str, Any]:
    components = document.root.get("components")
    schemes = components.get("securitySchemes") if isinstance(components, dict) else None
    return schemes if isinstance(schemes, dict) else {}


def _scheme_name(text: str) -> str:
    """Return the scheme's name, `basic` and `bearer` in lower case: names are case-insensitive (RFC 9110 §11.1)."""
    return text.lower() if text.lower() in {"basic", "bearer"} else text

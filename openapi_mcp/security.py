"""What an operation asks for before it answers: OpenAPI's OR of ANDs, with each scheme as far as a request needs it.

No credential is ever read here. A scheme that is not defined cannot be satisfied, so the alternative that names it is
left out. Specification: OpenAPI 3.2 Security Requirement Object and Security Scheme Object.
"""

from collections.abc import Mapping
from typing import Any, Final, get_args

from .document import Document, join
from .errors import Problem
from .naming import environment_variables
from .operations import Operation
from .resolver import BrokenReference, Resolver
from .runtime.models import SecurityScheme, SecurityType

Alternatives = tuple[tuple[SecurityScheme, ...], ...]

_TYPES: Final[Mapping[str, SecurityType]] = {name: name for name in get_args(SecurityType)}
_LOCATIONS: Final = ("header", "query", "cookie")


class Security:
    """The security of one document."""

    def __init__(self, document: Document, resolver: Resolver) -> None:
        self.problems: list[Problem] = []
        self._root = document.root
        self._resolver = resolver
        components = document.root.get("components")
        schemes = components.get("securitySchemes") if isinstance(components, dict) else None
        self._nodes: dict[str, Any] = schemes if isinstance(schemes, dict) else {}
        self._variables = environment_variables(self._nodes, document.title)
        self._schemes: dict[str, SecurityScheme | None] = {}

    def of(self, operation: Operation) -> Alternatives:
        """The alternatives, most wanted first; none where the operation asks for nothing (or for nothing known)."""
        own = operation.value.get("security")
        wanted, pointer = (
            (self._root.get("security"), "#/security") if own is None else (own, operation.pointer + "/security")
        )
        if not isinstance(wanted, list):
            if wanted is not None:
                self._problem(pointer, "`security` is a list; this one is left out")
            return ()
        found = (self._alternative(requirement, join(pointer, index)) for index, requirement in enumerate(wanted))
        return tuple(dict.fromkeys(alternative for alternative in found if alternative is not None))

    def _alternative(self, requirement: Any, pointer: str) -> tuple[SecurityScheme, ...] | None:
        if not isinstance(requirement, dict):
            self._problem(pointer, "a security requirement is an object; this one is left out")
            return None
        schemes = [self._scheme(name, pointer) for name in requirement]
        return None if None in schemes else tuple(scheme for scheme in schemes if scheme is not None)

    def _scheme(self, name: str, pointer: str) -> SecurityScheme | None:
        if name not in self._nodes:
            self._problem(pointer, f"there is no security scheme {name}; this alternative is left out")
            return None
        if name not in self._schemes:
            self._schemes[name] = self._read(name, join("#/components/securitySchemes", name))
        return self._schemes[name]

    def _read(self, name: str, pointer: str) -> SecurityScheme | None:
        try:
            node, place = self._resolver.follow(self._nodes[name], pointer)
        except BrokenReference as error:
            self.problems.append(error.problem)
            return None
        kind = _TYPES.get(node["type"]) if isinstance(node, dict) and isinstance(node.get("type"), str) else None
        if kind is None:
            self._problem(place, f"the security scheme {name} has no known type; alternatives with it are left out")
            return None
        if kind == "apiKey" and not (node.get("in") in _LOCATIONS and isinstance(node.get("name"), str)):
            self._problem(place, f"the API key {name} does not say where it goes; alternatives with it are left out")
            return None
        return self._made(name, kind, node)

    def _made(self, name: str, kind: SecurityType, node: Mapping[str, Any]) -> SecurityScheme:
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
        self.problems.append(Problem(pointer=self._resolver.shown(pointer), message=message, kind="security"))


def _scheme_name(text: str) -> str:
    """Two are known in any spelling, for the names are case-insensitive (RFC 9110 §11.1)."""
    return text.lower() if text.lower() in {"basic", "bearer"} else text

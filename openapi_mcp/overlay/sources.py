"""Apply overlays that stand in files or at URLs to a document that is being loaded."""

from collections.abc import Sequence
from typing import Any, Final

from ..curation.arguments import UserText, variable_of
from ..document.loader import Amendment, Reader
from ..errors import Problem
from .application import Forget, Overlay


def amendment(sources: Sequence[str]) -> Amendment | None:
    """Return a function that applies the overlays at these paths and URLs, in order; None if there are none.

    It raises DocumentError for a source that cannot be read or is no overlay.
    """
    if not sources:
        return None

    def amend(root: Any, uri: str, read: Reader, forget: Forget) -> list[Problem]:
        problems: list[Problem] = []
        for source in sources:
            overlay, place = read(source)
            problems += Overlay(_of_user(overlay), place).apply(root, uri, forget)
        return problems

    return amend


_VALUES: Final = frozenset({"default", "fixed", "update"})
"""Keys whose texts may name environment variables: two of `x-mcp`, and that of an action which sets one of these."""


def _of_user(node: Any, key: str = "") -> Any:
    """Return JSON whose texts that name environment variables are marked as the user's own."""
    if isinstance(node, dict):
        return {name: _of_user(value, name) for name, value in node.items()}
    if isinstance(node, list):
        return [_of_user(item) for item in node]
    return UserText(node) if key in _VALUES and isinstance(node, str) and variable_of(node) is not None else node

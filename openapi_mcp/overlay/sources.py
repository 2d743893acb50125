"""Apply overlays that stand in files or at URLs to a document that is being loaded."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from ..curation.arguments import UserText, names_source
from ..document.fetcher import Fetcher
from ..document.loader import Amendment, Reader
from ..document.model import DEFAULT_LIMITS
from ..document.parser import parse, text_of
from ..document.sources import read_root
from ..errors import Problem
from ..runtime.types import JsonObject
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


def read_overlay(path: Path) -> JsonObject:
    """Return the overlay in a file. Raises DocumentError for one that cannot be read or is no overlay."""
    content = read_root(str(path), Fetcher(""), DEFAULT_LIMITS)
    text, _ = text_of(content.data, content.uri, content.charset)
    return dict(Overlay(parse(text, DEFAULT_LIMITS).value, str(path)).root)


_EXTENSION: Final = "x-mcp"


def _of_user(node: Any, *, inside: bool = False) -> Any:
    """Return JSON whose texts that name environment variables are marked as the user's own, where it is `x-mcp`."""
    if isinstance(node, dict):
        inside = inside or _EXTENSION in str(node.get("target", ""))
        return {name: _of_user(value, inside=inside or name == _EXTENSION) for name, value in node.items()}
    if isinstance(node, list):
        return [_of_user(item, inside=inside) for item in node]
    return UserText(node) if inside and names_source(node) else node

"""Apply overlays that stand in files or at URLs to a document that is being loaded."""

from collections.abc import Sequence
from typing import Any

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
            problems += Overlay(*read(source)).apply(root, uri, forget)
        return problems

    return amend

"""The capabilities that a server declares, with its extensions (basic, "Capability Negotiation" of each revision)."""

from ..types import JsonObject
from .messages import TASKS_EXTENSION, ServerDescription
from .revisions import Revision


def capabilities(description: ServerDescription, revision: Revision, *, tasks: bool = False) -> JsonObject:
    """Return the capabilities of a server in a revision; `tasks` in one that has the extension for them."""
    declared = revision.capabilities(list_changed=description.list_changed)
    extensions: JsonObject = {TASKS_EXTENSION: {}} if tasks else {}
    if description.skills:
        from .skills import EXTENSION, SETTINGS

        declared["resources"], extensions[EXTENSION] = {}, dict(SETTINGS)
    return {**declared, "extensions": extensions} if extensions else declared

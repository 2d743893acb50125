"""`ApiSkills`: answers requests of clients about the skills of APIs (`io.modelcontextprotocol/skills`), one for each.

They are made at the first request of a caller with other rights than the callers before, and kept as long as the tools
of these callers are.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias
from weakref import WeakKeyDictionary

from ..runtime.protocol import ResourceRequest
from ..runtime.protocol import skills as protocol
from ..runtime.server.catalog import Catalog
from ..runtime.types import JsonObject
from .skill import DIRECTORY, MARKDOWN, Skill, SkillFile


class ApiSkills:
    """The skills of the APIs of a server; `compose` makes them for the tools of a caller."""

    def __init__(self, compose: Callable[[Catalog], Sequence[Skill]]) -> None:
        self._compose = compose
        self._skills: WeakKeyDictionary[Catalog, Sequence[Skill]] = WeakKeyDictionary()

    def answer(self, request: ResourceRequest, catalog: Catalog) -> JsonObject:
        """Return the reply to a request, for a caller that has the tools of the catalog and no others."""
        if request.params.get("cursor") is not None:
            return protocol.refuse(request, "There is no such page: the whole list is on the first one.")
        outcome = _ANSWERS[request.method](self.skills(catalog), request.params.get("uri") or "")
        return protocol.refuse(request, outcome) if isinstance(outcome, str) else protocol.reply(request, outcome)

    def skills(self, catalog: Catalog) -> Sequence[Skill]:
        """Return the skills for the tools of a catalog."""
        if catalog not in self._skills:
            self._skills[catalog] = self._compose(catalog)
        return self._skills[catalog]


def _list_skills(skills: Sequence[Skill], _uri: str) -> JsonObject:
    return {"skills": [skill.entry for skill in skills]}


def _get_skill(skills: Sequence[Skill], uri: str) -> JsonObject | str:
    for skill in skills:
        if uri == skill.uri:
            return {"skill": skill.entry}
    return "There is no skill at this URI; skills/list names those there are."


def _list_resources(skills: Sequence[Skill], _uri: str) -> JsonObject:
    return {"resources": [_resource(skill, uri, file) for skill in skills for uri, file in skill.by_uri.items()]}


def _list_templates(_skills: Sequence[Skill], _uri: str) -> JsonObject:
    return {"resourceTemplates": []}


def _read_resource(skills: Sequence[Skill], uri: str) -> JsonObject | str:
    for skill in skills:
        if (file := skill.by_uri.get(uri)) is not None:
            return {"contents": [{"uri": uri, "mimeType": MARKDOWN, "text": file.text}]}
    return "There is no resource at this URI; resources/list names those there are."


def _read_directory(skills: Sequence[Skill], uri: str) -> JsonObject | str:
    for skill in skills:
        if uri == skill.root or uri.startswith(f"{skill.root}/"):
            return _read_folder(skill, uri)
    return _NO_FOLDER


def _read_folder(skill: Skill, uri: str) -> JsonObject | str:
    """Return what is directly in a folder: its files, then its folders."""
    prefix = f"{uri}/"
    inside = {each: file for each, file in skill.by_uri.items() if each.startswith(prefix)}
    if uri != skill.root and not inside:
        return _NO_FOLDER
    files = [_resource(skill, each, file) for each, file in inside.items() if "/" not in each.removeprefix(prefix)]
    names = dict.fromkeys(rest.partition("/")[0] for each in inside if "/" in (rest := each.removeprefix(prefix)))
    folders = [{"uri": f"{prefix}{name}", "name": name, "mimeType": DIRECTORY} for name in names]
    return {"resources": [*files, *folders]}


def _resource(skill: Skill, uri: str, file: SkillFile) -> JsonObject:
    """Return a file as a resource; that of `SKILL.md` has the name and the description of the skill."""
    is_main = uri == skill.uri
    return {
        "uri": uri,
        "name": skill.name if is_main else file.path.rpartition("/")[2],
        "description": skill.description if is_main else file.title,
        "mimeType": MARKDOWN,
        "size": len(file.content),
    }


_NO_FOLDER: Final = "There is no folder at this URI; a skill's own is its URI without /SKILL.md."

_Answer: TypeAlias = Callable[[Sequence[Skill], str], JsonObject | str]
_ANSWERS: Final[Mapping[str, _Answer]] = MappingProxyType(
    {
        protocol.LIST_SKILLS: _list_skills,
        protocol.GET_SKILL: _get_skill,
        protocol.LIST_RESOURCES: _list_resources,
        protocol.LIST_TEMPLATES: _list_templates,
        protocol.READ_RESOURCE: _read_resource,
        protocol.READ_DIRECTORY: _read_directory,
    }
)
"""The function of each method: it returns the result, or a sentence about what does not exist."""

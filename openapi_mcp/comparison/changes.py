"""`ToolChange`, one difference between two sets of tools, and the table that says which kinds of it break callers.

A change breaks callers if a call that was right before may be refused or mean something else now, or if a program that
reads answers may miss what it used. docs/diff.md describes each kind under its name.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Side: TypeAlias = Literal["argument", "result"]
"""Values that a caller gives, and values that it gets."""


@dataclass(frozen=True, slots=True)
class ChangeRule:
    """A kind of change: whether it breaks callers, and its sentence, with `{before}` and `{after}` for the values."""

    breaking: bool
    sentence: str


RULES: Final[Mapping[str, ChangeRule]] = {
    "tool-removed": ChangeRule(True, "the tool is gone"),
    "tool-renamed": ChangeRule(True, "the tool is named {after}, was {before}"),
    "tool-added": ChangeRule(False, "a new tool"),
    "tool-deprecated": ChangeRule(False, "the tool is deprecated"),
    "tool-restored": ChangeRule(False, "the tool is no longer deprecated"),
    "title-changed": ChangeRule(False, "the title is “{after}”, was “{before}”"),
    "description-changed": ChangeRule(False, "the description is “{after}”, was “{before}”"),
    "hints-changed": ChangeRule(False, "the hints are {after}, were {before}"),
    "request-changed": ChangeRule(False, "the request is {after}, was {before}"),
    "base-url-changed": ChangeRule(True, "calls go to {after}, went to {before}"),
    "credential-required": ChangeRule(True, "a call needs other credentials: {after}, were {before}"),
    "credential-optional": ChangeRule(False, "a call may use other credentials too: {after}, were {before}"),
    "scopes-required": ChangeRule(True, "a caller needs the scopes {after}, were {before}"),
    "scopes-optional": ChangeRule(False, "a caller may have fewer scopes: {after}, were {before}"),
    "argument-removed": ChangeRule(True, "the argument is gone"),
    "argument-renamed": ChangeRule(True, "the argument is named {after}, was {before}"),
    "argument-added": ChangeRule(False, "a new optional argument"),
    "argument-added-required": ChangeRule(True, "a new argument that every call needs"),
    "argument-required": ChangeRule(True, "the argument is required now"),
    "argument-optional": ChangeRule(False, "the argument is optional now"),
    "argument-type-narrowed": ChangeRule(True, "the type is {after}, was {before}"),
    "argument-type-widened": ChangeRule(False, "the type is {after}, was {before}"),
    "argument-type-changed": ChangeRule(True, "the type is {after}, was {before}"),
    "argument-values-removed": ChangeRule(True, "these values are refused now: {before}"),
    "argument-values-added": ChangeRule(False, "these values are accepted too: {after}"),
    "argument-limit-narrowed": ChangeRule(True, "the limit is {after}, was {before}"),
    "argument-limit-widened": ChangeRule(False, "the limit is {after}, was {before}"),
    "argument-form-changed": ChangeRule(True, "the form is {after}, was {before}"),
    "argument-default-changed": ChangeRule(True, "without it the value is {after}, was {before}"),
    "argument-description-changed": ChangeRule(False, "the description is “{after}”, was “{before}”"),
    "argument-deprecated": ChangeRule(False, "the argument is deprecated"),
    "result-described": ChangeRule(False, "the result has a schema now"),
    "result-undescribed": ChangeRule(False, "the result no longer has a schema"),
    "result-field-removed": ChangeRule(True, "the field is gone"),
    "result-field-added": ChangeRule(False, "a new field"),
    "result-field-required": ChangeRule(False, "the field is always there now"),
    "result-field-optional": ChangeRule(True, "the field may be missing now"),
    "result-type-narrowed": ChangeRule(False, "the type is {after}, was {before}"),
    "result-type-widened": ChangeRule(True, "the type is {after}, was {before}"),
    "result-type-changed": ChangeRule(True, "the type is {after}, was {before}"),
    "result-description-changed": ChangeRule(False, "the description is “{after}”, was “{before}”"),
}
"""Every kind of change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolChange:
    """A change of one tool. `tool` is its new name, or that of a tool that is gone; `operation` is `GET /pets`.

    `place` is the argument or the field of the result that changed: `pet.tags[]`; empty where it is the tool itself.
    """

    kind: str
    tool: str
    operation: str
    place: str = ""
    before: str = ""
    after: str = ""

    @property
    def is_breaking(self) -> bool:
        """True if changes of this kind break callers."""
        return RULES[self.kind].breaking

    @property
    def sentence(self) -> str:
        """Description of the change in words."""
        return RULES[self.kind].sentence.replace("{after}", self.after).replace("{before}", self.before)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The changes from one set of tools to another, those that break callers first; `omitted` have no room.

    `old` and `new` name the documents, `old_tools` and `new_tools` count their tools.
    """

    old: str
    new: str
    old_tools: int
    new_tools: int
    changes: tuple[ToolChange, ...]
    omitted: bool = False

    @property
    def breaking(self) -> int:
        """The number of changes that break callers."""
        return sum(change.is_breaking for change in self.changes)

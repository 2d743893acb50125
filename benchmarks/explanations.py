"""Explanations of refusals whose cause is a fault of Prism or of the document.

Each is as narrow as possible and was found by reading the document, the specification and Prism's source (version in
prism/package.json). A refusal without an explanation counts as a defect of this project.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import unquote_plus

from .driving import Refusal
from .referee import Reason

Whose = Literal["Prism's", "the document's"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The cause of a kind of refusal and who is at fault; empty `documents` means any document."""

    whose: Whose
    why: str
    message: str
    documents: tuple[str, ...] = ()
    only_if: Callable[[Refusal, Reason], bool] = lambda _, __: True

    def covers(self, document: str, refusal: Refusal, reason: Reason) -> bool:
        """Return whether this explains a reason."""
        named = not self.documents or document in self.documents
        return named and re.search(self.message, str(reason)) is not None and self.only_if(refusal, reason)


def explain(document: str, refusal: Refusal) -> tuple[Explanation, ...]:
    """Return the explanations of a refusal; empty unless every reason has one."""
    explanations = [
        next((item for item in EXPLANATIONS if item.covers(document, refusal, reason)), None)
        for reason in refusal.reasons
    ]
    return tuple(dict.fromkeys(item for item in explanations if item)) if all(explanations) else ()


def _text(refusal: Refusal) -> str:
    """Return query and body as text, decoded as forms."""
    if refusal.request is None:
        return ""
    query = unquote_plus(refusal.request.url.query.decode("ascii"))
    return f"{query}&{unquote_plus(refusal.request.content.decode('utf-8', 'replace'))}"


def _deep_name(reason: Reason) -> str:
    return "".join(f"[{token}]" for token in reason.location[1:]).replace("[", "", 1).replace("]", "", 1)


def _missing(reason: Reason) -> str:
    return reason.message.rpartition("required property '")[2].rstrip("'")


def _was_not_sent(refusal: Refusal, reason: Reason) -> bool:
    return len(reason.location) > 1 and f"{_deep_name(reason)}[" not in _text(refusal)


def _is_sent(refusal: Refusal, reason: Reason) -> bool:
    return len(reason.location) > 1 and reason.location[1] in _text(refusal)


def _are_allowed_items(refusal: Refusal, reason: Reason) -> bool:
    """Return whether a list was sent that has only values that are allowed for the whole."""
    allowed = reason.message.rpartition("allowed values: ")[2].split(", ")
    sent = {name.lower(): value for name, value in refusal.arguments.items()}.get(reason.location[-1].lower())
    return isinstance(sent, list) and all(str(item) in allowed for item in sent)


def _is_yaml(refusal: Refusal, _: Reason) -> bool:
    return refusal.request is not None and refusal.request.headers.get("content-type", "").endswith("yaml")


def _is_path(pattern: str) -> Callable[[Refusal, Reason], bool]:
    """Return a condition for the template of the operation's path."""
    return lambda refusal, _: re.search(pattern, refusal.path) is not None


def _is_json_field(refusal: Refusal, reason: Reason) -> bool:
    kind = refusal.request.headers.get("content-type", "") if refusal.request else ""
    return kind == "application/x-www-form-urlencoded" and f"{reason.location[-1]}={{" in _text(refusal)


def _is_multipart(refusal: Refusal, reason: Reason) -> bool:
    kind = refusal.request.headers.get("content-type", "") if refusal.request else ""
    return kind.startswith("multipart/") and _is_sent(refusal, reason)


def _is_multiple_fit(refusal: Refusal, _: Reason) -> bool:
    """Return whether several alternatives of a `oneOf` fit; Prism names those that do not fit, too."""
    return any("must match exactly one schema in oneOf" in reason.message for reason in refusal.reasons)


EXPLANATIONS: Final = (
    Explanation(
        "the document's",
        "a query or fragment in the key of its path, which is none of a path's template: Prism finds no operation for "
        "the request, or judges it by that of the same path without it",
        r"",
        only_if=_is_path(r"[?#]"),
    ),
    Explanation(
        "Prism's",
        "of two expressions side by side in a path (`{id}{extension}`) it reads one name, which has no value",
        r"path\b.* must |NO_PATH_MATCHED",
        only_if=_is_path(r"\}\{"),
    ),
    Explanation(
        "Prism's",
        "it finds no path with an expression whose name has a dot, which it escapes first and looks for unescaped",
        r"NO_PATH_MATCHED",
        only_if=_is_path(r"\{[^{}]*\.[^{}]*\}"),
    ),
    Explanation(
        "Prism's",
        "it reads no YAML in bodies, and takes it for a text",
        r"body: Request body must be (object|array)",
        only_if=_is_yaml,
    ),
    Explanation(
        "Prism's",
        "of a deepObject that is not sent it makes empty arrays, and misses their items",
        r"query\..* must NOT have fewer than \d+ items",
        only_if=_was_not_sent,
    ),
    Explanation(
        "Prism's",
        "it misses readOnly properties below `oneOf`, which a request must not send, so that no alternative fits",
        r"must have required property '(id|createdAt|brand|vat)'|must match exactly one schema in oneOf",
        ("read-only-unions",),
    ),
    Explanation(
        "the document's",
        "several alternatives of a `oneOf` fit, as one accepts all that another accepts",
        r"must match exactly one schema in oneOf|path\.sensor: .* must match pattern",
        ("overlapping-unions",),
        only_if=_is_multiple_fit,
    ),
    Explanation(
        "Prism's",
        "of a deepObject that is not sent, or only in part, it makes objects without properties, and misses those",
        r"must have required property",
        only_if=_was_not_sent,
    ),
    Explanation(
        "Prism's",
        "it does not find the arrays and objects of a deepObject that its schema allows by `anyOf`",
        r"must have required property",
        only_if=lambda refusal, reason: f"{_deep_name(reason)}[{_missing(reason)}][" in _text(refusal),
    ),
    Explanation(
        "Prism's",
        "it wants the objects of an array in a deepObject form as JSON text, whatever style the document declares",
        r"Cannot deserialize JSON object array in form data",
    ),
    Explanation(
        "Prism's",
        "of an array in a form, whose items are fields of one name, it reads the last field only, as a string where "
        "the document writes no `encoding`",
        r"body\.\S+: Request body property \S+ must be array",
        only_if=_is_sent,
    ),
    Explanation(
        "Prism's",
        "it does not read fields of application/x-www-form-urlencoded as the JSON that the default for objects is",
        r"body\.\w+: Request body property \w+ must be object",
        only_if=_is_json_field,
    ),
    Explanation(
        "Prism's",
        "it does not read parts of multipart/form-data as the JSON that they say they are (the default for objects)",
        r"body\.\w+: Request body property \w+ must be object",
        only_if=_is_multipart,
    ),
    Explanation(
        "Prism's",
        "it drops form properties that the document does not declare, and then misses the one that is required",
        r"body: Request body must have required property 'grant_type'",
        ("box",),
        only_if=lambda refusal, _: "grant_type=" in _text(refusal),
    ),
    Explanation(
        "the document's",
        "an array of objects or arrays in the query: `style: form` does not define how (Style Values)",
        r"query\.\w+\.\d+: .* must be (object|array)",
    ),
    Explanation(
        "the document's",
        "it writes the values of an array's items beside `items`: the array itself would have to be one of them",
        r"must be equal to one of the allowed values",
        only_if=_are_allowed_items,
    ),
    Explanation(
        "the document's",
        "its body parameters say no `consumes`; JSON is what is sent, and Prism takes silence for none",
        r"INVALID_CONTENT_TYPE: No supported content types",
        ("petstore-v2",),
    ),
    Explanation(
        "the document's",
        "its patterns are written between slashes, `/…/`: read to the letter, no string matches them",
        r'must match pattern "/.*/[a-z]*"$',
    ),
    Explanation(
        "the document's",
        "it consumes application/octet-stream, and wants the header Content-type to be application/x-tar",
        r"header\.content-type: .* application/x-tar",
        ("docker-engine",),
    ),
    Explanation(
        "the document's",
        "the schema forbids the property that it requires",
        r"body: Request body must .*'securitySchemeLevelMembers'",
        ("jira",),
    ),
    Explanation(
        "the document's",
        "its multipart body is one binary string, so that the part has no name: it is sent as `file`",
        r"body: Request body must be string",
        only_if=lambda refusal, _: 'name="file"' in _text(refusal),
    ),
    Explanation(
        "the document's",
        "several alternatives of a `oneOf` fit, as none excludes the others; its discriminator says which is meant",
        r"must match exactly one schema in oneOf|context\.custom\.\d+ must have required property 'accountId'",
        ("digitalocean", "jira"),
    ),
    Explanation(
        "the document's",
        "a value with the properties of two alternatives of a `oneOf` fits both, as neither excludes the other's; the "
        "bridge accepts it, since a model cannot act on that refusal",
        r"body.* must match exactly one schema in oneOf|tool_resources must (be null|match a schema in anyOf)",
        ("github-rest", "redocly-pets", "openai"),
    ),
)

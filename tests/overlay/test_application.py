"""Overlays as they are applied: the specification's examples and cases, and what cannot be applied."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from openapi_mcp.errors import DocumentError
from openapi_mcp.overlay.application import MAX_INSERTED, Overlay
from openapi_mcp.overlay.paths import InvalidQuery, node_at, normalized, select
from tests.conftest import SHARED

STANDARDS = SHARED / "standards"
URI = "file:///overlay.yaml"


def overlay(*actions: Any, version: str = "1.1.0", **root: Any) -> Overlay:
    info = {"title": "Test", "version": "1"}
    return Overlay({"overlay": version, "info": info, "actions": list(actions), **root}, URI)


def applied(document: Any, *actions: Any, version: str = "1.1.0") -> Any:
    result = copy.deepcopy(document)
    assert overlay(*actions, version=version).apply(result, "") == []
    return result


def refusals(document: Any, *actions: Any) -> list[str]:
    """The messages about actions that cannot be applied, which change nothing."""
    result = copy.deepcopy(document)
    problems = overlay(*actions).apply(result, "")
    assert result == document
    assert [problem.pointer for problem in problems] == [f"{URI}#/actions/{index}" for index in range(len(actions))]
    return [problem.message for problem in problems]


def cases(pattern: str) -> list[Path]:
    return sorted(STANDARDS.glob(pattern)) if STANDARDS.exists() else []


needs_standards = pytest.mark.skipif(not STANDARDS.exists(), reason="../shared/standards is not there")


def identify(path: Path) -> str:
    return path.relative_to(STANDARDS / "overlay").as_posix()


@needs_standards
@pytest.mark.parametrize("folder", cases("overlay/compliant-sets/*/"), ids=lambda path: path.name)
def test_compliant_set_has_its_output(folder: Path) -> None:
    document, made, expected = (
        yaml.safe_load((folder / f"{name}.yaml").read_text()) for name in ("openapi", "overlay", "output")
    )
    problems = Overlay(made, URI).apply(document, "")
    assert document == expected
    assert [problem.pointer for problem in problems if not problem.pointer.endswith("#/extends")] == []


@needs_standards
@pytest.mark.parametrize("path", cases("overlay/tests/*/pass/*.yaml"), ids=identify)
def test_valid_overlay_is_read(path: Path) -> None:
    Overlay(yaml.safe_load(path.read_text()), URI)


@needs_standards
@pytest.mark.parametrize("path", cases("overlay/tests/*/fail/*.yaml"), ids=identify)
def test_invalid_overlay_is_refused(path: Path) -> None:
    with pytest.raises(DocumentError):
        Overlay(yaml.safe_load(path.read_text()), URI)


@needs_standards
def test_all_cases_of_the_jsonpath_compliance_suite_hold() -> None:
    suite = json.loads((STANDARDS / "jsonpath" / "cts.json").read_text())["tests"]
    assert len(suite) == 703
    for case in suite:
        if case.get("invalid_selector"):
            with pytest.raises(InvalidQuery):
                select(case["selector"], {})
        else:
            found = [node_at(case["document"], location) for location in select(case["selector"], case["document"])]
            assert found == case.get("result") or found in case.get("results", []), case["name"]


@pytest.mark.parametrize(
    ("target", "update", "result"),
    [
        ("$", {"c": 1}, {"a": {"b": [1]}, "c": 1}),
        ("$.a", {"b": [2], "d": None}, {"a": {"b": [1, 2], "d": None}}),
        ("$.a.b", [2, 3], {"a": {"b": [1, 2, 3]}}),
        ("$.a.b", {"x": 1}, {"a": {"b": [1, {"x": 1}]}}),
        ("$.a.b[0]", "one", {"a": {"b": ["one"]}}),
    ],
)
def test_update_merges_concatenates_and_replaces(target: str, update: Any, result: Any) -> None:
    assert applied({"a": {"b": [1]}}, {"target": target, "update": update}) == result


def test_version_1_0_appends_an_array_as_one_entry() -> None:
    action = {"target": "$.a", "update": [2]}
    assert applied({"a": [1]}, action, version="1.0.0") == {"a": [1, [2]]}
    assert applied({"a": [1]}, action) == {"a": [1, 2]}


def test_remove_takes_all_that_is_selected_also_within_each_other() -> None:
    document = {"a": [1, 2, 3, 4], "b": {"b": {"b": 1}}}
    assert applied(document, {"target": "$.a[1:3]", "remove": True}) == {"a": [1, 4], "b": {"b": {"b": 1}}}
    assert applied(document, {"target": "$..b", "remove": True}) == {"a": [1, 2, 3, 4]}


def test_copy_takes_what_is_there_then() -> None:
    actions = (
        {"target": "$", "update": {"new": {}}},
        {"target": "$.new", "copy": "$.old"},
        {"target": "$.old", "remove": True},
    )
    assert applied({"old": {"a": [1]}}, *actions) == {"new": {"a": [1]}}


def test_what_is_copied_is_not_shared() -> None:
    result = applied({"a": [{}, {}]}, {"target": "$.a[*]", "update": {"x": []}}, {"target": "$.a[0].x", "update": 1})
    assert result == {"a": [{"x": [1]}, {"x": []}]}


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ({"target": "$.none", "update": 1}, "the target $.none matches nothing"),
        ({"target": "$.a[", "update": 1}, "`target` $.a[ is not a JSONPath query (RFC 9535)"),
        ({"target": "$..*..*..*..*", "remove": True}, "more than 3 descendant segments"),
        ({"target": "$", "remove": True}, "the root of the document cannot be removed"),
        ({"target": "$.a", "update": 1}, "$['a'] is an object, and the update is a primitive value"),
        ({"target": "$", "update": {"a": {"b": {"c": 1}}}}, "$['a']['b'] is an array, and the update is an object"),
        ({"target": "$.a.*", "update": {}}, "$['a']['s'] is a primitive value"),
        ({"target": "$['a','s']", "update": {}}, "they must be of one kind"),
        ({"target": "$.a", "copy": "$.a.b[*]"}, "`copy` $.a.b[*] selects 2 nodes, and must select one"),
        ({"target": "$.a", "copy": "$.zzz"}, "`copy` $.zzz selects 0 nodes, and must select one"),
    ],
)
def test_what_cannot_be_applied_changes_nothing_and_says_why(action: Any, message: str) -> None:
    document = {"a": {"b": [1, 2], "s": "text"}, "s": 1}
    (refusal,) = refusals(document, action)
    assert message in refusal or "of one kind" in refusal


def test_other_actions_are_applied() -> None:
    document: Any = {"a": 1}
    problems = overlay({"target": "$.none", "remove": True}, {"target": "$", "update": {"b": 2}}).apply(document, "")
    assert document == {"a": 1, "b": 2}
    assert [problem.pointer for problem in problems] == [f"{URI}#/actions/0"]


def test_extends_of_another_document_is_reported() -> None:
    made = overlay({"target": "$", "update": {}}, extends="./pets.yaml")
    assert made.apply({}, "file:///pets.yaml") == []
    (problem,) = made.apply({}, "file:///other.yaml")
    assert problem.pointer == f"{URI}#/extends"


@pytest.mark.slow
def test_overlays_that_multiply_are_bounded() -> None:
    document: Any = {"a": [0] * 1000}
    actions = [{"target": "$", "update": {f"b{number}": {}}} for number in range(40)]
    copies = [{"target": f"$.b{number}", "copy": "$"} for number in range(40)]
    problems = overlay(*actions, *copies).apply(document, "")
    assert any("that is too much" in problem.message for problem in problems)
    assert problems[-1].message == "the actions after it are left out"
    assert len(json.dumps(document)) < 20 * MAX_INSERTED


@pytest.mark.parametrize("name", ["a", "it's", "\\", "\n", "\u0001", "/pets/{id}", "é"])
def test_normalized_paths_are_read_back(name: str) -> None:
    document = {"x": [{name: 1, "other": 2}]}
    assert select(normalized(("x", 0, name)), document) == [("x", 0, name)]

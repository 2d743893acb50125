"""The score: JAIRF's formulas, weights and caps, and the reason for each part."""

from pathlib import Path
from typing import Any

import pytest

from openapi_mcp.check.readiness import score as scoring
from openapi_mcp.check.readiness.signals import Census, Signal
from tests.check.judging import judged, minimal

GET: dict[str, Any] = {"operationId": "listPets", "summary": "Pets", "tags": ["pets"], "responses": {}}
BEARER = {"components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}}}}


def signals(root: Any, folder: Path) -> dict[str, Signal]:
    return {signal.name: signal for part in judged(folder, root).score.dimensions for signal in part.signals}


def test_the_weights_are_those_of_the_framework_and_the_mean_is_harmonic() -> None:
    published = {"FC": 0.16, "DXJ": 0.18, "ARAX": 0.24, "AU": 0.20, "SEC": 0.12}  # and AID (0.10), which is left out
    assert dict(scoring.WEIGHTS) == published
    assert scoring._harmonic(dict.fromkeys(scoring.WEIGHTS, 80.0)) == pytest.approx(80, abs=0.01)
    unbalanced = dict.fromkeys(scoring.WEIGHTS, 90.0) | {"SEC": 20.0}
    assert scoring._harmonic(unbalanced) == pytest.approx(0.9 / (0.78 / 90 + 0.12 / 20), abs=0.01)
    assert scoring._harmonic(dict.fromkeys(scoring.WEIGHTS, 0.0)) == pytest.approx(0, abs=0.01)


def test_security_is_capped_where_changes_need_no_credential(tmp_path: Path) -> None:
    root = {**minimal({"/pets": {"post": GET}}), **BEARER, "servers": [{"url": "https://x.example.com"}]}
    report = judged(tmp_path, root)
    (part,) = (each for each in report.score.dimensions if each.id == "SEC")
    assert (part.score, part.limit) == (40.0, "at most 40: changes need no credential")
    root["security"] = [{"token": []}]
    (part,) = (each for each in judged(tmp_path, root).score.dimensions if each.id == "SEC")
    assert part.score == pytest.approx(100 * (1 + 0.75 + 1 + 1) / 4, abs=0.1)


def test_public_calls_without_tls_halve_it_and_those_of_this_machine_do_not(tmp_path: Path) -> None:
    for url, value in (("http://api.example.com", 50.0), ("http://localhost:8000", 100.0)):
        (part,) = (
            each
            for each in judged(tmp_path, {**minimal({"/p": {"get": GET}}), "servers": [{"url": url}]}).score.dimensions
            if each.id == "SEC"
        )
        assert part.score <= value


def test_a_key_in_a_text_is_found_and_one_in_an_example_is_an_example(tmp_path: Path) -> None:
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    assert (
        signals(minimal({"/p": {"get": {**GET, "description": f"Use {key}"}}}), tmp_path)["secret_hygiene"].value == 0
    )
    shown = {"parameters": [{"name": "key", "in": "query", "example": key}]}
    assert signals(minimal({"/p": {"get": {**GET, **shown}}}), tmp_path)["secret_hygiene"].value == 1


@pytest.mark.parametrize(
    ("name", "root", "value"),
    [
        ("example_density", minimal({"/p": {"get": {**GET, "parameters": [{"name": "q", "in": "query"}]}}}), 0.0),
        ("response_coverage", minimal({"/p": {"get": {**GET, "responses": {"200": {"description": "A"}}}}}), 0.0),
        (
            "response_coverage",
            minimal({"/p": {"get": {**GET, "responses": {"200": {"description": "A"}, "404": {"description": "B"}}}}}),
            1.0,
        ),
        ("policy_presence", minimal({"/p": {"get": {**GET, "responses": {"429": {"description": "A"}}}}}), 1.0),
        (
            "error_standardization",
            minimal({"/p": {"get": {**GET, "responses": {"400": {"content": {"application/problem+json": {}}}}}}}),
            1.0,
        ),
        ("tool_calling_alignment", minimal({"/p": {"get": GET, "post": {"$ref": "#/nowhere"}}}), 0.5),
        ("resolution_completeness", minimal({}), 1.0),
        ("complexity_comfort", minimal({}), 1 / (1 + 2.718281828 ** (6 * -0.45))),
    ],
)
def test_signals_are_those_of_the_specification(name: str, root: Any, value: float, tmp_path: Path) -> None:
    found = signals(root, tmp_path)[name]
    assert found.value == pytest.approx(value, abs=0.001)
    assert found.reason


def test_types_are_weighed_as_the_specification_says() -> None:
    properties = {
        "count": {"type": "integer"},
        "when": {"type": "string", "format": "date"},
        "state": {"type": "string", "enum": ["a"]},
        "text": {"type": "string"},
    }
    counts = Census.of({"components": {"schemas": {"A": {"type": "object", "properties": properties}}}})
    assert (counts.fields, counts.types) == (4, 1.0 + 0.75 + 0.5 + 0.25)


def test_impossible_constraints_are_structural_issues() -> None:
    broken = {"minimum": 5, "maximum": 1}
    counts = Census.of({"components": {"schemas": {"A": broken, "B": {"type": "array"}, "C": {"type": "string"}}}})
    assert counts.structural == 2

"""SARIF logs of `check`: each object has the properties of SARIF 2.1.0 that its section names, and no other."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from openapi_mcp.check.rules import RULES
from openapi_mcp.check.sarif import _uri
from tests.check.judging import faulty_document, saved
from tests.check.test_reports import check
from tests.conftest import ROOT

TEXT = {"type": "string", "minLength": 1}
LEVEL = {"enum": ["none", "note", "warning", "error"]}


def closed(required: str, **properties: Any) -> dict[str, Any]:
    """Return the schema of an object; in SARIF each is closed but for its property bag."""
    schema = {"type": "object", "properties": properties, "required": required.split()}
    return {**schema, "additionalProperties": False}


def listed(items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


MESSAGE = closed("text", text=TEXT)  # 3.11, 3.12
RULE = closed(
    "id", id=TEXT, shortDescription=MESSAGE, help=MESSAGE, defaultConfiguration=closed("", level=LEVEL)
)  # 3.49
ARTIFACT = closed("", uri={"type": "string", "format": "uri-reference"})  # 3.4
REGION = closed("", startLine={"type": "integer", "minimum": 1})  # 3.30
LOCATION = closed(  # 3.28, 3.29, 3.33
    "",
    physicalLocation=closed("artifactLocation", artifactLocation=ARTIFACT, region=REGION),
    logicalLocations=listed(closed("", fullyQualifiedName=TEXT, kind=TEXT), uniqueItems=True),
)
RESULT = closed(  # 3.27
    "message",
    ruleId=TEXT,
    ruleIndex={"type": "integer", "minimum": 0},
    level=LEVEL,
    message=MESSAGE,
    locations=listed(LOCATION, maxItems=1),
    partialFingerprints={"type": "object", "additionalProperties": {"type": "string"}},
)
DRIVER = closed("name", name=TEXT, version=TEXT, informationUri=TEXT, rules=listed(RULE, uniqueItems=True))  # 3.19
RUN = closed(  # 3.14
    "tool results",
    tool=closed("driver", driver=DRIVER),
    results=listed(RESULT),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    properties={"type": "object"},
)
LOG = closed(
    "version runs", **{"$schema": TEXT, "version": {"const": "2.1.0"}, "runs": listed(RUN, minItems=1)}
)  # 3.13


def log_of(path: Path | str, *options: str) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(check(path, "--format", "sarif", *options))
    jsonschema.Draft202012Validator(LOG, format_checker=jsonschema.FormatChecker()).validate(log)
    return log


def test_a_log_has_the_objects_of_the_specification(tmp_path: Path) -> None:
    (run,) = log_of(saved(tmp_path, faulty_document()))["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["results"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] == RULES[result["ruleId"]].severity


def test_a_document_without_findings_and_one_for_a_client() -> None:
    log_of(ROOT / "specs" / "petstore.yaml", "--client", "gemini")
    log_of(ROOT / "specs" / "petstore.yaml")


@pytest.mark.parametrize(
    ("source", "uri"),
    [
        ("my specs/ä.json", "my%20specs/%C3%A4.json"),
        ("a\\b.yaml", "a/b.yaml"),
        ("-", "stdin"),
        ("100%.yaml", "100%25.yaml"),
        ("https://api.example.com/openapi.json", "https://api.example.com/openapi.json"),
    ],
)
def test_a_source_is_a_reference(source: str, uri: str) -> None:
    assert _uri(source) == uri

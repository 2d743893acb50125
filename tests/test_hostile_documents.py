"""Documents that mean harm cost `inspect` a bounded time and memory, and what is sound in them stays usable."""

import os
from pathlib import Path

import pytest

from openapi_mcp.document import loader
from openapi_mcp.document.swagger2.conversion import convert
from openapi_mcp.tools.compiler import build
from tests.hostile_documents import DOCUMENTS, document, fan_out, posting, write
from tests.prepared import measure

pytestmark = [pytest.mark.process, pytest.mark.slow]

MAX_CPU = 10.0
"""Seconds of CPU time, which other programs on the machine change less than the time that passes."""

MAX_MEBIBYTES = 300

VALIDATED = {"allOf of nine references each, 20 levels", "pointers through 2,000 references", "path items in a ring"}
"""Documents that are validated too. The validator is a process with limits of its own, which most others take up as
well, a tenth of the time of all tests; `make faults` validates them all."""

PACKAGED_FAN_OUTS = ["allOf", "oneOf", "required", "if", "items", "readOnly", "mixed"]
"""Those of which each part of the generator once took a time without bound: samples, types, names of outputs."""


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="the system does not tell what a process has used")
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_hostile_document_takes_bounded_time_and_memory(tmp_path: Path, name: str) -> None:
    path = DOCUMENTS[name](tmp_path)
    options = [] if name in VALIDATED else ["--no-validate"]
    measured = measure(["inspect", str(path), "--no-cache", *options])
    assert measured.returncode in {0, 3}, measured.stderr
    assert "Traceback" not in measured.stderr
    assert measured.returncode == 0 or "what to do:" in measured.stderr
    assert measured.cpu < MAX_CPU
    assert measured.mebibytes < MAX_MEBIBYTES


@pytest.mark.parametrize("kind", PACKAGED_FAN_OUTS)
def test_a_package_of_a_fan_out_is_generated_in_bounded_time(tmp_path: Path, kind: str) -> None:
    path = fan_out(kind)(tmp_path)
    measured = measure(["generate", str(path), str(tmp_path / "out"), "--no-cache"])
    assert measured.returncode == 0, measured.stderr
    assert measured.cpu < MAX_CPU
    assert measured.mebibytes < MAX_MEBIBYTES


def test_a_package_of_a_chain_of_definitions_is_generated(tmp_path: Path) -> None:
    chain = {f"S{n}": {"properties": {"next": {"$ref": f"#/components/schemas/S{n + 1}"}}} for n in range(300)}
    path = write(tmp_path, document(posting({"$ref": "#/components/schemas/S0"}), components={"schemas": chain}))
    measured = measure(["generate", str(path), str(tmp_path / "out"), "--no-cache"])
    assert measured.returncode == 0, measured.stderr
    assert measured.cpu < MAX_CPU


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if "references" in name or "pipes" in name])
def test_the_sound_operations_of_a_hostile_document_are_tools(tmp_path: Path, name: str) -> None:
    compilation = build(convert(loader.load(str(DOCUMENTS[name](tmp_path)))))
    assert compilation.operations == len(compilation.tools) + compilation.lost_operations
    assert compilation.tools

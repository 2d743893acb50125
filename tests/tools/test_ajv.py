"""The npm client's Ajv compiles every schema: one that it refused would cost a user all tools of the list."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from openapi_mcp.document import loader, swagger2
from openapi_mcp.runtime.protocol.output_schemas import open_schema
from openapi_mcp.tools.compiler import build
from tests.conftest import CLIENTS

BIG = [
    *("github-rest", "stripe", "kubernetes", "digitalocean", "openai", "elasticsearch", "netbox", "zoom", "jira"),
    *("box", "discord", "twilio-api-v2010"),
]
INPUTS = 60
"""Input schemas compiled for each document. Output schemas, the only ones that clients compile, are all compiled."""

PROGRAM = """
import { readFileSync } from 'node:fs';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
const refused = [];
for (const [name, schema] of JSON.parse(readFileSync(0, 'utf8'))) {
    try { new AjvJsonSchemaValidator().getValidator(schema); }
    catch (error) { refused.push([name, error.message]); }
}
console.log(JSON.stringify(refused));
"""


@pytest.mark.corpus
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", BIG)
def test_ajv_of_the_npm_client_compiles_every_schema(name: str, corpus: Path, node: Path) -> None:
    entries = {entry["name"]: entry for entry in json.loads((corpus / "manifest.json").read_text())}
    tools = build(swagger2.convert(loader.load(str(corpus / name / entries[name]["root"])))).tools
    schemas: list[tuple[str, Any]] = [
        (tool.name, open_schema(tool.output_schema)) for tool in tools if tool.output_schema
    ]
    schemas += [(tool.name, tool.input_schema) for tool in tools[:: max(1, len(tools) // INPUTS)]]
    assert refused(schemas, node) == []


def test_invalid_schema_is_reported_by_ajv(node: Path) -> None:
    assert [name for name, _ in refused([("bad", {"type": "string", "pattern": "(?i)a"}), ("good", {})], node)] == [
        "bad"
    ]


def refused(schemas: list[tuple[str, Any]], node: Path) -> list[list[str]]:
    """Return the name and the error of each schema that Ajv refuses."""
    command = [str(node), "--input-type=module", "-e", PROGRAM]
    done = subprocess.run(
        command, input=json.dumps(schemas), cwd=CLIENTS, capture_output=True, text=True, check=False, timeout=280
    )
    assert done.returncode == 0, done.stderr[-2000:]
    failures: list[list[str]] = json.loads(done.stdout)
    return failures

"""Compile schemas with the npm client's Ajv: one that it refused would cost a user all tools of the list.

`test_corpus` does so with those of real documents.
"""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openapi_mcp.runtime.protocol.output_schemas import open_schema
from openapi_mcp.runtime.tool import Tool
from tests.conftest import CLIENTS

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


def schemas_of_clients(tools: Sequence[Tool]) -> list[tuple[str, Any]]:
    """Return the listed output schemas of tools, and the input schemas of some, each with the name of its tool."""
    outputs = [(tool.name, open_schema(tool.output_schema)) for tool in tools if tool.output_schema]
    return outputs + [(tool.name, tool.input_schema) for tool in tools[:: max(1, len(tools) // INPUTS)]]


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

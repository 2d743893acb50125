"""Start the package as a program and call it over stdio, as a client does."""

import json
import subprocess
import sys

import swagger_petstore_open_api_3_mcp

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "tests", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
NAME = "swagger-petstore-openapi-3-0"
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


def test_handshake_and_list_of_tools() -> None:
    lines = "".join(json.dumps(message) + "\n" for message in (INITIALIZE, INITIALIZED, LIST))
    command = [sys.executable, "-m", "swagger_petstore_open_api_3_mcp"]
    process = subprocess.run(command, input=lines, capture_output=True, text=True, check=True, timeout=60)
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, process.stdout.splitlines())}
    assert answers[1]["serverInfo"]["name"] == NAME
    assert len(answers[2]["tools"]) == 19
    assert swagger_petstore_open_api_3_mcp.__version__

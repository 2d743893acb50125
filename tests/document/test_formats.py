"""Descriptions of APIs in other formats are named, with what helps."""

import json
from pathlib import Path
from typing import Any

import pytest

from openapi_mcp.document.formats import format_of_text
from openapi_mcp.document.loader import load
from openapi_mcp.errors import DocumentError

POSTMAN = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
TEXTS: dict[str, str] = {
    "a Postman collection": json.dumps({"info": {"name": "x", "schema": POSTMAN}, "item": []}),
    "a HAR file": json.dumps({"log": {"version": "1.2", "entries": []}}),
    "an AsyncAPI document": "asyncapi: 3.0.0\ninfo: {title: x}\n",
    "an Arazzo document": "arazzo: 1.0.1\n",
    "an OpenAPI Overlay": "overlay: 1.0.0\n",
    "a Swagger 1.x document": '{"swaggerVersion": "1.2"}',
    "a GraphQL schema": '"""The API: all."""\n# pets\ntype Query {\n  pets(first: Int): [Pet!]!\n}\n',
    "a Google API discovery document": '{"kind": "discovery#restDescription", "name": "gmail"}',
    "an Insomnia export": '{"_type": "export", "resources": []}',
    "a RAML document": "#%RAML 1.0\ntitle: Pets\n",
    "an API Blueprint": "FORMAT: 1A\n\n# Pets\n\n## GET /pets\n+ Response 200\n",
    "a WSDL file": '<?xml version="1.0"?>\n<!-- made -->\n<wsdl:definitions xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/"/>',
    "an OData metadata document": '<?xml version="1.0"?><edmx:Edmx Version="4.0"/>',
    "a WADL file": '<application xmlns="http://wadl.dev.java.net/2009/02"/>',
    "a web page": "<!-- x --><!doctype html><title>API</title>",
    "XML": "<pets/>",
    "a Protocol Buffers file": '// pets\nsyntax = "proto3";\nmessage Pet {}\n',
    "a JSON Schema": '{"$schema": "https://json-schema.org/draft/2020-12/schema"}',
}


@pytest.mark.parametrize(("name", "text"), TEXTS.items(), ids=TEXTS)
def test_another_format_is_named(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "api"
    path.write_text(text)
    with pytest.raises(DocumentError) as caught:
        load(str(path))
    assert caught.value.message == f"this is {name}, not an OpenAPI document"
    assert caught.value.hint


@pytest.mark.parametrize("root", [{"data": {"__schema": {}}}, {"__schema": {}}])
def test_an_answer_to_a_graphql_introspection_is_a_graphql_schema(root: Any, tmp_path: Path) -> None:
    path = tmp_path / "api.json"
    path.write_text(json.dumps(root))
    with pytest.raises(DocumentError, match="a GraphQL schema"):
        load(str(path))


@pytest.mark.parametrize("text", ['"""' * 3000, "<!--" * 3000, "# \n" * 3000, "type " * 3000])
def test_a_hostile_beginning_is_looked_at_once(text: str) -> None:
    assert format_of_text(text) is None or text.startswith("<")

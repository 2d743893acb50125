"""Tools: people."""

from typing import NotRequired, TypedDict

from ..api import BASE_URL
from ..runtime import Api, Result, Schema, Toolbox, body

JSON_SCHEMA_2020_12_TOOL_OUTPUT: Schema = {"type": "object", "properties": {"done": {"type": "string"}}}

DEFINITIONS: dict[str, Schema] = {
    "address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}},
}


class JsonSchema202012ToolOutput(TypedDict):
    done: NotRequired[str]


class Address(TypedDict):
    street: NotRequired[str]
    city: NotRequired[str]


tools = Toolbox(base_url=BASE_URL, definitions=DEFINITIONS)


@tools.post(
    "/people",
    inputs=[body("name"), body("address"), body("invoiceAddress")],
    input_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "invoiceAddress": {"$ref": "#/$defs/address"},
        },
        "additionalProperties": False,
        "$defs": {
            "address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}},
        },
    },
    output_schema=JSON_SCHEMA_2020_12_TOOL_OUTPUT,
)
async def json_schema_2020_12_tool(
    api: Api,
    *,
    name: str | None = None,
    address: Address | None = None,
    invoice_address: Address | None = None,
) -> Result[JsonSchema202012ToolOutput]:
    """Add a person

    Somebody with a name and an address, described in JSON Schema 2020-12.
    """
    return await api.call(json_schema_2020_12_tool, name=name, address=address, invoice_address=invoice_address)

"""Convert Schema Objects to JSON Schema 2020-12 that every MCP client accepts."""

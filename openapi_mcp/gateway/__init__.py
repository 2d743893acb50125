"""Several APIs behind one MCP server: one list of tools; each API has credentials, limits, connections of its own."""

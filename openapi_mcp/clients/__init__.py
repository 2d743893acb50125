"""The programs that use MCP servers: their settings files, what an entry looks like in each, and how it gets there."""

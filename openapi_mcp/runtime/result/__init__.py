"""An httpx.Response to a CallToolResult."""

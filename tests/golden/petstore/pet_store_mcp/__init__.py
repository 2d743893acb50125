"""MCP tools for Pet Store."""

__version__ = "1.0.0"

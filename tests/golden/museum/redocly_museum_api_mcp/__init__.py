"""MCP tools for Redocly Museum API."""

__version__ = "1.2.1"

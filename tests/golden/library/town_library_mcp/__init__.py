"""MCP tools for Town Library."""

__version__ = "2026.1"

"""MCP tools for Conformance."""

__version__ = "1.0.0"

"""MCP tools for Swagger Petstore."""

__version__ = "1.0.0"

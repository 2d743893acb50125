"""MCP tools for Swagger Petstore - OpenAPI 3.0."""

__version__ = "1.0.27"

"""openapi-mcp turns an OpenAPI document into MCP tools; this is its public face and holds nothing else."""

__version__ = "0.1.0"

__all__ = ["__version__"]

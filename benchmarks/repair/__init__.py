"""Documents with injected faults, repaired by `openapi-mcp check --fix`."""

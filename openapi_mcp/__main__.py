"""`python -m openapi_mcp` is the command `openapi-mcp`."""

from .cli import main

if __name__ == "__main__":
    main()

"""Run the command `openapi-mcp` as `python -m openapi_mcp`."""

from .cli.main import main

if __name__ == "__main__":
    main()

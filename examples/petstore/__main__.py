"""Serve the sample API: `python -m examples.petstore --port 8020 --database pets.sqlite3`."""

import argparse
import os
from pathlib import Path

import uvicorn

from .api import create_app


def main() -> None:
    """Serve the API until it is interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.petstore", description="The sample pet store, a REST API."
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8020)
    parser.add_argument(
        "--database", type=Path, default=Path("pets.sqlite3"), help="created with some pets if it does not exist"
    )
    options = parser.parse_args()
    app = create_app(options.database, os.environ.get("PETSTORE_KEY", "open-sesame"))
    uvicorn.run(app, host=options.host, port=options.port, log_level="warning")


if __name__ == "__main__":
    main()

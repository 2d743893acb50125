"""Take the pictures of the page in docs/: `make screenshots`, or `python -m tests.ui`."""

import os
import sys
import tempfile
from pathlib import Path

from examples.petstore.api import create_app
from tests.command import command, serving_http
from tests.conftest import ROOT
from tests.servers import running
from tests.ui.browser import browse


def main() -> int:
    """Write the pictures; return 1 if the page was not as expected."""
    os.environ["API_PETSTORE_SHOPKEY"] = "open-sesame"
    with (
        tempfile.TemporaryDirectory() as folder,
        running(create_app(Path(folder) / "pets.sqlite3")) as api,
        serving_http(command(Path("specs") / "petstore.yaml", api)) as url,
    ):
        seen = browse(url.removesuffix("/mcp"), ["pictures"], shots=ROOT / "docs")
    complaints = [*seen["complaints"], *filter(None, [seen["pictures"].get("error")])]
    sys.stderr.writelines(f"{each}\n" for each in complaints)
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())

"""Renew what the documentation shows: pages made from the code, outputs of commands, the recording of the demo."""

import tempfile
from pathlib import Path

from examples.petstore.api import create_app
from tests.conftest import SHARED
from tests.documentation import console, recording, reference, standin
from tests.servers import running

DOCUMENT = SHARED / "corpus" / "github-rest" / "api.github.com.json"


def main() -> None:
    reference.write(reference.DOCS)
    recording.write()
    for page in console.PAGES:
        text = page.read_text()
        with (
            tempfile.TemporaryDirectory() as name,
            running(create_app(Path(name) / "pets.sqlite3")) as api,
            running(standin.github(DOCUMENT)) as github,
        ):
            folder = Path(name) / "folder"
            folder.mkdir()
            page.write_text(console.renewed(text, console.Shell.prepared(page, folder, api, github)))


if __name__ == "__main__":
    main()

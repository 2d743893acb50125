"""The console blocks of README.md, docs/ and examples/: commands after `$`, and what they print.

The blocks of a page run in their order in one folder that holds `petstore.yaml`, whose API is up, with its key in
`API_PETSTORE_SHOPKEY`. In an output, `…` at the end of a line stands for the rest of it, and a line `…` for any lines.
Output is compared with stderr in it, as a terminal shows it, without colours and 100 columns wide.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from tests.conftest import ROOT
from tests.documentation import standin

EXAMPLES: Final = ROOT / "examples"
PAGES: Final = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted(EXAMPLES.glob("curated/*.md")))
PLAIN: Final = Path(__file__).parent / "plain"
"""A folder in PYTHONPATH that hides extras, which a plain installation has not."""

ADDRESS: Final = "http://127.0.0.1:8020"
"""The address of the sample API in its document, which stands in outputs for the one it has in a test."""

_BLOCK: Final = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SECONDS: Final = 120
"""The longest that a command may take."""


@dataclass(frozen=True)
class Command:
    """A command of a page and the output that the page shows."""

    line: str
    output: str


def commands(text: str) -> Iterator[Command]:
    """Yield the commands of a page in their order."""
    for block in _BLOCK.findall(text):
        yield from _commands_of_block(block)


def _commands_of_block(block: str) -> Iterator[Command]:
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        line, _, output = part.partition("\n")
        document = re.search(r"<<'(\w+)'$", line)
        if document:
            body, _, output = output.partition(f"\n{document[1]}\n")
            line = f"{line}\n{body}\n{document[1]}"
        yield Command(line, output.rstrip("\n"))


@dataclass(frozen=True)
class Shell:
    """A folder with the sample document, in which commands run.

    `addresses` maps each address of the pages to the one on 127.0.0.1 that stands in for it.
    """

    folder: Path
    addresses: Mapping[str, str]

    @classmethod
    def prepared(cls, page: Path, folder: Path, api: str, github: str) -> "Shell":
        """Write the sample document, with its API at `api`, into an empty folder; `github` stands in for GitHub.

        A page of an example finds the other files of its folder.
        """
        document = (ROOT / "specs" / "petstore.yaml").read_text()
        (folder / "petstore.yaml").write_text(document.replace(ADDRESS, api))
        beside = [*page.parent.glob("*.yaml"), *page.parent.glob("*.toml")] if page.is_relative_to(EXAMPLES) else []
        for path in (ROOT / "specs" / "museum.yaml", *beside):
            shutil.copy(path, folder)
        return cls(folder, {ADDRESS: api, standin.API: github + standin.MOUNT, standin.DOCUMENTS: github})

    def run(self, line: str) -> str:
        """Return what a command prints, on stdout and stderr, with the addresses and paths of the pages."""
        environment = os.environ | {
            "API_PETSTORE_SHOPKEY": "open-sesame",
            "COLUMNS": "100",
            "OPENAPI_MCP_FORMAT": "text",
            "HOME": str(self.folder / "home"),
            "NO_COLOR": "1",
            "OPENAPI_MCP_CACHE": str(self.folder / "cache"),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(PLAIN),
            "XDG_CONFIG_HOME": str(self.folder / "home" / ".config"),
        }
        done = subprocess.run(
            ["bash", "-c", self._locally(line)],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=_SECONDS,
        )
        return _shown(self._publicly(done.stdout))

    def _locally(self, line: str) -> str:
        for public, local in self.addresses.items():
            line = line.replace(public, local)
        return line

    def _publicly(self, text: str) -> str:
        """Return an output with the addresses and paths that a page shows."""
        paths = {str(self.folder): "/home/ada", sys.executable: "/home/ada/.venv/bin/python"}
        names = {
            urlsplit(local).netloc: urlsplit(public).netloc for public, local in reversed(list(self.addresses.items()))
        }
        whole = {local: public for public, local in self.addresses.items()}
        for local, public in (whole | names | paths).items():
            text = text.replace(local, public)
        return text


def _shown(text: str) -> str:
    """Return a text without spaces at the ends of lines, which a page does not show."""
    return "\n".join(line.rstrip() for line in text.rstrip("\n").split("\n"))


def fits(shown: str, printed: str) -> bool:
    """Return whether a page's output is what was printed."""
    return _fits(shown.split("\n") if shown else [], printed.split("\n") if printed else [])


def _fits(shown: Sequence[str], printed: Sequence[str]) -> bool:
    if not shown:
        return not printed
    if shown[0] == "…":
        return any(_fits(shown[1:], printed[start:]) for start in range(len(printed) + 1))
    return bool(printed) and _line_fits(shown[0], printed[0]) and _fits(shown[1:], printed[1:])


def _line_fits(shown: str, printed: str) -> bool:
    return printed.startswith(shown[:-1]) if shown.endswith("…") else printed == shown


def renewed(text: str, shell: Shell) -> str:
    """Return a page with the outputs that its commands print now; those that fit are kept as they are."""
    return _BLOCK.sub(lambda match: f"```console\n{_renewed_block(match[1], shell)}```", text)


def _renewed_block(block: str, shell: Shell) -> str:
    parts = [re.split(r"^\$ ", block, maxsplit=1, flags=re.MULTILINE)[0]]
    for command in _commands_of_block(block):
        printed = shell.run(command.line)
        output = command.output if fits(command.output, printed) else printed
        parts.append(f"$ {command.line}\n" + (f"{output}\n" if output else ""))
    return "".join(parts)

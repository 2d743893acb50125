"""Commands, options, links and outputs of README.md and docs/ are true."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from examples.petstore.api import create_app
from openapi_mcp.cli.main import app
from tests.conftest import ROOT, shared_folder
from tests.documentation import console, recording, reference, standin
from tests.servers import running

PROGRAM: Any = typer.main.get_command(app)
SHOWN = re.compile(
    r"^(?:    )?(?:\$ )?(?:[\w./]*/)?openapi-mcp +([a-z][a-z-]*(?: .*?)?)(?: {3,}\S.*| +#.*)?$", re.MULTILINE
)
"""A line that begins with the program's name, with a comment after it."""
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^````.*?^````", re.MULTILINE | re.DOTALL)
"""A file in Markdown that a page shows, whose links are those of its own folder."""


def commands() -> Iterator[tuple[str, str]]:
    for page in console.PAGES:
        text = re.sub(r"\\\n\s*", " ", page.read_text())
        blocks = re.findall(r"^```(?:console|sh|text)?\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        indented = "\n".join(line for line in text.splitlines() if line.startswith("    "))
        for line in sorted({line for part in (*blocks, indented) for line in SHOWN.findall(part)}):
            yield page.name, line


@pytest.mark.parametrize(("page", "line"), list(commands()), ids=lambda value: value.replace("/", "-")[:60])
def test_command_has_options_that_exist(page: str, line: str) -> None:
    words = shlex.split(re.split(r" [|>;&]+ ?", line)[0], comments=True)
    name, *arguments = [word for word in words if word != "…"]
    assert name in PROGRAM.commands, f"{page}: {line}"
    PROGRAM.commands[name].make_context(name, arguments, resilient_parsing="…" in line)


@pytest.mark.parametrize("page", console.PAGES, ids=lambda path: path.name)
def test_link_within_the_repository_leads_somewhere(page: Path) -> None:
    for target in LINK.findall(FILE.sub("", page.read_text())):
        if "://" not in target and not target.startswith(("#", "mailto:")):
            assert (page.parent / target.partition("#")[0]).exists(), target


@pytest.mark.parametrize("page", console.PAGES, ids=lambda path: path.name)
def test_commands_stand_in_code_blocks(page: Path) -> None:
    lines = BLOCK.sub("", page.read_text()).splitlines()
    names = "|".join(map(re.escape, PROGRAM.commands))
    command = re.compile(rf"(?:[A-Z_]+=\S+ )*(?:\.venv/bin/\w+|openapi-mcp (?:{names}))(?: |$)")
    assert not [line for line in lines if command.match(line)]


def test_every_page_is_in_the_navigation() -> None:
    listed = [page for section in reference.SITE["nav"] for pages in section.values() for page in pages]
    pages = {str(path.relative_to(reference.DOCS)) for path in reference.DOCS.rglob("*.md")}
    assert sorted(listed) == sorted(pages)


def test_pages_made_from_the_code_are_current() -> None:
    for path, text in reference.pages().items():
        assert (reference.DOCS / path).read_text() == text, f"{path}: run `make renew`"


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


@pytest.mark.process
def test_the_recording_shows_what_the_demo_prints() -> None:
    assert recording.PICTURE.read_text() == recording.picture(recording.demo())


@pytest.mark.process
@pytest.mark.parametrize(
    "page", [page for page in console.PAGES if any(console.commands(page.read_text()))], ids=lambda path: path.name
)
def test_commands_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    text = page.read_text()
    if standin.DOCUMENTS in text:
        document = shared_folder("corpus") / "github-rest" / "api.github.com.json"
    else:
        document = ROOT / "specs" / "museum.yaml"  # is not asked for
    folder = tmp_path / "folder"
    folder.mkdir()
    with running(create_app(tmp_path / "pets.sqlite3")) as api, running(standin.github(document)) as github:
        shell = console.Shell.prepared(page, folder, api, github)
        for command in console.commands(text):
            printed = shell.run(command.line)
            assert console.fits(command.output, printed), f"$ {command.line}\n{printed}"


def test_no_text_installs_the_package_of_another_project() -> None:
    for path in (*console.PAGES, *(ROOT / "openapi_mcp").rglob("*.py"), *(ROOT / "examples").rglob("*.py")):
        assert not re.search(r"(pip|uvx|pipx|uv)[a-z ]* openapi-mcp\b", path.read_text()), path

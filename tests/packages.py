"""Small packages for tests of regeneration, and edits of their owner."""

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

Files = dict[PurePosixPath, bytes]

PYPROJECT = """\
[project]
name = "petstore-mcp"
version = "{version}"
dependencies = [
    "httpx>=0.27",
]
"""

HEADER = '''\
"""Tools for {tag}."""

from .._runtime.calls import call, tool


'''

FUNCTION = '''\
@tool("{name}")
async def {name}(pet_id: int) -> object:
    """{text}"""
    return await call("{name}", pet_id=pet_id)
'''


def module(tag: str, tools: dict[str, str]) -> bytes:
    """Return a module of tools, given as descriptions by name."""
    functions = "\n\n".join(FUNCTION.format(name=name, text=text) for name, text in tools.items())
    return (HEADER.format(tag=tag) + functions).encode()


def package(version: str = "1.0.0", **tags: dict[str, str]) -> Files:
    """Return a package with a module for each tag, a schema for each tool, a runtime, a picture and settings."""
    texts = {"pyproject.toml": PYPROJECT.format(version=version), "README.md": f"# Petstore\n\nVersion {version}.\n"}
    files = {path: text.encode() for path, text in texts.items()}
    files["petstore_mcp/_runtime/server.py"] = f'VERSION = "{version}"\n'.encode()
    files["petstore_mcp/logo.png"] = b"\x89PNG\0" + version.encode()
    for tag, tools in tags.items():
        files[f"petstore_mcp/tools/{tag}.py"] = module(tag, tools)
        for name, text in tools.items():
            schema = f'{{\n  "type": "object",\n  "title": "{text}"\n}}\n'
            files[f"petstore_mcp/tools/{tag}/{name}.json"] = schema.encode()
    return {PurePosixPath(path): content for path, content in files.items()}


def tree(folder: Path, *, without: Iterable[str] = ("openapi-mcp.lock",)) -> Files:
    """Return the files of a folder."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in set(without))
    return {PurePosixPath(path.relative_to(folder).as_posix()): path.read_bytes() for path in paths}


def edit(path: Path, old: str, new: str) -> None:
    """Replace a text that occurs once in a file."""
    text = path.read_text()
    assert text.count(old) == 1, f"{old!r} is in {path.name} {text.count(old)} times"
    path.write_text(text.replace(old, new))

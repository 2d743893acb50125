"""`Task`: a request, the searches of a model that works on it, and the program that makes its calls."""

import ast
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent / "tasks"


@dataclass(frozen=True)
class Task:
    """A task for one API.

    `program` calls operations by their operationId as functions and ends with its answer; where there are no programs,
    a tool is called for each of its calls. `code` is what code mode runs, if that is written in another way. `searches`
    are the requests with which a model finds the tools.
    """

    name: str
    api: str
    request: str
    searches: tuple[str, ...]
    program: str
    code: str


def tasks(folder: Path = FOLDER) -> list[Task]:
    """Return the tasks of all files of the folder; the name of a file is that of its API."""
    return [
        Task(
            name=entry["name"],
            api=path.stem,
            request=entry["request"],
            searches=tuple(entry.get("searches", [entry["request"]])),
            program=entry["program"].strip(),
            code=entry.get("code", entry["program"]).strip(),
        )
        for path in sorted(folder.glob("*.toml"), reverse=True)
        for entry in tomllib.loads(path.read_text())["task"]
    ]


def run(program: str, functions: Mapping[str, Callable[..., Any]]) -> Any:
    """Run a program of a task in this Python and return the value of its last line, which is an expression."""
    tree = ast.parse(program)
    last = tree.body[-1]
    assert isinstance(last, ast.Expr)  # noqa: S101 - what a task is
    tree.body[-1] = ast.Assign([ast.Name("_answer", ast.Store())], last.value)
    names: dict[str, Any] = dict(functions)
    exec(compile(ast.fix_missing_locations(tree), "task", "exec"), names)  # noqa: S102 - our own programs
    return names["_answer"]

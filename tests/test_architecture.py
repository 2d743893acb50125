"""The wall between the halves and the layers within them, read from the imports; each file has its place in a layer."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "openapi_mcp"
RUNTIME = PACKAGE / "runtime"
PROTOCOL = RUNTIME / "protocol"

LAYERS: dict[Path, list[str]] = {
    PROTOCOL: [
        "jsonrpc headers log_levels traces",
        "revisions mirrored",
        "actions",
        "reading step",
        "handshake stateless",
        "__init__",
    ],
    RUNTIME: [
        "__init__ types errors peers terminal checks hints docstrings outgoing promptly whole",
        "kept",
        "jsontext xmltext media_types models protocol validation tls failures",
        "reader framing dialling proxies",
        "styles auth repairs explanations parts cutting conformance wire own_tools terms",
        "redirects retries streams progress listener counting replies sessions ledger exchange pool synonyms",
        "elements narrator door intake transport chains entries",
        "arguments answers content cors reception wording",
        "forms results addresses files choosing",
        "multipart parameter_values",
        "bodies headers upstream catalog search",
        "requests lines tracing functions search_answers",
        "declarations calls search_tools",
        "server",
        "live waiting room",
        "rollout",
        "conversation",
        "stdio streamable_http",
        "connections supervisor",
        "hosting",
        "programs",
        "toolkit",
    ],
    PACKAGE: [
        "__init__ errors mode runtime",
        "code_limits function_names plain_values prose",
        "economy sandbox",
        "budget cache compiled parsing progress",
        "backtracking characters conjunction exchanges grammar keywords literals matching naming",
        "annotations declaring docstring_literals program_calls surrogates yaml_scalars",
        "code_mode decoding document fetch patterns python_names scalars selection stored versions written",
        "about identifiers module_constants offering rendering samples sources wanted yaml_syntax",
        "keeping resolver syntax",
        "bundle operations schema_parts swagger2_schemas",
        "loader swagger2_parameters base_urls idioms overrides parameters security shapes xml_nodes",
        "swagger2 conversion encodings excerpts outputs validation",
        "findings flattening inlining mirroring responses validators",
        "schemas",
        "request_bodies contract",
        "drift inputs",
        "tools rate_limits",
        "compiling",
        "folder formats merging",
        "lock python_merging",
        "archive fates",
        "regeneration",
        "config endpoint options",
        "bridge",
        "metadata sample_calls tagging tool_modules type_names",
        "generator",
        "calling opening savings watching",
        "report",
        "generating reloading",
        "serving",
        "listening",
        "cli",
        "__main__",
    ],
}
"""Each folder's modules, lowest first; a module imports from lower layers only; a folder is a module of its parent."""

THIRD_PARTIES = {PROTOCOL: set[str](), RUNTIME: {"httptools", "httpx", "jsonschema", "referencing", "starlette"}}
"""What the runtime may import besides the standard library: a generated package depends on nothing more."""

ON_A_PORT = {RUNTIME / f"{name}.py": {"uvicorn"} for name in ("connections", "hosting", "supervisor")}
"""The exceptions: what a package needs besides if it is to listen by itself."""

HEAVY = {
    "openapi_core",
    "openapi_spec_validator",
    "jsonschema_path",
    "prance",
    "jinja2",
    "yaml",
    "rich",
    "uvicorn",
    "uvloop",
    "limits",
    "watchfiles",
}
"""Never imported at the top of a module, so that `serve` starts at once; only these may be imported elsewhere."""

ON_DEMAND = {
    "cache": {"platformdirs"},
    "offering": {"code_mode"},
    "savings": {"compiling"},
    "bridge": {"compiling", "validation", "contract", "drift", "document"},
}
"""What else is imported where it is used: a start with kept tools needs nothing of what makes them."""

ONLY_OF_THE_SANDBOX = "pydantic_monty"
"""Imported by one module, which is itself imported where a mode is asked for that needs it."""

FILES = sorted(PACKAGE.rglob("*.py"))


def imports(path: Path, *, everywhere: bool = True) -> Iterator[tuple[int, str]]:
    """Level and dotted name of each import; `from . import a` counts as `a`."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree) if everywhere else tree.body:
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.level, node.module
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.level, alias.name) for alias in node.names)


def layer(folder: Path, module: str) -> int:
    places = [place for place, names in enumerate(LAYERS[folder]) if module in names.split()]
    assert len(places) == 1, f"{folder.name}/{module} has no place in a layer (or two)"
    return places[0]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_each_module_imports_from_lower_layers_only(path: Path) -> None:
    place = layer(path.parent, path.stem)
    for level, name in imports(path, everywhere=path.stem != "cli"):
        folder, module = path.parents[level - 1] if level else PACKAGE, name.split(".")[0]
        if level and name != "__version__":
            assert folder in LAYERS, f"{path} imports from outside the package"
            mine = place if folder == path.parent else layer(folder, path.relative_to(folder).parts[0])
            assert layer(folder, module) < mine, f"{path.name} imports {module}, which is not below it"
        assert level or module != "openapi_mcp", f"{path.name} imports its own package by name"


@pytest.mark.parametrize("path", sorted(RUNTIME.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_runtime_could_be_copied_elsewhere(path: Path) -> None:
    depth = len(path.relative_to(RUNTIME).parts)
    allowed = THIRD_PARTIES[path.parent] | ON_A_PORT.get(path, set()) | sys.stdlib_module_names
    for level, name in imports(path):
        assert level <= depth, f"{path.name} reaches over the wall"
        assert level or name.split(".")[0] in allowed, f"{path.name} imports {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_heavy_packages_are_imported_where_they_are_used(path: Path) -> None:
    at_the_top = {name.split(".")[0] for level, name in imports(path, everywhere=False) if not level}
    assert not at_the_top & HEAVY
    if path.stem != "cli":
        inside = {(level, name) for level, name in imports(path)} - set(imports(path, everywhere=False))
        assert {name.split(".")[0] for level, name in inside} <= HEAVY | {"jsonschema", "referencing"} | ON_DEMAND.get(
            path.stem, set()
        )


def test_only_the_sandbox_knows_what_it_is_made_of() -> None:
    users = {path.stem for path in FILES if any(name.startswith(ONLY_OF_THE_SANDBOX) for _, name in imports(path))}
    assert users == {"sandbox"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_each_file_says_its_purpose_and_stays_small(path: Path) -> None:
    text = path.read_text()
    tree = ast.parse(text)
    assert ast.get_docstring(tree), "a file opens with one sentence of purpose"
    assert text.count("\n") <= 400
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            # The signature does not count: one parameter a line, it is documentation.
            assert (node.end_lineno or 0) - node.body[0].lineno < 50, node.name

"""The copy of the runtime in packages: unchanged, no module too many, none too few."""

import asyncio
import importlib
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from openapi_mcp.generator.package import generate
from openapi_mcp.generator.runtime_copy import RUNTIME, STAMP, module_imports, reachable
from openapi_mcp.generator.samples import SampleCall, sample_call
from openapi_mcp.regeneration.plan import regenerate
from openapi_mcp.runtime.optional import OPTIONAL_MODULES, optional_modules
from openapi_mcp.runtime.tool import Argument, Encoding, MediaType, RequestBody, Tool
from openapi_mcp.runtime.types import Schema
from tests.conftest import ROOT, SHARED
from tests.generating import SPECS, bridge, generated, imported

pytestmark = pytest.mark.slow

MUSEUM = ROOT / "specs" / "museum.yaml"
LIBRARY = ROOT / "specs" / "library.yaml"
TORTURE = sorted(path for path in (SHARED / "torture").glob("*.*") if path.name != "expected.json")
FILES = [PurePosixPath(path.relative_to(RUNTIME).as_posix()) for path in sorted(RUNTIME.rglob("*.py"))]
OPTIONAL_FILES = {name: PurePosixPath(f"{name.replace('.', '/')}.py") for name in OPTIONAL_MODULES}
COMMAND_LINE_ONLY = {
    *(path for path in FILES if path.parts[0] == "search"),
    PurePosixPath("http/supervisor.py"),
    PurePosixPath("http/workers.py"),
}
"""Search mode, and serving from several processes."""

LATE = {
    *(PurePosixPath("arguments", f"{name}.py") for name in ("__init__", "advice", "spelling", "validation")),
    PurePosixPath("protocol/trace_context.py"),
    *(PurePosixPath("server", f"{name}.py") for name in ("deviations", "functions", "related_tools")),
    *(PurePosixPath("result", f"{name}.py") for name in ("build", "error_hints", "html_text", "problem_details")),
    PurePosixPath("json_schema/judge.py"),
}
"""Modules that every package has, and that are imported where they are needed, so that a start does not wait."""

HAND_WRITTEN = '''

@tools.post(
    "/labels",
    inputs=[whole_body("label", {{"type": "object"}})],
    request_body=RequestBody(media_types=(MediaType(content_type="{content_type}"),), required=True),
)
async def print_label(api: Api, *, label: dict[str, Any]) -> Result[Any]:
    """Print a label"""
    return await api.call(print_label, label=label)
'''


def copied_files(document: Path) -> dict[PurePosixPath, bytes]:
    """The runtime in the package of a document, by the paths in it."""
    files = generate(bridge(document), name="judged-mcp").files
    folder = PurePosixPath("judged_mcp/_runtime")
    return {path.relative_to(folder): content for path, content in files.items() if path.is_relative_to(folder)}


@pytest.mark.parametrize("document", SPECS, ids=lambda path: path.stem)
def test_copied_files_are_unchanged(document: Path) -> None:
    files = copied_files(document)
    assert files.pop(PurePosixPath(STAMP)).startswith(b"mcp-openapi-bridge ")
    assert set(files) == reachable(optional_modules(bridge(document).tools))
    assert all(content == (RUNTIME / path).read_bytes() for path, content in files.items())


def test_every_import_inside_a_function_has_a_rule() -> None:
    imports = {path: module_imports(path) for path in FILES}
    lazy = {target for targets in imports.values() for target, is_lazy in targets if is_lazy}
    in_packages = {path for path in lazy if path.name != "__init__.py"} - COMMAND_LINE_ONLY
    assert in_packages == {path for path in (*OPTIONAL_FILES.values(), *LATE) if path.name != "__init__.py"}
    assert reachable(()) >= LATE
    eager = {(path, target) for path, targets in imports.items() for target, is_lazy in targets if not is_lazy}
    for path, target in eager:
        assert target not in OPTIONAL_FILES.values() or path in OPTIONAL_FILES.values(), f"{path} imports {target}"


def test_only_modules_of_the_command_line_are_never_copied() -> None:
    assert set(FILES) - reachable(OPTIONAL_MODULES) == COMMAND_LINE_ONLY
    assert set(FILES) - reachable(()) == COMMAND_LINE_ONLY | set(OPTIONAL_FILES.values())


def tool(*arguments: Argument, body: MediaType | None = None, properties: Schema | None = None) -> Tool:
    request_body = RequestBody(media_types=(body,)) if body else None
    return Tool(
        name="t",
        title=None,
        description="t",
        input_schema={"properties": properties or {}},
        output_schema=None,
        annotations={},
        method="POST",
        path="/",
        arguments=arguments,
        body=request_body,
    )


def form(encoding: Encoding) -> MediaType:
    return MediaType(content_type="application/x-www-form-urlencoded", encoding={"a": encoding})


@pytest.mark.parametrize(
    ("tool", "modules"),
    [
        (tool(), set()),
        (tool(body=MediaType(content_type="application/json")), set()),
        (tool(properties={"a": {"properties": {"b": {"x-mcp-header": "B"}}}}), {"protocol.header_arguments"}),
        (tool(properties={"x-mcp-header": {"items": {"x-mcp-header": "B"}}}), set()),
        (
            tool(body=MediaType(content_type="application/octet-stream", binary=True)),
            {"request.file_types", "request.files"},
        ),
        (tool(body=MediaType(content_type="multipart/form-data")), {"request.multipart"}),
        (tool(body=MediaType(content_type="Multipart/*; boundary=x")), {"request.multipart"}),
        (tool(body=MediaType(content_type="application/xml; charset=utf-8")), {"request.xml"}),
        (tool(body=MediaType(content_type="image/svg+xml")), {"request.xml"}),
        (tool(body=MediaType(content_type="text/plain, text/xml")), {"request.xml"}),
        (tool(body=form(Encoding(content_type="text/xml"))), {"request.xml"}),
        (tool(body=form(Encoding(binary=True))), {"request.file_types", "request.files"}),
        (
            tool(body=form(Encoding(encoding={"b": Encoding(binary=True, content_type="a/b+xml")}))),
            {"request.file_types", "request.files", "request.xml"},
        ),
        (tool(Argument(name="a", location="query", content_type="application/xml")), {"request.xml"}),
        (replace(tool(), select="items"), {"result.projection", "server.shapes"}),
        (
            tool(Argument(name="a", location="query", content_type="x/y", media=form(Encoding(binary=True)))),
            {"request.file_types", "request.files"},
        ),
    ],
)
def test_modules_that_a_tool_needs(tool: Tool, modules: set[str]) -> None:
    assert optional_modules([tool]) == modules


def module_names(package: Any) -> list[str]:
    """The name of each module of the copy that an imported package holds."""
    folder = Path(package.__file__).parent
    files = [path.relative_to(folder.parent).with_suffix("") for path in (folder / "_runtime").rglob("*.py")]
    return [".".join(path.parts).removesuffix(".__init__") for path in files]


def results_of(toolkit: Any, tools: Any, functions: Any, calls: list[SampleCall]) -> list[Any]:
    """The requests of some calls and their results, by a server of this runtime."""
    import httpx

    sent: list[Any] = []

    async def answer(request: httpx.Request) -> httpx.Response:
        sent.append((request.method, str(request.url), sorted(request.headers.multi_items()), await request.aread()))
        return httpx.Response(200, json={"id": 1})

    async def call_all() -> None:
        server = toolkit.Server(
            toolkit.Catalog(tools),
            toolkit.ServerDescription(implementation=toolkit.Implementation("test", "1")),
            toolkit.Upstream(transport=httpx.MockTransport(answer)),
            options=toolkit.RequestOptions(base_url="http://127.0.0.1:9"),
            functions=functions,
        )
        sent.extend([asdict(await server.call(call.tool, call.arguments)) for call in calls])
        await server.aclose()

    asyncio.run(call_all())
    return sent


@pytest.mark.parametrize("document", [*SPECS, *TORTURE], ids=lambda path: path.name)
def test_every_module_is_importable_and_calls_equal_the_live_server(document: Path, tmp_path: Path) -> None:
    live = bridge(document)
    calls = [call for tool in live.tools for full in (False, True) if (call := sample_call(tool, full=full))]
    with imported(generated(document, tmp_path, name="judged-mcp"), tmp_path) as server:
        for name in module_names(server):
            importlib.import_module(name)
        copy = importlib.import_module("judged_mcp.runtime")
        functions = {function.tool.name: function for function in server.FUNCTIONS}
        own = results_of(copy, [function.tool for function in server.FUNCTIONS], functions, calls)
    assert own == results_of(importlib.import_module("openapi_mcp.runtime.toolkit"), live.tools, {}, calls)


def run(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)


CALL = """
import asyncio, httpx
from judged_mcp import runtime, server

async def call():
    echo = httpx.MockTransport(lambda request: httpx.Response(200, content=request.read()))
    options = runtime.RequestOptions(base_url="http://127.0.0.1:9")
    mine = server.create_server(options=options, upstream=runtime.Upstream(transport=echo))
    result = await mine.call("print_label", {"label": {"text": "x"}})
    print(result.is_error, result.content[0]["text"])

asyncio.run(call())
"""


def with_hand_written_tool(folder: Path, content_type: str) -> None:
    """Add a tool to a package of MUSEUM as its owner does."""
    generated(MUSEUM, folder, name="judged-mcp")
    module = folder / "judged_mcp/tools/tickets.py"
    names = "Api, MediaType, RequestBody, Result, Toolbox, whole_body"
    module.write_text(
        module.read_text().replace('"""\n', f'"""\n\nfrom typing import Any\nfrom ..runtime import {names}\n', 1)
        + HAND_WRITTEN.format(content_type=content_type)
    )
    tools = folder / "judged_mcp/tools/__init__.py"
    tools.write_text(tools.read_text().replace("\n]", "\n    tickets.print_label,\n]"))


@pytest.mark.process
def test_hand_written_tool_works(tmp_path: Path) -> None:
    with_hand_written_tool(tmp_path, "application/json")
    process = run(tmp_path, CALL)
    assert (process.stdout, process.stderr) == ('False {"text":"x"}\n', "")


@pytest.mark.process
def test_hand_written_tool_that_needs_a_missing_module_raises_at_import(tmp_path: Path) -> None:
    with_hand_written_tool(tmp_path, "application/xml")
    process = run(tmp_path, "import judged_mcp.server")
    assert process.returncode == 1
    assert process.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: The tool print_label needs judged_mcp._runtime.request.xml, which this package was "
        "generated without: copy openapi_mcp/runtime/request/xml.py of the release that _runtime/VENDORED names to "
        "_runtime/request/xml.py."
    )
    (tmp_path / "judged_mcp/_runtime/request/xml.py").write_bytes((RUNTIME / "request/xml.py").read_bytes())
    process = run(tmp_path, CALL)
    assert "<text>x</text>" in process.stdout, process.stderr


def test_modules_appear_and_disappear_with_the_tools_that_need_them(tmp_path: Path) -> None:
    without, needing = (generate(bridge(document), name="judged-mcp").files for document in (MUSEUM, LIBRARY))
    modules = {f"judged_mcp/_runtime/{path}" for path in OPTIONAL_FILES.values() if path.parts[0] == "request"}
    regenerate(without, tmp_path)
    added = {str(outcome.path): outcome.kind for outcome in regenerate(needing, tmp_path)}
    assert {added[path] for path in modules} == {"written"}
    edited = tmp_path / "judged_mcp/_runtime/request/files.py"
    edited.write_text(edited.read_text() + "# mine\n")
    removed = {str(outcome.path): outcome.kind for outcome in regenerate(without, tmp_path)}
    assert removed["judged_mcp/_runtime/VENDORED"] == "updated"
    assert {path: removed[path] for path in modules} == {
        "judged_mcp/_runtime/request/file_types.py": "removed",
        "judged_mcp/_runtime/request/files.py": "left",
        "judged_mcp/_runtime/request/multipart.py": "removed",
        "judged_mcp/_runtime/request/xml.py": "removed",
    }
    assert edited.read_text().endswith("# mine\n")


def test_module_copied_by_the_owner_stays(tmp_path: Path) -> None:
    without, needing = (generate(bridge(document), name="judged-mcp").files for document in (MUSEUM, LIBRARY))
    regenerate(without, tmp_path)
    copied = tmp_path / "judged_mcp/_runtime/request/xml.py"
    copied.write_bytes((RUNTIME / "request/xml.py").read_bytes())
    for files in (without, needing):
        outcomes = {outcome.path: outcome.kind for outcome in regenerate(files, tmp_path)}
        assert outcomes.get(PurePosixPath("judged_mcp/_runtime/request/xml.py"), "unchanged") == "unchanged"
        assert copied.exists()

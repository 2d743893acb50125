"""Test the bundling of files: every reference becomes internal, and a broken one affects only its users."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from openapi_mcp.document.loader import load
from openapi_mcp.document.model import FILES, UNREAD, Document, Limits
from openapi_mcp.document.resolver import BrokenReference, Resolver
from openapi_mcp.errors import DocumentError
from openapi_mcp.tools.compiler import build
from tests.damage import damaged

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes files into a folder and returns the path of the root document."""

    def write_files(root: str, **files: str) -> Path:
        folder = tmp_path / "api" / "spec"
        for name, text in {"openapi.yaml": root, **files}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return folder / "openapi.yaml"

    return write_files


def schemas(text: str) -> str:
    return f"openapi: 3.1.0\ncomponents:\n  schemas:\n    {text}"


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def target(document: Document, pointer: str) -> Any:
    return Resolver(document).follow({"$ref": pointer}, "#")[0]


def reports(document: Document) -> list[tuple[str, str]]:
    return [(problem.pointer, problem.message) for problem in document.problems]


def test_a_referenced_file_is_stored_in_the_root(write: Write) -> None:
    root = write(schemas("A: {$ref: 'b.yaml#/B'}"), **{"b.yaml": "B: {type: object}\nC: {type: string}"})
    document = load(str(root))
    assert document.root["components"] == {"schemas": {"A": {"$ref": f"#/{FILES}/0/B"}}}
    assert document.root[FILES] == [{"B": {"type": "object"}, "C": {"type": "string"}}]
    assert document.files == ((root.parent / "b.yaml").as_uri(),)
    assert document.problems == ()


def test_a_single_file_document_is_unchanged(write: Write) -> None:
    document = load(str(write(schemas("A: {$ref: '#/components/schemas/B'}\n    B: {$ref: '#b'}"))))
    assert list(document.root) == ["openapi", "components"]
    assert list(references(document.root)) == ["#/components/schemas/B", "#b"]


def test_references_are_relative_to_their_own_file(write: Write) -> None:
    files = {
        "one/a.yaml": "A: {allOf: [{$ref: '../two/b.json#/B'}, {$ref: '#/Y'}, {$ref: './a.yaml#/Y'}]}\nY: {}",
        "two/b.json": '{"B": {"allOf": [{"$ref": "../openapi.yaml#/components/schemas/A"}, {"$ref": "#/B"}]}}',
    }
    document = load(str(write(schemas("A: {$ref: 'one/a.yaml#/A'}"), **files)))
    first, second = document.root[FILES]
    assert list(references(first)) == [f"#/{FILES}/1/B", f"#/{FILES}/0/Y", f"#/{FILES}/0/Y"]
    assert list(references(second)) == ["#/components/schemas/A", f"#/{FILES}/1/B"]


def test_two_files_with_one_name_stay_separate(write: Write) -> None:
    text = schemas("A: {$ref: 'a/error.yaml#/Error'}\n    B: {$ref: 'b/error.yaml#/Error'}")
    document = load(str(write(text, **{"a/error.yaml": "Error: {title: a}", "b/error.yaml": "Error: {title: b}"})))
    names = document.root["components"]["schemas"]
    assert [target(document, names[name]["$ref"])["title"] for name in "AB"] == ["a", "b"]


@pytest.mark.parametrize(
    ("ref", "name"),
    [
        ("sub%20dir/a%20file.yaml#/X", "sub dir/a file.yaml"),
        ("sub dir/a file.yaml#/X", "sub dir/a file.yaml"),
        ("./sub//../x.yaml#/X", "x.yaml"),
        (r".\sub\x.yaml#/X", "sub/x.yaml"),
        ("%C3%A4.yaml#/X", "ä.yaml"),
        ("x.txt#/X", "x.txt"),
        ("../common/x.yaml#/X", "../common/x.yaml"),
    ],
)
def test_file_names_are_decoded(write: Write, ref: str, name: str) -> None:
    document = load(str(write(schemas(f"A: {{$ref: '{ref}'}}"), **{name: "X: {title: found}"})))
    assert document.problems == ()
    assert target(document, document.root["components"]["schemas"]["A"]["$ref"]) == {"title": "found"}


def test_references_in_data_are_not_followed(write: Write) -> None:
    text = """openapi: 3.1.0
info: {title: t, description: {$ref: x.md}}
paths:
  /a:
    get:
      parameters:
        - {name: a, in: query, example: {$ref: x.json}, schema: {default: {$ref: x.json}, enum: [{$ref: x.json}]}}
      responses:
        default:
          description: d
          content:
            a/b:
              schema: {const: {$ref: x.json}, examples: [{$ref: x.json}], x-data: {$ref: x.json}}
              examples: {one: {value: {$ref: x.json}}}
              example: {$ref: x.json}
components:
  schemas:
    Pod: {properties: {$ref: {type: string}, default: {type: object, properties: {enum: {title: found}}}}}
    Number: {$ref: 7}
x-extension: {$ref: x.json}
"""
    document = load(str(write(text)))
    assert (document.files, document.problems) == ((), ())
    assert set(references(document.root)) == {"x.md", "x.json"}


def test_references_are_followed_wherever_openapi_allows_them(write: Write) -> None:
    text = """openapi: 3.2.0
paths:
  /a: {$ref: 'x.yaml#/path'}
  /b:
    get: {$ref: 'x.yaml#/operation'}
    additionalOperations: {COPY: {$ref: 'x.yaml#/operation'}}
webhooks: {hook: {$ref: 'x.yaml#/path'}}
components:
  pathItems: {p: {$ref: 'x.yaml#/path'}}
  mediaTypes: {m: {$ref: 'x.yaml#/media'}}
  securitySchemes: {s: {$ref: 'x.yaml#/scheme'}}
  links: {l: {$ref: 'x.yaml#/link'}}
"""
    pieces = """path: {parameters: [{$ref: '#/parameter'}]}
operation:
  parameters: [{$ref: '#/parameter'}]
  requestBody: {$ref: '#/body'}
  responses: {default: {$ref: '#/response'}}
  callbacks: {c: {$ref: '#/callback'}}
parameter: {name: q, in: query, schema: {$ref: '#/schema'}, examples: {e: {$ref: '#/example'}}}
body: {content: {a/b: {$ref: '#/media'}}}
response: {headers: {h: {$ref: '#/header'}}, links: {l: {$ref: '#/link'}}}
callback: {'{$url}': {$ref: '#/path'}}
media: {itemSchema: {$ref: '#/schema'}, encoding: {a: {headers: {h: {$ref: '#/header'}}}}}
header: {schema: {$ref: '#/schema'}}
schema:
  allOf: [{$ref: '#/other'}]
  if: {$ref: '#/other'}
  patternProperties: {x: {$ref: '#/other'}}
  $dynamicRef: 'x.yaml#/other'
other: {discriminator: {propertyName: k, mapping: {a: '#/other', b: x.yaml#/other, c: Name}}}
example: {value: {$ref: '#/data'}}
link: {}
scheme: {type: http}
"""
    document = load(str(write(text, **{"x.yaml": pieces})))
    assert document.problems == ()
    left = [ref for ref in references(document.root) if not ref.startswith(f"#/{FILES}/0/")]
    assert left == ["#/data"], "the data of an example"
    file = document.root[FILES][0]
    assert file["schema"]["$dynamicRef"] == f"#/{FILES}/0/other"
    assert file["other"]["discriminator"]["mapping"] == {
        "a": f"#/{FILES}/0/other",
        "b": f"#/{FILES}/0/other",
        "c": "Name",
    }


def test_a_misplaced_reference_is_replaced_by_its_target(write: Write) -> None:
    text = """openapi: 3.0.0
info: {$ref: 'x.yaml#/info'}
tags: [{$ref: 'x.yaml#/tag'}]
paths: {$ref: paths.yaml, /own: {get: {operationId: own}}}
components: {schemas: {$ref: x.yaml#/schemas}}
"""
    files = {
        "x.yaml": "info: {title: t, version: 1.10}\ntag: {name: 7}\nschemas: {A: {$ref: '#/schemas/B'}, B: {title: b}}",
        "paths.yaml": "/a: {parameters: [{$ref: 'x.yaml#/tag'}]}",
    }
    document = load(str(write(text, **files)))
    assert document.problems == ()
    assert document.root["info"] == {"title": "t", "version": "1.10"}
    assert document.root["tags"] == [{"name": "7"}]
    assert list(document.root["paths"]) == ["/a", "/own"]
    assert target(document, "#/components/schemas/A") == {"title": "b"}
    assert all(ref.startswith(f"#/{FILES}/") for ref in references(document.root))


def test_aliases_of_one_reference_are_rewritten_once(write: Write) -> None:
    text = schemas("A: {$ref: x.yaml}")
    document = load(
        str(
            write(
                text, **{"x.yaml": "a: &r {$ref: '#/t'}\nproperties: {b: *r, c: *r, d: {items: *r}}\nt: {title: found}"}
            )
        )
    )
    assert document.problems == ()
    assert set(references(document.root[FILES])) == {f"#/{FILES}/0/t"}


@pytest.mark.parametrize(
    ("ref", "message"),
    [
        ("gone.yaml#/X", "gone.yaml does not exist"),
        ("gone.yaml", "gone.yaml does not exist"),
        (".", ". is a folder"),
        ("text.txt", "text.txt contains neither an object nor a list"),
        (
            "bad.json#/X",
            "bad.json cannot be read: line 1, column 9: this is neither JSON nor YAML: Expecting ',' delimiter",
        ),
        ("file:///etc/passwd", "file:///etc/passwd is an absolute path or URL of a local file"),
        ("/etc/passwd", "/etc/passwd is an absolute path or URL of a local file"),
        ("//example.com/x.yaml", "//example.com/x.yaml is an absolute path or URL of a local file"),
        ("ftp://example.com/x", "ftp://example.com/x is an absolute path or URL of a local file"),
        ("http://[/x", "http://[/x is not a valid path or URL"),
        ("https://example.com/x.yaml", "https://example.com/x.yaml is on another host, example.com"),
        (".hidden/x.yaml", ".hidden/x.yaml is hidden"),
    ],
)
def test_an_unreadable_file_breaks_only_references_to_it(write: Write, ref: str, message: str) -> None:
    files = {"text.txt": "just words", "bad.json": '{"X": 1 ]', ".hidden/x.yaml": "X: {}", "b.yaml": "B: {title: fine}"}
    document = load(str(write(schemas(f"A: {{$ref: '{ref}'}}\n    B: {{$ref: b.yaml#/B}}"), **files)))
    assert reports(document) == [("#/components/schemas/A", message)]
    assert target(document, "#/components/schemas/B") == {"title": "fine"}
    assert UNREAD in document.root[FILES][0]
    with pytest.raises(BrokenReference) as caught:
        target(document, "#/components/schemas/A")
    assert caught.value.problem.message.split(" ", 1)[1] == message.split(" ", 1)[1]
    assert caught.value.problem.hint == document.problems[0].hint


@pytest.mark.parametrize(
    "bad", ["P: [1, 2", "P: {a: b}\n\tx: 1", "", "text", '{"P": 1,,}', "\x00\x01", "a: *b", "- P\nP: 1"]
)
def test_invalid_file_costs_the_operations_that_refer_to_it(write: Write, bad: str) -> None:
    responses = "responses: {200: {description: d}}"
    root = write(
        "openapi: 3.1.0\ninfo: {title: T, version: '1'}\npaths:\n"
        f"  /good: {{get: {{parameters: [$ref: 'good.yaml#/P'], {responses}}}}}\n"
        f"  /also: {{get: {{parameters: [$ref: 'good.yaml#/Q'], {responses}}}}}\n"
        f"  /lost: {{get: {{parameters: [$ref: 'bad.yaml#/P'], {responses}}}}}\n"
        "  /item: {$ref: bad.yaml#/I}\n"
        f"  /plain: {{get: {{{responses}}}}}\n"
        "components: {schemas: {Unused: {$ref: bad.yaml}}}\n",
        **{"good.yaml": "P: {name: p, in: query, schema: {}}\nQ: {$ref: 'bad.yaml#/P'}", "bad.yaml": bad},
    )
    result = build(load(str(root)))
    assert [tool.path for tool in result.tools] == ["/good", "/plain"]
    lost = {problem.operation: problem.pointer for problem in result.problems if problem.operation}
    assert lost == {
        "GET /also": "good.yaml#/Q",
        "GET /lost": "#/paths/~1lost/get/parameters/0",
        "/item": "#/paths/~1item",
    }


def test_a_missing_target_in_a_file_is_reported_once(write: Write) -> None:
    text = schemas("A: {$ref: 'b.yaml#/Nope'}\n    B: {$ref: 'b.yaml#/Nope'}\n    C: {$ref: 'b.yaml#nope'}")
    document = load(str(write(text, **{"b.yaml": "B: {items: {$ref: '#/Gone'}}"})))
    assert reports(document) == [
        ("#/components/schemas/A", "there is nothing at b.yaml#/Nope"),
        ("#/components/schemas/C", "there is nothing at b.yaml#nope"),
    ]
    assert all(ref.startswith(f"#/{FILES}/0/") for ref in references(document.root["components"]))
    for name in "ABC":
        with pytest.raises(BrokenReference):
            target(document, f"#/components/schemas/{name}")


def test_a_broken_reference_inside_a_file_names_the_file(write: Write) -> None:
    document = load(str(write(schemas("A: {$ref: 'b.yaml#/B'}"), **{"b.yaml": "B: {items: {$ref: '#/Gone'}}"})))
    assert reports(document) == [("b.yaml#/B/items", "there is nothing at b.yaml#/Gone")]


def test_a_problem_in_a_file_is_reported_with_its_name(write: Write) -> None:
    document = load(str(write(schemas("A: {$ref: b.yaml}"), **{"b.yaml": "title: a\ntitle: b"})))
    assert reports(document) == [
        ("b.yaml#/title", "line 2, column 1: the key 'title' is written more than once; the last one counts")
    ]


def test_a_link_out_of_the_reference_root_is_refused(write: Write, tmp_path: Path) -> None:
    root = write(schemas("A: {$ref: link.yaml}"))
    (tmp_path / "secret.yaml").write_text("title: secret")
    (root.parent / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    document = load(str(root))
    assert "is outside" in document.problems[0].message
    assert "secret" not in json.dumps(document.root[FILES])
    assert load(str(root), reference_root=tmp_path).problems == ()


@pytest.mark.timeout(30)
@pytest.mark.parametrize("ref", ["one.yaml", "one.yaml/x.yaml", "sub/../one.yaml#/X"])
def test_links_that_lead_back_to_themselves_are_reported(write: Write, ref: str) -> None:
    root = write(schemas(f"A: {{$ref: '{ref}'}}"), **{"sub/x.yaml": "{}"})
    (root.parent / "one.yaml").symlink_to("two.yaml")
    (root.parent / "two.yaml").symlink_to("one.yaml")
    shown = ref.partition("#")[0].removeprefix("sub/../")
    assert reports(load(str(root))) == [
        ("#/components/schemas/A", f"{shown} cannot be read: Too many levels of symbolic links")
    ]


def test_a_document_that_is_a_link_to_itself_is_reported(tmp_path: Path) -> None:
    (tmp_path / "openapi.yaml").symlink_to("openapi.yaml")
    with pytest.raises(DocumentError, match="the document cannot be read: Too many levels of symbolic links"):
        load(str(tmp_path / "openapi.yaml"))


def test_a_reference_root_that_is_a_link_to_itself_holds_no_file(write: Write, tmp_path: Path) -> None:
    root = write(schemas("A: {$ref: b.yaml}"), **{"b.yaml": "{}"})
    (tmp_path / "circle").symlink_to("circle")
    assert "is outside" in reports(load(str(root), reference_root=tmp_path / "circle"))[0][1]


def test_references_end_at_the_folder_above(write: Write, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("title: found")
    root = write(schemas("A: {$ref: '../../x.yaml'}"))
    assert reports(load(str(root)))[0][1].endswith(f"is outside {root.parents[1]}")
    (tmp_path / ".git").mkdir()
    assert load(str(root)).problems == (), "a version-controlled tree is one whole"


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (Limits(files=2), "is beyond the limit of 2 files"),
        (Limits(file_bytes=150), "is larger than 150 bytes"),
        (Limits(total_bytes=150), "is beyond the limit of 150 bytes for all files together"),
    ],
)
def test_limits_refuse_files_and_keep_the_rest(write: Write, limits: Limits, message: str) -> None:
    root = write(
        schemas("A: {$ref: a.yaml}\n    B: {$ref: b.yaml}"), **{"a.yaml": "{}", "b.yaml": f"title: {'x' * 200}"}
    )
    assert reports(load(str(root), limits=limits)) == [("#/components/schemas/B", f"b.yaml {message}")]


@pytest.mark.slow
def test_a_chain_of_a_thousand_files_loads(write: Write) -> None:
    files = {f"{n}.yaml": f"items: {{$ref: '{n + 1}.yaml'}}" for n in range(1000)}
    document = load(str(write(schemas("A: {$ref: 0.yaml}"), **files, **{"1000.yaml": "{}"})))
    assert (len(document.files), document.problems) == (1001, ())


DAMAGEABLE: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "t", "version": "1"},
    "paths": {
        "/a": {
            "parameters": [{"name": "p", "in": "query", "schema": {"$ref": "b.yaml#/B"}}],
            "get": {"responses": {"200": {"content": {"a/b": {"schema": {"$ref": "#/components/schemas/A"}}}}}},
        },
        "/b": {"$ref": "b.yaml#/path"},
    },
    "components": {"schemas": {"A": {"$id": "a", "properties": {"b": {"$ref": "b.yaml"}, "c": {"$ref": "a"}}}}},
}


@pytest.mark.slow
@given(root=damaged(DAMAGEABLE))
def test_damaged_documents_do_not_crash_the_loader(
    tmp_path_factory: pytest.TempPathFactory, root: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    (folder / "b.yaml").write_text("B: {items: {$ref: '#/B'}}\npath: {get: {parameters: [{$ref: '#/gone'}]}}")
    (folder / "openapi.yaml").write_text(json.dumps(root))
    try:
        document = load(str(folder / "openapi.yaml"))
    except DocumentError:
        assert root["openapi"] != "3.1.0", "nothing else makes a document unreadable"
        return
    resolver = Resolver(document)
    for ref in references(document.root):
        try:
            value, pointer = resolver.follow({"$ref": ref}, "#/paths")
        except BrokenReference:
            continue
        assert resolver.lookup(pointer, "#") == (value, pointer)


def test_progress_names_each_file(write: Write) -> None:
    messages: list[str] = []
    load(str(write(schemas("A: {$ref: b.yaml}"), **{"b.yaml": "{}"})), progress=messages.append)
    assert messages == ["reading b.yaml"]


def test_the_torture_document_of_many_files_loads(torture: Path) -> None:
    document = load(str(torture / "02-external" / "openapi.yaml"))
    read = [value for value in document.root[FILES] if UNREAD not in value]
    assert len(read) == 10, "and the root is the eleventh"
    assert [problem.pointer for problem in document.problems] == [
        "#/paths/~1gone/get/parameters/0",
        "#/paths/~1half-gone/post/requestBody/content/application~1json/schema/properties/bad",
        "#/paths/~1remote/get/parameters/0",
    ]
    assert document.problems[2].hint == "allow it with --allow-remote-refs"
    clash = target(document, "#/paths/~1clash/post/requestBody/content/application~1json/schema/properties")
    assert [target(document, clash[name]["$ref"])["required"] for name in ("mine", "theirs")] == [["code"], ["reason"]]
    space = target(document, "#/paths/~1space/get/parameters/0")
    assert space["schema"]["enum"] == ["reached"]


def test_the_hostile_document_reads_nothing_outside(torture: Path) -> None:
    document = load(str(torture / "15-hostile.yaml"))
    assert len(document.root["paths"]) == 11
    assert [list(value) for value in document.root[FILES]] == [[UNREAD, "hint"]] * 3
    assert len(json.dumps(document.root)) < 10_000_000

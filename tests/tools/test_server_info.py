"""Implementation and instructions come from `info`, are bounded, and have only URLs that a client may follow."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.compilation import MAX_INSTRUCTIONS
from openapi_mcp.document.model import Document
from openapi_mcp.tools import server_info

Json = dict[str, Any]


def document(info: Any = None, **root: Any) -> Document:
    return Document({"openapi": "3.1.0", "info": info, **root}, "file:///api.yaml", "3.1")


WHOLE: Json = {
    "title": "Pet Store",
    "version": "2.1.0",
    "summary": "Pets and their people.",
    "description": "# Welcome\n\nBuy, sell and feed.\n\nPrices are in euros.",
    "termsOfService": "https://pets.example/terms",
    "contact": {"name": "The keepers", "email": "keepers@pets.example", "url": "https://pets.example"},
    "x-logo": {"url": "https://pets.example/cat.svg", "altText": "a cat"},
}


def test_all_fields_of_info_are_used() -> None:
    api = document(WHOLE, externalDocs={"url": "https://docs.pets.example", "description": "The handbook"})
    implementation = server_info.implementation(api)
    assert (implementation.name, implementation.version, implementation.title) == ("pet-store", "2.1.0", "Pet Store")
    assert implementation.description == "Pets and their people."
    assert implementation.website_url == "https://docs.pets.example"
    assert implementation.icons == ({"src": "https://pets.example/cat.svg", "mimeType": "image/svg+xml"},)
    assert server_info.instructions(api) == (
        "Pet Store\n\nPets and their people.\n\n# Welcome\n\nBuy, sell and feed.\n\nPrices are in euros.\n\n"
        "The handbook: https://docs.pets.example\nTerms of service: https://pets.example/terms\n"
        "Contact: The keepers, keepers@pets.example, https://pets.example"
    )


@pytest.mark.parametrize(
    "info",
    [
        None,
        [],
        {},
        {"title": "Pet Store", "version": "1"},
        {"title": ["?"], "description": {}, "contact": "nobody", "x-logo": 5},
        {"contact": {"email": "keepers@pets.example"}, "termsOfService": "https://pets.example/terms"},
    ],
)
def test_document_without_description_has_no_instructions(info: Any) -> None:
    api = document(info, externalDocs=info)
    assert server_info.instructions(api) is None
    implementation = server_info.implementation(api)
    assert (bool(implementation.name), bool(implementation.version)) == (True, True)
    assert (implementation.description, implementation.icons) == (None, ())


def test_long_texts_are_cut_after_a_sentence_and_links_stay() -> None:
    text = "One more sentence of many. " * 500
    api = document({"title": "Pets", "description": text}, externalDocs={"url": "https://docs.pets.example"})
    instructions = server_info.instructions(api) or ""
    assert MAX_INSTRUCTIONS - 60 < len(instructions) <= MAX_INSTRUCTIONS
    assert instructions.endswith("of many. …\n\nDocumentation: https://docs.pets.example")
    description = server_info.implementation(api).description or ""
    assert len(description) <= server_info.MAX_DESCRIPTION_LENGTH
    assert description.endswith("of many. …")


def test_links_take_at_most_half_of_the_instructions() -> None:
    contact = {"email": "a@b", "url": "https://pets.example/" + "c" * 600}
    api = document(
        {"title": "Pets", "description": "Many. " * 500, "contact": contact, "termsOfService": "https://pets.example/"},
        externalDocs={"url": "https://pets.example/" + "d" * 400},
    )
    instructions = server_info.instructions(api) or ""
    assert len(instructions) <= MAX_INSTRUCTIONS
    assert instructions.count("Many. ") > 90
    assert instructions.endswith("ddd\nTerms of service: https://pets.example/")


def test_headings_are_skipped_in_the_description() -> None:
    api = document({"title": "Pets", "description": "# Introduction\nThe *whole* shop.\nIn two lines.\n\nMore."})
    assert server_info.implementation(api).description == "The *whole* shop. In two lines."


@pytest.mark.parametrize(
    ("logo", "icons"),
    [
        (
            "https://pets.example/cat.png?size=1",
            ({"src": "https://pets.example/cat.png?size=1", "mimeType": "image/png"},),
        ),
        ({"url": "https://pets.example/logo"}, ({"src": "https://pets.example/logo"},)),
        ({"url": "https://pets.example/logo.html"}, ({"src": "https://pets.example/logo.html"},)),
        (
            "data:image/png;base64,iVBORw0KGgo=",
            ({"src": "data:image/png;base64,iVBORw0KGgo=", "mimeType": "image/png"},),
        ),
        ("data:image/png;base64," + "A" * 10_000, ()),
        ("data:text/html;base64,PGI+", ()),
        ("data:image/svg+xml,<svg onload='x'/>", ()),
        ("http://pets.example/cat.png", ()),
        ("/cat.png", ()),
        ("//pets.example/cat.png", ()),
        ("javascript:alert(1)", ()),
        ("file:///etc/passwd", ()),
        ("https://user:secret@pets.example/cat.png", ()),
        ("https://pets.example/a cat.png", ()),
        ("https://[::1/cat.png", ()),
        ("https://pets.example/" + "x" * 3000, ()),
        ({"href": "https://pets.example/cat.png"}, ()),
        (None, ()),
    ],
)
def test_logo_is_an_icon_if_https_or_inline(logo: Any, icons: tuple[Json, ...]) -> None:
    assert server_info.implementation(document({"title": "Pets", "x-logo": logo})).icons == icons


@pytest.mark.parametrize(
    ("root", "info", "website"),
    [
        ({"externalDocs": {"url": "/docs"}}, {"contact": {"url": "https://pets.example"}}, "https://pets.example"),
        ({"externalDocs": {"url": "javascript:x"}}, {}, None),
        ({"externalDocs": []}, {"contact": {"url": "mailto:a@b"}}, None),
    ],
)
def test_website_is_an_absolute_web_url(root: Json, info: Json, website: str | None) -> None:
    assert server_info.implementation(document(info, **root)).website_url == website


@pytest.mark.slow
@given(
    st.dictionaries(
        st.sampled_from(["title", "version", "summary", "description", "contact", "termsOfService", "x-logo"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=3000),
            lambda inner: st.dictionaries(st.sampled_from(["url", "name", "email", "description"]), inner),
            max_leaves=4,
        ),
    )
)
def test_server_info_is_bounded_for_any_info(info: Json) -> None:
    api = document(info, externalDocs=info.get("contact"))
    implementation = server_info.implementation(api)
    assert len(implementation.description or "") <= server_info.MAX_DESCRIPTION_LENGTH
    assert implementation.name.isascii()
    assert implementation.name
    assert len(server_info.instructions(api) or "") <= MAX_INSTRUCTIONS


@pytest.mark.parametrize("limit", [0, 1, 5, 40, 100, 500, 2000, 5000, 20_000])
def test_instructions_have_at_most_as_many_characters_as_requested(limit: int) -> None:
    api = document(WHOLE | {"description": "Rule. " * 1000}, externalDocs={"url": "https://docs.pets.example"})
    instructions = server_info.instructions(api, limit) or ""
    assert len(instructions) <= limit
    assert server_info.instructions_length(api) > 6000
    assert (len(instructions) == server_info.instructions_length(api)) == (limit == 20_000)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("GitHub's official OpenAPI spec", "github-official-openapi-spec"),
        ("Pet Store", "pet-store"),
        ("größe", "groesse"),
        ("日本", "openapi"),
    ],
)
def test_name_is_the_title_in_words_that_capitals_do_not_cut(title: str, name: str) -> None:
    assert server_info.implementation(document({"title": title, "version": "1"})).name == name

"""What a server says of itself comes from `info`, is bounded, and holds only addresses that a client may follow."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp import about
from openapi_mcp.document import Document

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


def test_a_whole_document() -> None:
    made = document(WHOLE, externalDocs={"url": "https://docs.pets.example", "description": "The handbook"})
    who = about.implementation(made)
    assert (who.name, who.version, who.title) == ("pet-store", "2.1.0", "Pet Store")
    assert who.description == "Pets and their people."
    assert who.website_url == "https://docs.pets.example"
    assert who.icons == ({"src": "https://pets.example/cat.svg", "mimeType": "image/svg+xml"},)
    assert about.instructions(made) == (
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
def test_a_document_that_says_nothing_worth_reading_gives_no_instructions(info: Any) -> None:
    made = document(info, externalDocs=info)
    assert about.instructions(made) is None
    who = about.implementation(made)
    assert (bool(who.name), bool(who.version)) == (True, True)
    assert (who.description, who.icons) == (None, ())


def test_long_texts_are_cut_after_a_sentence_and_keep_where_to_read_on() -> None:
    text = "One more sentence of many. " * 500
    made = document({"title": "Pets", "description": text}, externalDocs={"url": "https://docs.pets.example"})
    said = about.instructions(made) or ""
    assert about.INSTRUCTIONS_LIMIT - 60 < len(said) <= about.INSTRUCTIONS_LIMIT
    assert said.endswith("of many. …\n\nDocumentation: https://docs.pets.example")
    description = about.implementation(made).description or ""
    assert len(description) <= about.DESCRIPTION_LIMIT
    assert description.endswith("of many. …")


def test_addresses_leave_room_for_what_the_document_says() -> None:
    contact = {"email": "a@b", "url": "https://pets.example/" + "c" * 1500}
    made = document(
        {"title": "Pets", "description": "Many. " * 500, "contact": contact, "termsOfService": "https://pets.example/"},
        externalDocs={"url": "https://pets.example/" + "d" * 700},
    )
    said = about.instructions(made) or ""
    assert len(said) <= about.INSTRUCTIONS_LIMIT
    assert said.count("Many. ") > 100
    assert said.endswith("ddd\nTerms of service: https://pets.example/")


def test_a_heading_is_no_description() -> None:
    made = document({"title": "Pets", "description": "# Introduction\nThe *whole* shop.\nIn two lines.\n\nMore."})
    assert about.implementation(made).description == "The *whole* shop. In two lines."


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
def test_a_logo_is_an_icon_where_a_client_may_fetch_it(logo: Any, icons: tuple[Json, ...]) -> None:
    assert about.implementation(document({"title": "Pets", "x-logo": logo})).icons == icons


@pytest.mark.parametrize(
    ("root", "info", "website"),
    [
        ({"externalDocs": {"url": "/docs"}}, {"contact": {"url": "https://pets.example"}}, "https://pets.example"),
        ({"externalDocs": {"url": "javascript:x"}}, {}, None),
        ({"externalDocs": []}, {"contact": {"url": "mailto:a@b"}}, None),
    ],
)
def test_a_website_is_an_absolute_address_on_the_web(root: Json, info: Json, website: str | None) -> None:
    assert about.implementation(document(info, **root)).website_url == website


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
def test_whatever_info_holds_it_stays_within_bounds(info: Json) -> None:
    made = document(info, externalDocs=info.get("contact"))
    who = about.implementation(made)
    assert len(who.description or "") <= about.DESCRIPTION_LIMIT
    assert who.name.isascii()
    assert who.name
    assert len(about.instructions(made) or "") <= about.INSTRUCTIONS_LIMIT

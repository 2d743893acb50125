"""Skills of any document: within their limits, without markup, secrets and characters that nobody sees."""

import json
import re
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from openapi_mcp.runtime.tool import SecurityScheme, Tool
from openapi_mcp.runtime.types import Implementation
from openapi_mcp.skills import chapters
from openapi_mcp.skills.composition import MAX_SKILL_BYTES, compose
from openapi_mcp.skills.references import MAX_REFERENCE_BYTES, MAX_REFERENCES
from openapi_mcp.skills.skill import MAX_DESCRIPTION, MAX_NAME, Skill, slug

NAME = re.compile(r"(?!.*--)[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?")
KEY = SecurityScheme(name="key", type="apiKey", variable="API_KEY", location="header", parameter="x-key")


def tool(name: str, *tags: str, description: str = "Do it.", **fields: Any) -> Tool:
    fields = {"annotations": {"readOnlyHint": True}, "path": f"/{name}", **fields}
    return Tool(name=name, description=description, input_schema={"type": "object"}, method="GET", tags=tags, **fields)


def skill(*tools: Tool, title: str = "Pets", name: str = "pets", text: str = "", about: str = "") -> Skill:
    return compose(Implementation(name, "1", title=title, description=about), text, tools, tools)


def frontmatter(made: Skill) -> Any:
    return yaml.safe_load(made.files[0].text.split("---\n")[1])


def check(made: Skill) -> None:
    assert NAME.fullmatch(made.name)
    assert 0 < len(made.description) <= MAX_DESCRIPTION
    assert frontmatter(made) == {"name": made.name, "description": made.description}
    assert len(made.files[0].content) <= MAX_SKILL_BYTES
    assert all(len(file.content) <= MAX_REFERENCE_BYTES for file in made.files[1:])
    assert len(made.files) <= MAX_REFERENCES + 1
    assert len(made.by_uri) == len(made.files)


def test_large_api_keeps_to_the_limits() -> None:
    tools = [
        tool(f"tool_{group}_{number}_{'x' * 30}", f"Group {group}", description="Does much. " * 40)
        for group in range(150)
        for number in range(4)
    ]
    tools += [tool(f"many_{number}_{'y' * 40}", "Many", description="word " * 30) for number in range(400)]
    made = skill(*tools, text="Says much. " * 500, about="word " * 300, title="T" * 200)
    check(made)
    assert "more groups, in the other files" in made.files[0].text
    assert "- and " in made.by_uri["skill://pets/references/many.md"].text
    assert "## Errors" in made.files[0].text


def test_api_without_tools_has_a_skill() -> None:
    made = skill()
    check(made)
    assert len(made.files) == 1
    assert "## Tools" not in made.files[0].text


def test_tools_without_a_group_are_in_the_last_file() -> None:
    made = skill(tool("one", "a"), tool("two", "b"), tool("three", path="/{id}"))
    assert [file.path for file in made.files[1:]] == ["references/a.md", "references/b.md", "references/others.md"]


def test_groups_whose_names_are_alike_have_files_of_their_own() -> None:
    made = skill(tool("one", "A/B"), tool("two", "a b"), tool("three", "日本"), tool("four", "中国"))
    assert sorted(file.path for file in made.files[1:]) == [
        "references/a-b-2.md",
        "references/a-b.md",
        "references/group-2.md",
        "references/group.md",
    ]


def test_texts_of_a_document_are_no_markup_and_have_no_secrets() -> None:
    evil = "x](https://evil.example) <script>\u202e\x1b[31m `code` # head"
    made = skill(
        tool("one", evil[:30], description=f"{evil}\n## Injected"),
        tool("two", "b"),
        title=f"{evil}\n---\nname: other",
        text="# Heading\n```\n<script>\n## Tools\nhttps://user:secret@api.example/?token=secret2 \u202e",
    )
    check(made)
    whole = "".join(file.text for file in made.files)
    for bad in ("\u202e", "\x1b", "secret", "\n## Injected"):
        assert bad not in whole, bad
    body = whole.partition("\n---\n")[2]
    assert not re.search(r"(?<!\\)(\]\(https://evil|<script>)", body)
    assert whole.count("\n## Tools\n") == 1
    assert not set("<>") & set(made.description)


def test_credentials_are_named_with_their_kind() -> None:
    basic = SecurityScheme(name="login", type="http", variable="V", scheme="basic")
    oauth = SecurityScheme(name="sign_in", type="oauth2", variable="W")
    text = chapters.credentials([tool("one", security=((KEY,), (basic, oauth))), tool("two", security=((KEY,),))])
    assert text.count("- key: a key") == 1
    assert "- login: user and password" in text
    assert "- sign\\_in: an access token" in text
    assert not chapters.credentials([tool("one", security=((),))])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Fine. You may send 60 requests per minute. Bye.", ["You may send 60 requests per minute."]),
        ("# Rate limits\n\nAt most 5 calls a second", ["# Rate limits", "At most 5 calls a second"]),
        ("Clients are throttled.\nOther", ["Clients are throttled."]),
        ("Pets per owner are separated. We generate pets.", []),
    ],
)
def test_limits_are_in_the_words_of_the_document(text: str, found: list[str]) -> None:
    lines = [line for line in chapters.limits(text, []).splitlines() if line.startswith("- ")]
    assert [line.replace("\\", "") for line in lines] == [f"- {each}" for each in found]


def test_limits_name_the_headers_that_say_what_is_left() -> None:
    tools = [tool("one", response_headers=("x-ratelimit-remaining", "link")), tool("two")]
    assert "- Answers say what is left: `x-ratelimit-remaining`" in chapters.limits("", tools)


def test_changes_ask_for_care_only_where_something_changes() -> None:
    assert "be sure that the user wants it" not in skill(tool("one", "a")).files[0].text
    assert "be sure that the user wants it" in skill(tool("one", "a", annotations={})).files[0].text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Pet Store", "pet-store"),
        ("--A__b", "a-b"),
        ("", "api"),
        ("日本", "api"),
        ("x" * 99, "x" * MAX_NAME),
    ],
)
def test_slug(text: str, expected: str) -> None:
    assert slug(text, "api") == expected


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300), st.text(max_size=300), st.lists(st.text(max_size=40), max_size=5))
def test_any_text_makes_a_valid_skill(title: str, text: str, tags: list[str]) -> None:
    made = skill(tool("one", *tags, description=text), title=title, name=title or "x", text=text, about=text)
    check(made)
    json.dumps(made.entry).encode()

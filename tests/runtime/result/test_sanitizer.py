"""`Sanitizer`: no configured credential and no hidden character is in what a model gets, wherever the API puts it."""

import base64
import html
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, quote_plus

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi_mcp.runtime.request.build import RequestOptions
from openapi_mcp.runtime.result.build import to_result
from openapi_mcp.runtime.result.sanitizer import Sanitizer, secrets_of
from openapi_mcp.runtime.types import CallToolResult
from tests.runtime.making import tool

KEY = "sk-Live/9+aZ=17&x"


def options(**more: Any) -> RequestOptions:
    return RequestOptions(**{"credentials": {"key": KEY}, **more})


def answered(
    body: str | bytes,
    content_type: str = "application/json",
    *,
    status: int = 200,
    headers: dict[str, str] | None = None,
    request_options: RequestOptions | None = None,
    limit: int = 100_000,
) -> CallToolResult:
    response = httpx.Response(
        status,
        headers={"content-type": content_type, **(headers or {})},
        content=body,
        request=httpx.Request("GET", "https://api.test/x"),
    )
    sanitizer = Sanitizer(secrets_of(request_options or options()))
    return to_result(tool(), response, max_bytes=limit, sanitizer=sanitizer)


def shown(result: CallToolResult) -> str:
    """Return all that a client gets, with the bytes of blocks decoded."""
    data = [block.get("resource", block) for block in result.content]
    blobs = [base64.b64decode(each.get("blob") or each.get("data") or "").decode("latin-1") for each in data]
    texts = [block.get("text", "") for block in result.content]
    return "\n".join([*texts, *blobs, *strings(result.structured_content)])


def strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for item in [*value, *value.values()] for text in strings(item)]
    if isinstance(value, list):
        return [text for item in value for text in strings(item)]
    return [str(value)]


def basic(pair: str) -> str:
    return base64.b64encode(pair.encode()).decode()


FORMS: list[Callable[[str], str]] = [
    str,
    lambda secret: quote(secret, safe=""),
    lambda secret: quote(secret, safe="").lower() if secret.islower() else quote(secret),
    quote_plus,
    html.escape,
    basic,
    json.dumps,
    lambda secret: f"Bearer {secret}",
    lambda secret: f"https://api.test/?key={quote_plus(secret)}&a=1",
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("status", [200, 404, 401, 500])
def test_echoed_credential_is_replaced(form: Callable[[str], str], status: int) -> None:
    echo = form(KEY)
    bodies = [(json.dumps({"headers": {"X-Key": echo, echo: [1, echo]}}), "application/json"), (echo, "text/plain")]
    bodies += [(f"<h1>{echo}</h1>", "text/html"), (f"data: {echo}\n\n", "text/event-stream")]
    bodies += [(f"\0{echo}\xff", "application/octet-stream")]
    for body, content_type in bodies:
        text = shown(answered(body, content_type, status=status, headers={"x-echo": quote(echo), "etag": quote(echo)}))
        assert echo not in text, content_type
        assert KEY not in text


def test_credential_escaped_in_json_is_replaced_and_the_rest_is_whole() -> None:
    escaped = "".join(f"\\u{ord(character):04x}" for character in KEY)
    result = answered(f'{{"a": "{escaped}", "b": [1.50, "{KEY}!"]}}')
    assert result.structured_content == {"a": "***", "b": [1.5, "***!"]}
    assert json.loads(result.content[0]["text"]) == result.structured_content


def test_credential_in_another_encoding_is_replaced() -> None:
    assert KEY not in shown(answered(json.dumps({"a": KEY}).encode("utf-16")))


def test_credential_is_replaced_before_the_answer_is_cut() -> None:
    for limit in range(60, 200, 7):
        text = shown(answered("x" * 60 + KEY + "y" * 200, "text/plain", limit=limit))
        assert "sk-Live" not in text


def test_password_and_base64_of_a_basic_credential_are_replaced() -> None:
    request_options = RequestOptions(credentials={"login": "anna:open-Sesame"})
    result = answered(
        json.dumps({"user": "anna", "header": f"Basic {basic('anna:open-Sesame')}", "password": "open-Sesame"}),
        request_options=request_options,
    )
    assert result.structured_content == {"user": "anna", "header": "Basic ***", "password": "***"}


def test_credentials_in_configured_headers_and_base_url_are_replaced() -> None:
    request_options = RequestOptions(
        headers=(("Authorization", "Bearer abcdefghi"), ("Cookie", "sid=c00kie-value; lang=en"), ("X-Env", "staging")),
        base_url="https://u:pass-word-1@api.test?api_key=urlkey-123456",
    )
    result = answered(
        json.dumps(["abcdefghi", "c00kie-value", "staging", "pass-word-1", "urlkey-123456"]),
        request_options=request_options,
    )
    assert result.structured_content == ["***", "***", "staging", "***", "***"]


def test_short_credential_is_replaced_as_a_word() -> None:
    result = answered(
        '["test", "latest", "key=test&a", "a%20test"]', request_options=options(credentials={"k": "test"})
    )
    assert result.structured_content == ["***", "latest", "key=***&a", "a%20***"]


def test_number_that_is_a_credential_is_replaced() -> None:
    result = answered('{"pin": 12345678, "n": 1, "t": true}', request_options=options(credentials={"k": "12345678"}))
    assert result.structured_content == {"pin": "***", "n": 1, "t": True}


def test_names_that_are_replaced_stay_different() -> None:
    result = answered(json.dumps({KEY: 1, "***": 2, f"{KEY}*": 3}))
    assert sorted(result.structured_content.values()) == [1, 2, 3]


@pytest.mark.parametrize("status", [200, 500])
def test_hidden_characters_are_escaped(status: int) -> None:
    hostile = "\x1b[2J\u202eevil\u2066\U000e0041\u200b\0\x9b"
    for body, content_type in [(json.dumps({hostile: hostile}), "application/json"), (f"text {hostile}", "text/plain")]:
        text = shown(answered(body, content_type, status=status, headers={"etag": "a\x1b[2Jb"}))
        assert not set(hostile) & set(text) - set("[2Jevil")
        assert "\\u202e" in text


def test_answer_without_secrets_and_hidden_characters_is_unchanged() -> None:
    body = '{"a":  "日本 👨\u200d👩\u200d👧\\r\\n\\u00e9", "b": [1.10, null]}'
    result = answered(body)
    assert json.loads(result.content[0]["text"]) == result.structured_content == json.loads(body)


SECRETS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cf", "Zl", "Zp", "Zs"]), min_size=8)
AROUND = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=8)
BODIES: st.SearchStrategy[Callable[[str], tuple[str, str]]] = st.sampled_from([
    lambda text: (json.dumps({"a": [text]}), "application/json"),
    lambda text: (json.dumps({text: 1}, ensure_ascii=False), "application/json"),
    lambda text: (text, "text/plain; charset=utf-8"),
    lambda text: (json.dumps(text) + "\n" + json.dumps([text]), "application/jsonl"),
    lambda text: ("\0" + text, "application/octet-stream"),
])  # fmt: skip


@pytest.mark.slow
@given(SECRETS, st.tuples(AROUND, AROUND), st.sampled_from(FORMS[:6]), BODIES, st.sampled_from([200, 400, 401, 503]))
def test_no_credential_in_any_form_reaches_the_model(
    secret: str, around: tuple[str, str], form: Callable[[str], str], body: Any, status: int
) -> None:
    echo = form(secret)
    content, content_type = body(echo.join(around))
    result = answered(
        content.encode(), content_type, status=status, request_options=RequestOptions(credentials={"k": secret})
    )
    texts = shown(result)
    if "octet" in content_type:
        texts = texts.encode("latin-1", "replace").decode("utf-8", "replace")
    assert echo not in texts
    assert secret not in texts


TOKENS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=20, max_size=60)


@given(st.lists(TOKENS, min_size=1, max_size=30), st.text(max_size=30), st.text(max_size=30))
def test_access_tokens_that_became_known_later_are_in_no_text(tokens: list[str], before: str, after: str) -> None:
    sanitizer = Sanitizer()
    for token in tokens:
        sanitizer.hide([token])
    for token in tokens:
        for form in FORMS:
            written = form(token)
            left = sanitizer.text(f"{before}{written}{after}")
            assert written not in left
            request = httpx.Request("GET", "https://api.test/x")
            response = httpx.Response(200, headers={"x-echo": token}, content=written.encode(), request=request)
            echoed = sanitizer.response(response)
            assert written.encode() not in echoed.content
            assert token not in echoed.headers["x-echo"]


def test_text_without_tokens_stays_as_it_is() -> None:
    sanitizer = Sanitizer()
    sanitizer.hide(f"token-{number:08}-of-a-user" for number in range(500))
    for text in ("", "token-", "x" * 16, "token-of-a-user " * 50, "token-00000001-of-a-guest"):
        assert sanitizer.text(text) == text
    assert sanitizer.text("token-00000001-of-a-user!token-00000499-of-a-user") == "***!***"


def test_token_of_each_user_costs_the_same_however_many_there_are() -> None:
    """A regular expression of a hundred tokens took four seconds to make, for each new one, on the event loop."""
    sanitizer = Sanitizer(["configured-credential"])
    for number in range(3000):
        sanitizer.hide(["configured-credential", f"eyJ{number:05}{'x' * 800}{number:016}"])
    assert sanitizer._forms == Sanitizer(["configured-credential"])._forms
    text = f"a eyJ00007{'x' * 800}{7:016} b configured-credential c"
    assert sanitizer.text(text) == "a *** b *** c"

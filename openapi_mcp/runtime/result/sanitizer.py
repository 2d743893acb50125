r"""`Sanitizer`: what an API sent, made fit for a model or a terminal, without configured credentials.

A credential that the API echoes is replaced by `***`, in text, bytes and numbers, also in base64, percent-encoded and
escaped for JSON or HTML. Hidden characters are written as escapes (`\u202e`), so that nothing that was sent is lost.
Both happen before an answer is cut, since half a credential is not recognised.
"""

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, AnyStr, Final, cast
from urllib.parse import quote, quote_plus

import httpx

from .. import jsontext
from ..request.build import RequestOptions
from ..request.redaction import is_secret_header, secrets_of_url
from ..types import MISSING, CallToolResult, JsonObject
from ..upstream.http11 import raw_headers
from . import content, hidden_characters
from .content import DecodedBody
from .partial_json import like

if TYPE_CHECKING:  # packages have no tokens that are fetched
    from .hidden_tokens import HiddenTokens

REDACTED: Final = "***"

_MIN_ANYWHERE: Final = 8
"""Characters of a credential that is replaced even within a word. A shorter one is replaced as a word of its own:
`test` is no part of `latest`."""

MAX_SECRETS: Final = 1000
"""Secrets that are removed, besides access tokens."""

_MAX_NUMBER: Final = 1e40
"""Numbers are compared with secrets up to this; no secret has more digits."""

_BASE64: Final = frozenset({"data", "blob"})
"""Members of content blocks that are bytes in base64."""

_OF_THE_ENCODED_BODY: Final = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})
"""Headers that do not describe the decoded body."""


def secrets_of(options: RequestOptions) -> frozenset[str]:
    """Return the texts of the operator's options that must not reach a model."""
    return frozenset(filter(None, _secrets(options)))


def _secrets(options: RequestOptions) -> Iterator[str]:
    for credential in options.credentials.values():
        yield from _credential(credential.strip())
    for text in options.variables.values():
        yield from _credential(text.strip())
    for name, value in options.headers:
        if is_secret_header(name, value):
            yield from _credential(value.strip())
            yield from (pair.partition("=")[2].strip() for pair in value.split(";") if name.lower() == "cookie")
    for url in (options.base_url or "", *options.other_base_urls):
        for secret in secrets_of_url(url):
            yield from _credential(secret)


def _credential(text: str) -> Iterator[str]:
    """Yield a credential, also without its scheme; of a pair, `user:password`, the password and the pair's base64."""
    yield text
    scheme, space, value = text.partition(" ")
    if space and scheme.isalpha():
        yield value.strip()
        if scheme.lower() == "basic":
            yield from _credential(_decoded(value.strip()))
    elif ":" in text:
        yield text.partition(":")[2]


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except ValueError:
        return ""


def _forms(secret: str) -> Iterator[str]:
    """Yield a secret as it is and as it is written in URLs, JSON, HTML and base64."""
    yield secret
    for written in (quote(secret, safe=""), quote(secret), quote_plus(secret)):
        yield written
        yield re.sub("%[0-9A-F]{2}", lambda match: match[0].lower(), written)
    for written in (json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]):
        yield written
        yield written.replace("/", "\\/")
    yield html.escape(secret)
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        encoded = encode(secret.encode()).decode()
        yield encoded
        yield encoded.rstrip("=")


class Sanitizer:
    """A sanitiser for the answers to requests that hold these secrets."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets: dict[str, None] = {}
        self._tokens: HiddenTokens | None = None
        self._know(secrets)

    def hide(self, secrets: Iterable[str]) -> None:
        """Remove these secrets too from now on; of many that were added one after the other, the newest.

        Access tokens are looked for in another way than configured secrets, since each user may have one.
        """
        from .hidden_tokens import HiddenTokens, is_token

        self._tokens = known = self._tokens or HiddenTokens()
        new = [secret for secret in secrets if secret not in self._secrets and secret not in known]
        for token in filter(is_token, new):
            known.add(dict.fromkeys(_forms(token)))
        if others := [secret for secret in new if not is_token(secret)]:
            self._know(others)

    def _know(self, secrets: Iterable[str]) -> None:
        self._secrets = dict(list({**self._secrets, **dict.fromkeys(secrets)}.items())[-MAX_SECRETS:])
        forms = {form for secret in self._secrets for form in _forms(secret)} - {""}
        self._forms = tuple(sorted(forms, key=len, reverse=True))
        self._bytes = tuple(form.encode() for form in self._forms)
        self._pattern = re.compile("|".join(map(_pattern, self._forms)))
        self._bytes_pattern = re.compile("|".join(map(_pattern, self._forms)).encode())
        self._numbers = frozenset(form for form in forms if form.isascii() and form[-1].isdigit())

    def text(self, text: str) -> str:
        """Return a text without secrets and hidden characters."""
        if self._forms and _holds_any(text, self._forms):
            text = self._pattern.sub(REDACTED, text)
        if self._tokens is not None:
            text = self._tokens.replaced(text, REDACTED)
        return hidden_characters.escape(text)

    def value(self, value: Any) -> Any:
        """Return a JSON value whose strings, names and numbers have neither."""
        if isinstance(value, str):
            return like(self.text(value), value)
        if isinstance(value, dict):
            return self._object(value)
        if isinstance(value, list):
            return like([self.value(item) for item in value], value)
        return REDACTED if self._numbers and self._is_secret_number(value) else value

    def body(self, body: DecodedBody) -> DecodedBody:
        """Return a decoded body without secrets and hidden characters; the text of JSON is still that of its value."""
        if body.text is None:
            return body._replace(blocks=tuple(map(self.block, body.blocks)))
        text = self.text(body.text)
        is_clean = text == body.text
        if is_clean and (body.value is MISSING or "\\" not in text):  # no string of the JSON has an escape
            return body
        if body.value is MISSING:
            return body._replace(text=text)
        value = self.value(body.value)
        if body.is_json and not (is_clean and value == body.value):
            text = jsontext.write(value)
        return body._replace(text=text, value=value)

    def block(self, block: JsonObject) -> JsonObject:
        """Return a content block with its texts and names sanitised; `response` removes secrets from bytes."""
        return {
            name: item if name in _BASE64 else self.block(item) if name == "resource" else self.value(item)
            for name, item in block.items()
        }

    def result(self, result: CallToolResult) -> CallToolResult:
        """Return a result without secrets and hidden characters."""
        structured = result.structured_content
        return replace(
            result,
            content=tuple(map(self.block, result.content)),
            structured_content=structured if structured is MISSING else self.value(structured),
            meta=self.value(dict(result.meta)),
        )

    def response(self, response: httpx.Response) -> httpx.Response:
        """Return a response without secrets in its headers, its reason and its bytes; hidden characters stay."""
        if not self._bytes and self._tokens is None:
            return response
        headers = raw_headers(response)
        parts = (response.content, response.extensions.get("reason_phrase", b""), *[value for _, value in headers])
        whole = b"\n".join(parts)
        if not (_holds_any(whole, self._bytes) or (self._tokens and self._tokens.are_in(whole.decode("latin-1")))):
            return response
        reason, *values = map(self._bytes_without, parts[1:])
        fields = zip((name for name, _ in headers), values, strict=True)
        return httpx.Response(
            response.status_code,
            headers=[(name, value) for name, value in fields if name.lower() not in _OF_THE_ENCODED_BODY],
            content=self._body_bytes(response),
            request=response.request,
            extensions={**response.extensions, **({"reason_phrase": reason} if reason else {})},
        )

    def _body_bytes(self, response: httpx.Response) -> bytes:
        """Return the bytes of a body without secrets; those in large JSON are removed from what is read of it."""
        data, kind = response.content, response.headers.get("content-type", "")
        if len(data) > content.MAX_WHOLE and content.may_be_json(kind, data):
            return data
        replaced = self._bytes_without(data)
        decoded = content.read(kind, data, str) if data and content.may_be_json(kind, data) else None
        if decoded is not None and decoded.is_json:  # a number, or a name that becomes that of another property
            return jsontext.write_bytes(self.value(decoded.value))
        return replaced

    def _bytes_without(self, data: bytes) -> bytes:
        """Return bytes without secrets."""
        data = self._bytes_pattern.sub(REDACTED.encode(), data) if self._bytes else data
        return self._tokens.replaced(data.decode("latin-1"), REDACTED).encode("latin-1") if self._tokens else data

    def _object(self, value: Mapping[str, Any]) -> JsonObject:
        """Return an object with all its properties: a name that is replaced stays different from the others."""
        sanitized: JsonObject = {}
        for name, item in value.items():
            new = self.text(name)
            while new != name and (new in value or new in sanitized):
                new += "*"
            sanitized[new] = self.value(item)
        return cast("JsonObject", like(sanitized, value))

    def _is_secret_number(self, value: Any) -> bool:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and abs(value) < _MAX_NUMBER and json.dumps(value) in self._numbers


def _holds_any(text: AnyStr, forms: Iterable[AnyStr]) -> bool:
    return any(form in text for form in forms)


def _pattern(form: str) -> str:
    """Return the regular expression of a form; a short one is a word of its own, also after `%20`."""
    escaped = re.escape(form)
    if len(form) >= _MIN_ANYWHERE:
        return escaped
    return f"(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{{2}})){escaped}(?![A-Za-z0-9])"


NO_SECRETS: Final = Sanitizer()
"""A sanitiser of hidden characters alone."""

"""Who has what."""

from typing import Any, NotRequired, TypedDict

from ..api import BASE_URL, READER_CARD
from ..runtime import Api, Encoding, MediaType, RequestBody, Result, Schema, Toolbox, body, path

LOAN: Schema = {"type": "object", "properties": {"number": {"type": "integer"}, "due": {"type": ["string", "null"]}}}

DEFINITIONS: dict[str, Schema] = {
    "ByMail": {
        "type": "object",
        "required": ["address"],
        "properties": {"address": {"type": "string", "format": "email"}},
    },
    "ByPhone": {
        "type": "object",
        "required": ["number"],
        "properties": {"number": {"type": "string"}, "in-the-evening": {"type": "boolean"}},
    },
}


class Loan(TypedDict):
    number: NotRequired[int]
    due: NotRequired[str | None]


class ByMail(TypedDict):
    address: str


ByPhone = TypedDict("ByPhone", {"number": str, "in-the-evening": NotRequired[bool]})


tools = Toolbox(base_url=BASE_URL, tags=["loans"], security=[[READER_CARD]], definitions=DEFINITIONS)


@tools.post(
    "/loans",
    inputs=[
        body("reader", {"type": "string"}, required=True),
        body("books", {"type": "array", "items": {"type": "string"}, "minItems": 1}, required=True),
        body("due", {"type": ["string", "null"], "format": "date", "description": "Null is until further notice."}),
        body("notify", {"anyOf": [{"$ref": "#/$defs/ByMail"}, {"$ref": "#/$defs/ByPhone"}]}),
    ],
    open_body=True,
    output_schema=LOAN,
)
async def lend(
    api: Api,
    *,
    reader: str,
    books: list[str],
    due: str | None = None,
    notify: ByMail | ByPhone | None = None,
    others: dict[str, Any] | None = None,
) -> Result[Loan]:
    """Lend books"""
    return await api.call(lend, reader=reader, books=books, due=due, notify=notify, others=others)


@tools.put(
    "/loans/{loan}/slip",
    name="keepSlip",
    inputs=[
        path("loan", {"type": "integer"}),
        body("scan", {"contentMediaType": "image/png", "contentEncoding": "binary"}, required=True),
        body("pages", {"type": "array", "items": {"type": "integer"}}),
    ],
    open_body=True,
    request_body=RequestBody(
        media_types=(
            MediaType(
                content_type="multipart/form-data",
                encoding={"scan": Encoding(content_type="image/png", binary=True), "pages": Encoding()},
            ),
        ),
        required=True,
    ),
)
async def keep_slip(
    api: Api,
    *,
    loan: int,
    scan: Any,
    pages: list[int] | None = None,
    others: dict[str, Any] | None = None,
) -> Result[Any]:
    """Keep a scanned slip"""
    return await api.call(keep_slip, loan=loan, scan=scan, pages=pages, others=others)

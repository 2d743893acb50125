"""What there is to read."""

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from ..api import BASE_URL, READER_CARD
from ..runtime import (
    Api,
    MediaType,
    RequestBody,
    Result,
    Schema,
    Toolbox,
    XmlDocument,
    XmlNode,
    body,
    cookie,
    header,
    media_type,
    path,
    query,
    querystring,
    read_schemas,
)

SCHEMAS = read_schemas(__file__)

DEFINITIONS: dict[str, Schema] = {
    "Language": {"type": "string", "enum": ["de", "en", "fr", "it"]},
    "Book": {
        "type": "object",
        "required": ["isbn", "title"],
        "properties": {
            "isbn": {"type": "string"},
            "title": {"type": "string"},
            "authors": {"type": "array", "items": {"type": "string"}},
            "language": {"$ref": "#/$defs/Language"},
            "follows": {"$ref": "#/$defs/Book", "description": "The volume before it."},
        },
    },
}

Language: TypeAlias = Literal["de", "en", "fr", "it"]


class Book(TypedDict):
    isbn: str
    title: str
    authors: NotRequired[list[str]]
    language: NotRequired[Language]
    follows: "NotRequired[Book]"


class BookOutput(TypedDict):
    isbn: NotRequired[str]
    title: NotRequired[str]
    authors: NotRequired[list[str]]
    language: NotRequired[str]
    follows: "NotRequired[BookOutput]"


class BooksListFilter(TypedDict):
    author: NotRequired[str]
    year: NotRequired[int]
    language: NotRequired[Language]


ReportsSelection = TypedDict("ReportsSelection", {"from": NotRequired[str], "to": NotRequired[str]})


tools = Toolbox(base_url=BASE_URL, tags=["catalogue"], definitions=DEFINITIONS)


@tools.get(
    "/books",
    inputs=[
        query("page", {"type": "integer", "minimum": 1, "default": 1, "description": "From 1."}),
        query(
            "filter",
            {
                "type": "object",
                "properties": {
                    "author": {"type": "string"},
                    "year": {"type": "integer"},
                    "language": {"$ref": "#/$defs/Language"},
                },
                "description": "Exact matches only.",
            },
            style="deepObject",
        ),
        query("sort", {"enum": ["title", "-title", "year", "-year"], "default": "title"}),
    ],
    output_schema=SCHEMAS["books_list"],
    operation_id="books.list",
)
async def books_list(
    api: Api,
    *,
    page: int = 1,
    filter: BooksListFilter | None = None,
    sort: Literal["title", "-title", "year", "-year"] = "title",
) -> Result[list[BookOutput]]:
    """List books"""
    return await api.call(books_list, page=page, filter=filter, sort=sort)


@tools.operation(
    "QUERY",
    "/books",
    inputs=[
        body("words", {"type": "string"}, required=True),
        body("within", {"type": "array", "items": {"type": "string"}}),
        body("class", {"type": "string", "description": "The shelf mark begins so."}),
    ],
    open_body=True,
    accept="application/jsonl, */*;q=0.5",
    operation_id="books.search",
)
async def books_search(
    api: Api,
    *,
    words: str,
    within: list[str] | None = None,
    class_: str | None = None,
    others: dict[str, Any] | None = None,
) -> Result[Any]:
    """Search the full text of all books

    Words are matched as they are written. To search for a phrase put it between double quotes.

    - `+word` has to be there
    - `-word` must not be there
    """
    return await api.call(books_search, words=words, within=within, class_=class_, others=others)


@tools.get(
    "/books/{isbn}",
    inputs=[
        path("isbn", {"type": "string", "pattern": "^[0-9]{13}$"}),
        header("Accept-Language", {"type": "string"}),
        cookie("theme", {"type": "string"}, style="cookie"),
    ],
    output_schema=SCHEMAS["books_get"],
    operation_id="books.get",
)
async def books_get(
    api: Api,
    *,
    isbn: str,
    accept_language: str | None = None,
    theme: str | None = None,
) -> Result[BookOutput]:
    """Get a book"""
    return await api.call(books_get, isbn=isbn, accept_language=accept_language, theme=theme)


@tools.put(
    "/books/{isbn}",
    inputs=[
        path(
            "isbn",
            {
                "type": "string",
                "pattern": "^[0-9]{13}$",
                "description": "`isbn` in the path (in the body: `isbn_body`).",
            },
        ),
        body(
            "isbn_body",
            {"type": "string", "description": "`isbn` in the body (in the path: `isbn`)."},
            wire_name="isbn",
            required=True,
        ),
        body("title", {"type": "string"}, required=True),
        body("authors", {"type": "array", "items": {"type": "string"}}),
        body("language", {"$ref": "#/$defs/Language"}),
        body("follows", {"$ref": "#/$defs/Book", "description": "The volume before it."}),
        media_type(
            "content_type",
            {
                "type": "string",
                "enum": ["application/json", "application/xml"],
                "default": "application/json",
                "description": "The media type to send the body in.",
            },
        ),
    ],
    open_body=True,
    request_body=RequestBody(
        media_types=(
            MediaType(content_type="application/json"),
            MediaType(
                content_type="application/xml",
                xml=XmlDocument(
                    root=XmlNode(node_type="none", name="Book", ref="Book"),
                    definitions={
                        "Book": XmlNode(
                            name="book",
                            properties={
                                "isbn": XmlNode(node_type="attribute"),
                                "title": XmlNode(),
                                "authors": XmlNode(node_type="none", items=XmlNode()),
                                "language": XmlNode(node_type="none", ref="Language"),
                                "follows": XmlNode(node_type="none", ref="Book"),
                            },
                        ),
                        "Language": XmlNode(name="Language"),
                    },
                ),
            ),
        ),
        required=True,
    ),
    security=[[READER_CARD]],
    operation_id="books.put",
)
async def books_put(
    api: Api,
    *,
    isbn: str,
    isbn_body: str,
    title: str,
    authors: list[str] | None = None,
    language: Language | None = None,
    follows: Book | None = None,
    content_type: Literal["application/json", "application/xml"] = "application/json",
    others: dict[str, Any] | None = None,
) -> Result[Any]:
    """Add a book, or replace it"""
    return await api.call(
        books_put,
        isbn=isbn,
        isbn_body=isbn_body,
        title=title,
        authors=authors,
        language=language,
        follows=follows,
        content_type=content_type,
        others=others,
    )


@tools.operation(
    "LINK",
    "/books/{isbn}",
    inputs=[
        path("isbn", {"type": "string", "pattern": "^[0-9]{13}$"}),
        header("Link", {"type": "string"}, required=True),
    ],
    security=[[READER_CARD]],
    operation_id="books.link",
)
async def books_link(api: Api, *, isbn: str, link: str) -> Result[Any]:
    """Link a book to another"""
    return await api.call(books_link, isbn=isbn, link=link)


@tools.get(
    "/reports",
    deprecated=True,
    inputs=[
        querystring(
            "selection",
            {
                "type": "object",
                "properties": {
                    "from": {"type": "string", "format": "date"},
                    "to": {"type": "string", "format": "date"},
                },
            },
            required=True,
            style="form",
            explode=True,
            content_type="application/x-www-form-urlencoded",
        ),
    ],
    security=[[READER_CARD]],
    accept="text/csv, */*;q=0.5",
)
async def reports(api: Api, *, selection: ReportsSelection) -> Result[Any]:
    """Ask for a report

    The whole query string is one value, which the reporting engine reads by itself: see its manual for the fields
    that it knows, for the operators between them, and for what becomes of those that are not known.

    Deprecated.
    """
    return await api.call(reports, selection=selection)

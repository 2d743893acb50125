"""Rows of hostile arguments: what a model may send by accident, and what somebody sends on purpose."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from tests.faults import calling
from tests.faults.answers import check
from tests.faults.rows import Row, Target, UnexpectedResult

MIB_4: Final = 4 << 20
"""The largest message that the server accepts; arguments of nearly this size are made below."""

LEFT_TO_THE_API: Final = "; the API judges them."
"""The end of each line of the log about arguments that were not judged."""

MAX_LOG_LOOKS: Final = 500
"""Looks at the log, each a hundredth of a second, after which a line that the server has written must be there."""

ROOM: Final = 400
"""Bytes of a message that are not its arguments."""


LONG: Final = frozenset(
    {
        *("wide filter, 60,000 wrong leaves", "wide filter, 60,000 leaves that fit", "a set of 700,000 numbers"),
        *("a set of 100,000 objects, the last twice", "a set of arrays in arrays", "2,000,000 integers"),
        *("integers, the last one wrong", "1,000,000 nulls for objects", "200,000 objects that fit", "400,000 keys"),
        *("200,000 objects without what is required", "80,000 objects that fit none of 50"),
        *("80,000 objects that fit one of 50", "200,000 wrong additional properties", "200,000 unknown arguments"),
        *("200,000 additional properties", "200,000 wrong pattern properties", "200,000 properties of no pattern"),
        *("200,000 unevaluated properties", "200,000 wrong property names", "1,000,000 items without the one"),
        *("a deepObject of 200,000 keys", "500,000 wrong integers, eight times at once"),
        *("a set of 100,000 objects, eight times at once", "300,000 items of which none is a choice"),
        *("a cookie of 1,300,000 items", "1,300,000 parts of a body", "2,000,000 elements of XML"),
        *("500,000 strings that hold integers", "wide filter, one wrong leaf of 60,000"),
    }
)
"""Rows that take seconds, which `make test` leaves to `make faults`."""


def row(
    tool: str,
    description: str,
    arguments: Callable[[], Any],
    expected: str,
    *,
    times: int = 1,
    is_judged: bool = True,
) -> Row:
    """Return the row of a call, `times` at once, whose outcome must match a regular expression.

    `arguments` makes them: a JSON value, or bytes of JSON that no value of Python has. Unless they are `is_judged`, the
    server's log must say that the API judges them.
    """

    async def run(target: Target) -> str:
        target.log.clear()
        made = arguments()
        raw = made if isinstance(made, bytes) else json.dumps(made, separators=(",", ":")).encode()
        calls = (calling.call(target, tool, raw) for _ in range(times))
        results = await asyncio.gather(*calls, return_exceptions=times > 1)
        outcomes = Counter(_outcome(result, expected) for result in results)
        await _check_log(target, is_judged=is_judged)
        return "; ".join(f"{count} times {outcome}" if times > 1 else outcome for outcome, count in outcomes.items())

    return Row("arguments", description, run, short=description not in LONG)


async def _check_log(target: Target, *, is_judged: bool) -> None:
    """Raise UnexpectedResult unless the log says that the API judges the arguments, or says so if they are judged."""
    is_said = False
    for _ in range(1 if is_judged else MAX_LOG_LOOKS):
        is_said = is_said or any(LEFT_TO_THE_API in line for line in target.log)
        await asyncio.sleep(0 if is_said else 0.01)
    if is_said is is_judged:
        raise UnexpectedResult(f"the log {'says' if is_said else 'does not say'} that the API judges the arguments")


def _outcome(result: dict[str, Any] | BaseException, expected: str) -> str:
    """Return the sentence of a result, or how the connection ended: many large calls at once may be refused so."""
    if isinstance(result, OSError):
        return "the connection was closed"
    if isinstance(result, BaseException):
        raise result
    check(result)
    outcome = calling.sentence(result)
    if not re.search(expected, outcome):
        raise UnexpectedResult(f"expected /{expected}/, got: {outcome}")
    return outcome


def nested(key: str, levels: int, leaf: Any, *, as_list: bool = False) -> Any:
    """Return `{key: {key: … leaf}}`, or with a list around each level."""
    value = leaf
    for _ in range(levels):
        value = {key: [value] if as_list else value}
    return value


def everyday_filter(levels: int, leaf: object) -> dict[str, Any]:
    return {"filter": nested("and", levels, leaf, as_list=True)}


def wide_filter(count: int, *, wrong: int) -> dict[str, Any]:
    """Return a filter with many leaves beside each other, the last `wrong` of them wrong."""
    good, bad = {"field": "a", "eq": 1}, {"field": "a", "eq": "x"}
    return {"filter": {"and": [good] * (count - wrong) + [bad] * wrong}}


def both_ways(levels: int, leaf: Any) -> dict[str, Any]:
    """Return a filter whose every level fits two alternatives."""
    value = leaf
    for _ in range(levels):
        value = {"not": value, "and": [value]} if levels < 8 else {"not": value, "and": []}
    return {"filter": value}


def conditional(levels: int, leaf: Any) -> dict[str, Any]:
    return {"value": nested("a", levels, leaf)}


def deep(opening: bytes, closing: bytes, levels: int) -> bytes:
    return b'{"value":' + opening * levels + b"1" + closing * levels + b"}"


def many(name: str, item: bytes, *, last: bytes | None = None) -> bytes:
    """Return an array of 4 MiB of one item."""
    times = (MIB_4 - ROOM) // (len(item) + 1)
    return b'{"%s":[' % name.encode() + b",".join([item] * (times - 1) + [last or item]) + b"]}"


def records(count: int, *, twice: bool = False) -> dict[str, Any]:
    made = [{"id": n, "name": f"n{n}"} for n in range(count)]
    return {"set": made + made[:1] if twice else made}


def keys(count: int, prefix: str, value: object) -> dict[str, Any]:
    return {"map": {f"{prefix}{n}": value for n in range(count)}}


def text_of(size: int, letter: str = "x") -> str:
    return letter * (size - ROOM)


FORMATS: Final = (
    *("email", "uri", "date-time", "hostname", "ipv6"),
    *("uuid", "regex", "uri-template", "json-pointer"),
)
ZEROS: Final = f"`{[0] * 180}`"
THREE_LOOPS: Final = f"map(&map(&map(&@, {ZEROS}), {ZEROS}), {ZEROS})"
ERROR: Final = "^error: "
FINE: Final = "^result: "
UNANSWERED: Final = "^JSON-RPC error"
BUSY: Final = "^JSON-RPC error -32603: Large messages in progress"

ROWS: Final = [
    row("twice", "recursive anyOf, wrong leaf, 14 levels", lambda: conditional(14, "x"), ERROR),
    row("twice", "recursive anyOf, wrong leaf, 24 levels", lambda: conditional(24, "x"), ERROR),
    row("twice", "recursive anyOf, wrong leaf, 200 levels", lambda: conditional(200, "x"), ERROR),
    row("twice", "recursive anyOf, fits, 200 levels", lambda: conditional(200, 1), FINE),
    row("once", "recursive oneOf, wrong leaf, 24 levels", lambda: conditional(24, "x"), ERROR),
    row("once", "recursive oneOf, fits, 24 levels", lambda: conditional(24, 1), FINE),
    row("all", "anyOf in two branches of allOf, wrong leaf, 24 levels", lambda: conditional(24, {"a": "x"}), ERROR),
    row("all", "anyOf in two branches of allOf, fits, 24 levels", lambda: conditional(24, {"a": 1}), FINE),
    row("conditional", "recursive if and then, wrong leaf, 24 levels", lambda: conditional(24, {}), ERROR),
    row("conditional", "recursive if and then, fits, 24 levels", lambda: conditional(24, {"leaf": 1}), FINE),
    row("negated", "recursive not, 40 levels", lambda: conditional(40, {}), FINE),
    row("filter", "everyday filter, wrong leaf, 12 levels", lambda: everyday_filter(12, {"field": "a"}), ERROR),
    row("filter", "everyday filter, wrong leaf, 24 levels", lambda: everyday_filter(24, {"field": "a"}), ERROR),
    row("filter", "everyday filter, fits, 24 levels", lambda: everyday_filter(24, {"field": "a", "eq": 1}), FINE),
    row("filter", "filter with not and and, wrong leaf, 7 levels", lambda: both_ways(7, {"field": 1}), ERROR),
    row("filter", "filter with not in not, 24 levels", lambda: both_ways(24, {"field": 1}), FINE),
    row("filter", "wide filter, one wrong leaf of 60,000", lambda: wide_filter(60_000, wrong=1), ERROR),
    row("filter", "wide filter, 60,000 wrong leaves", lambda: wide_filter(60_000, wrong=60_000), ERROR),
    row("filter", "wide filter, 60,000 leaves that fit", lambda: wide_filter(60_000, wrong=0), FINE),
    row("unique", "a set of 5,000 objects", lambda: records(5000), FINE),
    row("unique", "a set of 100,000 objects", lambda: records(100_000), FINE, is_judged=False),
    row(
        "unique",
        "a set of 100,000 objects, the last twice",
        lambda: records(100_000, twice=True),
        FINE,
        is_judged=False,
    ),
    row("uniqueAnything", "a set of 700,000 numbers", lambda: {"set": list(range(600_000))}, FINE),
    row("uniqueAnything", "a set of arrays in arrays", lambda: {"set": [[[n], [[n]]] for n in range(150_000)]}, FINE),
    row("integers", "500,000 wrong integers", lambda: {"numbers": ["x"] * 500_000}, ERROR),
    row("integers", "2,000,000 integers", lambda: many("numbers", b"1"), FINE),
    row("integers", "integers, the last one wrong", lambda: many("numbers", b"1", last=b"true"), ERROR),
    row("integers", "500,000 strings that hold integers", lambda: {"numbers": ["123"] * 500_000}, ERROR),
    row("integers", "a string that holds 4 MiB of JSON", lambda: {"numbers": "[" + "1," * 2_000_000 + "1]"}, ERROR),
    row("objects", "1,000,000 nulls for objects", lambda: many("list", b"null"), ERROR),
    row("objects", "200,000 objects without what is required", lambda: many("list", b'{"name":"x"}'), ERROR),
    row("objects", "200,000 objects that fit", lambda: many("list", b'{"id":1,"name":"x"}'), FINE),
    row(
        "alternatives",
        "80,000 objects that fit none of 50",
        lambda: many("list", b'{"kind":"x","value":-1}'),
        FINE,
        is_judged=False,
    ),
    row(
        "alternatives",
        "80,000 objects that fit one of 50",
        lambda: many("list", b'{"kind":"x","value":490}'),
        FINE,
        is_judged=False,
    ),
    row("freeIntegers", "200,000 wrong additional properties", lambda: keys(200_000, "k", "x"), ERROR),
    row("freeIntegers", "200,000 additional properties", lambda: keys(200_000, "k", 1), FINE),
    row("patterns", "200,000 wrong pattern properties", lambda: keys(200_000, "x-", "x"), ERROR),
    row("patterns", "200,000 properties of no pattern", lambda: keys(200_000, "y", 1), ERROR),
    row("unevaluated", "200,000 unevaluated properties", lambda: keys(200_000, "b", 1), ERROR),
    row("names", "200,000 wrong property names", lambda: keys(200_000, "name", 1), ERROR),
    row("contained", "1,000,000 items without the one", lambda: many("list", b'"tin"'), ERROR),
    row("choices", "300,000 items of which none is a choice", lambda: many("list", b'"choice-none"'), ERROR),
    row("backtracking", "a pattern that backtracks, 40 characters", lambda: {"text": "a" * 40 + "!"}, FINE),
    row("backtracking", "a pattern that backtracks, 4 MiB", lambda: {"text": text_of(MIB_4, "a") + "!"}, FINE),
    row("alternating", "alternatives that backtrack, 40 characters", lambda: {"text": "a" * 40 + "b"}, FINE),
    row("optional", "options side by side, 16 characters", lambda: {"text": "a" * 16}, ERROR),
    row("formats", "formats of 400 KB each", lambda: dict.fromkeys(FORMATS, "a:" * 200_000), FINE),
    row("formats", "formats of control characters", lambda: dict.fromkeys(FORMATS, "\x00\x1b]0;x\x07" * 100), FINE),
    row(
        "multiple",
        "multipleOf of a number of 4,000,000 digits",
        lambda: b'{"number":%s}' % (b"9" * 4_000_000),
        UNANSWERED,
    ),
    row("multiple", "multipleOf of 1e308", lambda: b'{"number":1e308}', FINE),
    row("multiple", "1e400", lambda: b'{"number":1e400}', UNANSWERED),
    row("multiple", "NaN", lambda: b'{"number":NaN}', UNANSWERED),
    row("multiple", "-Infinity", lambda: b'{"number":-Infinity}', UNANSWERED),
    row("anything", "2,000,000 nested arrays", lambda: deep(b"[", b"]", 2_000_000), UNANSWERED),
    row("anything", "600,000 nested objects", lambda: deep(b'{"a":', b"}", 600_000), UNANSWERED),
    row("anything", "250 nested arrays", lambda: deep(b"[", b"]", 250), FINE),
    row("anything", "lone surrogates", lambda: b'{"value":"\\ud800\\udfff"}', FINE),
    row("anything", "lone surrogates in a key", lambda: b'{"value":{"\\ud800":1}}', FINE),
    row("anything", "a key twice", lambda: b'{"value":{"a":1,"a":2}}', FINE),
    row("anything", "a key of 4 MiB", lambda: {"value": {text_of(MIB_4, "k"): 1}}, FINE),
    row("anything", "400,000 keys", lambda: {"value": {f"{n}": 1 for n in range(350_000)}}, FINE),
    row("leaf", "a wrong value below 250 levels", lambda: {"value": nested("next", 250, {"value": "x"})}, ERROR),
    row("leaf", "a wrong value below 200,000 levels", lambda: deep(b'{"next":', b"}", 200_000), UNANSWERED),
    row("text", "a string of 4 MiB where 100 characters fit", lambda: {"text": text_of(MIB_4)}, ERROR),
    row("text", "4 MiB of wide characters", lambda: {"text": text_of(MIB_4 // 12, "\U0001f600")}, ERROR),
    row("text", "an object of 4 MiB for a string", lambda: {"text": {"a": text_of(MIB_4)}}, ERROR),
    row("text", "200,000 unknown arguments", lambda: {"text": "x"} | {f"a{n}": n for n in range(200_000)}, ERROR),
    row("text", "an argument whose name is 4 MiB", lambda: {"text": "x", text_of(MIB_4, "n"): 1}, ERROR),
    row("getFault", "a path value that climbs", lambda: {"name": "../admin"}, ERROR),
    row("getFault", "a path value that climbs, encoded", lambda: {"name": "..%2Fadmin"}, ERROR),
    row("getFault", "a path value that climbs, encoded twice", lambda: {"name": "%252e%252e%255cadmin"}, ERROR),
    row("getFault", "a path value that is a dot", lambda: {"name": "."}, ERROR),
    row("getFault", "a path value with a backslash", lambda: {"name": "..\\admin"}, ERROR),
    row("getFault", "a path value of 4 MiB", lambda: {"name": text_of(MIB_4)}, ERROR),
    row("getFault", "a path value with NUL and line ends", lambda: {"name": "a\x00b\r\nHost: evil"}, FINE),
    row("sendReserved", "a reserved path value that climbs", lambda: {"q": "%2e%2e/admin"}, ERROR),
    row("sendHeader", "a header value with line ends", lambda: {"X-Note": "a\r\nHost: evil"}, ERROR),
    row("sendHeader", "a header value of 4 MiB", lambda: {"X-Note": text_of(MIB_4)}, FINE),
    row("sendQuery", "a query value of 4 MiB", lambda: {"q": text_of(MIB_4, "&")}, ERROR),
    row("sendDeep", "a deepObject of 200,000 keys", lambda: {"filter": keys(200_000, "k", "v")["map"]}, ERROR),
    row("sendCookie", "a cookie of 1,300,000 items", lambda: {"c": [""] * 1_300_000}, ERROR),
    row("sendParts", "1,300,000 parts of a body", lambda: {"files": [""] * 1_300_000}, ERROR),
    row("sendXml", "2,000,000 elements of XML", lambda: {"value": [1] * 2_000_000}, ERROR),
    row("getFault", "an expression of three loops", lambda: {"name": "fine", "select": THREE_LOOPS}, ERROR),
    row("upload", "base64 of 4 MiB", lambda: {"body": text_of(MIB_4, "A")}, FINE),
    row("upload", "base64 that is none, of 4 MiB", lambda: {"body": text_of(MIB_4, "*")}, FINE),
    row(
        "integers",
        "500,000 wrong integers, eight times at once",
        lambda: {"numbers": ["x"] * 500_000},
        f"{ERROR}|{BUSY}",
        times=8,
    ),
    row(
        "unique",
        "a set of 100,000 objects, eight times at once",
        lambda: records(100_000),
        f"{FINE}|{BUSY}",
        times=8,
        is_judged=False,
    ),
    row("twice", "recursive anyOf, 64 times at once", lambda: conditional(24, "x"), ERROR, times=64),
]
"""Arguments that may cost the server more than they cost who sends them."""

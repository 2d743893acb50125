"""Programs as models write them: each works, or says with the line what to write instead, and loses no call.

Tests that a program needs no change for the sandbox, whether it awaits its calls, and whatever it leaves behind.
"""

import json
from typing import Any, Final

import httpx
import pytest

from openapi_mcp.code_mode.lacks import MODULES
from openapi_mcp.code_mode.limits import CodeLimits
from openapi_mcp.runtime.tool import Argument, Tool
from tests.code_mode.api import Api, more
from tests.runtime.making import tool

pytestmark = pytest.mark.process

FIVE_SECONDS = CodeLimits(seconds=5, compute_seconds=5)


class Shop(Api):
    """An API whose answers are what its requests say, and that remembers what was created."""

    def __init__(self, *tools: Tool, limits: CodeLimits = FIVE_SECONDS) -> None:
        super().__init__(*tools, limits=limits)
        self.created: list[str] = []

    def respond(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        parts = request.url.path.strip("/").split("/")
        if request.method == "DELETE":
            return httpx.Response(204)
        if request.method == "POST":
            self.created.append(parts[-1])
            if parts[-1] == "bad":
                return httpx.Response(422, json={"detail": "a bad name"})
            return httpx.Response(201, json={"id": len(self.created), "name": parts[-1]})
        if parts[-1] == "items":
            return httpx.Response(200, json=[{"id": number, "price": 10 - number} for number in (1, 2, 3)])
        return httpx.Response(200, json={"id": int(parts[-1]), "name": f"item {parts[-1]}", "price": 10})


def shop() -> Shop:
    item = Argument(name="id", location="path", required=True)
    name = Argument(name="name", location="path", required=True)
    return Shop(
        tool("/items", name="items"),
        tool("/items/{id}", item, name="get"),
        tool("/items/{name}", name, name="create", method="POST"),
        tool("/items/{id}", item, name="remove", method="DELETE"),
    )


WORKING: Final[dict[str, tuple[str, Any]]] = {
    "a loop": (("ids = []\nfor item in items():\n    ids.append(get(id=item['id'])['id'])\nids"), [1, 2, 3]),
    "a comprehension": ("[get(id=item['id'])['price'] for item in items()]", [10, 10, 10]),
    "a comprehension with await": ("[(await get(id=item['id']))['id'] for item in await items()]", [1, 2, 3]),
    "a dict comprehension with await": ("{i: (await get(id=i))['id'] for i in (1, 2)}", {"1": 1, "2": 2}),
    "an f-string": (
        ("item = get(id=1)\nf\"{item['name']!r:>10} costs {item['price']:.2f}\""),
        "  'item 1' costs 10.00",
    ),
    "a newer f-string": ('f"{get(id=1)["name"]}"', "item 1"),
    "attributes in newer f-strings": (
        ('found = items()\nf"{", ".join(f"{item.id}: {item["price"]:>3}" for item in found)}"'),
        "1:   9, 2:   8, 3:   7",
    ),
    "many missing keys": (
        (
            "row = {'key_' + str(n): n for n in range(50)}\nmissing = 0\nfor n in range(2000):\n"
            "    try:\n        row['something']\n    except KeyError:\n        missing += 1\nmissing"
        ),
        2000,
    ),
    "asyncio without import": ("str(await asyncio.gather(get(id=1), get(id=2)))", "[{'id': 1"),
    "gather of a comprehension": (
        ("import asyncio\nfound = await asyncio.gather(*[get(id=i['id']) for i in items()])\n[f['id'] for f in found]"),
        [1, 2, 3],
    ),
    "gather of map": (
        ("import asyncio\n[f['id'] for f in await asyncio.gather(*map(lambda i: get(id=i), [1, 2]))]"),
        [1, 2],
    ),
    "gather of a list": (
        (
            "import asyncio\n"
            "calls = []\n"
            "for i in (1, 2):\n"
            "    calls.append(get(id=i))\n"
            "len(await asyncio.gather(*calls))"
        ),
        2,
    ),
    "gather with exceptions": (
        (
            "import asyncio\n"
            "results = await asyncio.gather(get(id=1), create(name='bad'), return_exceptions=True)\n"
            "[type(r).__name__ if isinstance(r, Exception) else r['id'] for r in results]"
        ),
        [1, "RuntimeError"],
    ),
    "exceptions as a result": (
        ("import asyncio\n(await asyncio.gather(create(name='bad'), return_exceptions=True))[0]"),
        'RuntimeError: create(name="bad"): 422',
    ),
    "from asyncio import": (
        ("from asyncio import gather, sleep\nawait sleep(0)\nlen(await gather(get(id=1), get(id=2)))"),
        2,
    ),
    "import asyncio as": (("import asyncio as aio\nlen(await aio.gather(get(id=1), get(id=2)))"), 2),
    "asyncio.run": (("import asyncio\nasync def main():\n    return (await get(id=1))['id']\nasyncio.run(main())"), 1),
    "main": (
        (
            "import asyncio\n"
            "async def main():\n"
            "    return (await get(id=1))['id']\n"
            "if __name__ == '__main__':\n"
            "    asyncio.run(main())"
        ),
        1,
    ),
    "main without await": (("async def main():\n    return (await get(id=1))['id']\nmain()"), 1),
    "a loop of asyncio": (
        ("import asyncio\nloop = asyncio.get_event_loop()\nloop.run_until_complete(get(id=1))['id']"),
        1,
    ),
    "tasks": (
        (
            "import asyncio\n"
            "a = asyncio.create_task(get(id=1))\n"
            "b = asyncio.create_task(get(id=2))\n"
            "(await a)['id'] + (await b)['id']"
        ),
        3,
    ),
    "tasks of coroutines": (
        (
            "import asyncio\n"
            "async def one(i):\n"
            "    return (await get(id=i))['id']\n"
            "tasks = [asyncio.create_task(one(i)) for i in (1, 2)]\n"
            "[await task for task in tasks]"
        ),
        [1, 2],
    ),
    "a task group": (
        (
            "import asyncio\n"
            "async with asyncio.TaskGroup() as group:\n"
            "    tasks = [group.create_task(get(id=i)) for i in (1, 2)]\n"
            "[task.result()['id'] for task in tasks]"
        ),
        [1, 2],
    ),
    "wait_for": (("import asyncio\n(await asyncio.wait_for(get(id=1), timeout=5))['id']"), 1),
    "wait_for that takes long": (
        (
            "import asyncio\n"
            "try:\n"
            "    await asyncio.wait_for(asyncio.sleep(0.2), 0.1)\n"
            "except asyncio.TimeoutError:\n"
            "    end = 'late'\n"
            "end"
        ),
        "late",
    ),
    "wait_for of a task that takes long": (
        (
            "import asyncio\n"
            "slow, quick = asyncio.create_task(asyncio.sleep(2)), asyncio.create_task(get(id=1))\n"
            "try:\n"
            "    await asyncio.wait_for(slow, 0.1)\n"
            "except TimeoutError:\n"
            "    end = slow.cancelled()\n"
            "await quick\n"
            "[end, quick.result()['id']]"
        ),
        [True, 1],
    ),
    "several wait_for at once": (
        (
            "import asyncio\n"
            "async def limited(seconds):\n"
            "    try:\n"
            "        await asyncio.wait_for(asyncio.sleep(seconds), 0.5)\n"
            "        return (await get(id=1))['id']\n"
            "    except TimeoutError:\n"
            "        return 'late'\n"
            "await asyncio.gather(limited(2), limited(0), limited(3))"
        ),
        ["late", 1, "late"],
    ),
    "a timeout": (("import asyncio\nasync with asyncio.timeout(5):\n    item = await get(id=1)\nitem['id']"), 1),
    "as_completed": (
        (
            "import asyncio\n"
            "ids = []\n"
            "for call in asyncio.as_completed([get(id=1), get(id=2)]):\n"
            "    ids.append((await call)['id'])\n"
            "sorted(ids)"
        ),
        [1, 2],
    ),
    "wait": (
        (
            "import asyncio\n"
            "done, pending = await asyncio.wait([asyncio.create_task(get(id=1))])\n"
            "[d.result()['id'] for d in done]"
        ),
        [1],
    ),
    "a semaphore": (
        (
            "import asyncio\n"
            "limit = asyncio.Semaphore(2)\n"
            "async def one(i):\n"
            "    async with limit:\n"
            "        return (await get(id=i))['id']\n"
            "await asyncio.gather(*[one(i) for i in range(1, 6)])"
        ),
        [1, 2, 3, 4, 5],
    ),
    "a lock": (
        (
            "import asyncio\n"
            "lock = asyncio.Lock()\n"
            "total = 0\n"
            "async def add(i):\n"
            "    global total\n"
            "    async with lock:\n"
            "        before = total\n"
            "        await asyncio.sleep(0.01)\n"
            "        total = before + (await get(id=i))['id']\n"
            "await asyncio.gather(add(1), add(2), add(3))\n"
            "total"
        ),
        6,
    ),
    "a cancelled task": (
        (
            "import asyncio\n"
            "async def one():\n"
            "    return (await get(id=1))['id']\n"
            "task = asyncio.create_task(one())\n"
            "task.cancel()\n"
            "try:\n"
            "    await task\n"
            "except asyncio.CancelledError:\n"
            "    end = task.cancelled()\n"
            "end"
        ),
        True,
    ),
    "to_thread": (("import asyncio\n(await asyncio.to_thread(get, id=1))['id']"), 1),
    "awaited and not awaited": (
        ("everything = items()\nfirst = await get(id=everything[0]['id'])\nget(id=2)['id'] + first['id']"),
        3,
    ),
    "a call in a coroutine without await": (
        ("async def one(i):\n    item = get(id=i)\n    return item['id']\nawait one(1)"),
        1,
    ),
    "a coroutine that returns a call": (("async def one(i):\n    return get(id=i)\n(await one(1))['id']"), 1),
    "a value that is awaited": (
        ("async def one():\n    return 1\nvalue = await one()\nawait items() and await value"),
        1,
    ),
    "a function that returns a call": (("def one(i):\n    return get(id=i)\n(await one(1))['id'] + one(2)['id']"), 3),
    "map of a tool": ("[item['id'] for item in map(get, [{'id': 1}, {'id': 2}])]", [1, 2]),
    "map of a lambda": ("list(map(lambda i: get(id=i)['id'], [1, 2]))", [1, 2]),
    "filter": ("[i['id'] for i in filter(lambda i: get(id=i['id'])['id'] > 1, items())]", [2, 3]),
    "a sort key": ("[i['id'] for i in sorted(items(), key=lambda i: -get(id=i['id'])['id'])]", [3, 2, 1]),
    "a sort key without a call": ("[i['id'] for i in sorted(items(), key=lambda i: i['price'])]", [3, 2, 1]),
    "a sort in place": (
        ("found = items()\nfound.sort(key=lambda i: get(id=i['id'])['id'], reverse=True)\nfound[0]['id']"),
        3,
    ),
    "max and min": (
        (
            "max(items(), key=lambda i: get(id=i['id'])['id'])['id'] - min(items(), key=lambda i: "
            "get(id=i['id'])['id'])['id']"
        ),
        2,
    ),
    "max of nothing": ("max([], key=lambda i: get(id=i)['id'], default=0)", 0),
    "any": ("any(get(id=i)['id'] == 2 for i in (1, 2))", True),
    "next": ("next((i for i in items() if i['id'] == 2), None)['price']", 8),
    "next with a call": ("next(i for i in items() if get(id=i['id'])['id'] == 2)['id']", 2),
    "partial": (("from functools import partial\nfirst = partial(get, id=1)\nfirst()['id']"), 1),
    "reduce": (("from functools import reduce\nreduce(lambda total, i: total + get(id=i)['id'], [1, 2], 0)"), 3),
    "a decorator": (
        (
            "def twice(f):\n"
            "    def g(*a, **k):\n"
            "        return f(*a, **k) * 2\n"
            "    return g\n"
            "@twice\n"
            "def price(i):\n"
            "    return get(id=i)['price']\n"
            "price(1)"
        ),
        20,
    ),
    "nested functions": (
        ("def outer(i):\n    def inner():\n        return get(id=i)['id']\n    return inner()\nouter(2)"),
        2,
    ),
    "a class": (
        (
            "class Cart:\n"
            "    def __init__(self):\n"
            "        self.total = 0\n"
            "    def add(self, i):\n"
            "        self.total += get(id=i)['price']\n"
            "cart = Cart()\n"
            "cart.add(1)\n"
            "cart.total"
        ),
        10,
    ),
    "a class of object": (("class Cart(object):\n    size = 1\nCart().size"), 1),
    "an async method": (
        ("class Shop:\n    async def fetch(self, i):\n        return (await get(id=i))['id']\nawait Shop().fetch(2)"),
        2,
    ),
    "an async method without await": (
        ("class Shop:\n    async def fetch(self, i):\n        return (await get(id=i))['id']\nShop().fetch(2)"),
        2,
    ),
    "a dataclass": (
        ("from dataclasses import dataclass\n@dataclass\nclass Row:\n    id: int\n[Row(i['id']) for i in items()]"),
        [{"id": 1}, {"id": 2}, {"id": 3}],
    ),
    "try and except": (
        (
            "try:\n"
            "    create(name='bad')\n"
            "except RuntimeError as error:\n"
            "    said = str(error)\n"
            "finally:\n"
            "    ended = True\n"
            "'a bad name' in said and ended"
        ),
        True,
    ),
    "try in a coroutine": (
        (
            "import asyncio\n"
            "async def safe(name):\n"
            "    try:\n"
            "        return (await create(name=name))['name']\n"
            "    except Exception as e:\n"
            "        return 'failed'\n"
            "await asyncio.gather(safe('good'), safe('bad'))"
        ),
        ["good", "failed"],
    ),
    "else of a loop": (
        ("for item in items():\n    if item['id'] > 5:\n        break\nelse:\n    end = 'none'\nend"),
        "none",
    ),
    "match": (("match items()[0]:\n    case {'id': number}:\n        found = number\nfound"), 1),
    "a walrus": ("[price for item in items() if (price := item['price']) > 7]", [9, 8]),
    "while": (
        ("page = 1\nfound = []\nwhile page < 3:\n    found.append(get(id=page)['id'])\n    page += 1\nfound"),
        [1, 2],
    ),
    "unpacking": (("first, *others = items()\n[first['id'], len(others), *[9]]"), [1, 2, 9]),
    "del of a key": (("item = get(id=1)\ndel item['name']\nitem"), {"id": 1, "price": 10}),
    "del of an item and a slice": (("found = [1, 2, 3, 4]\ndel found[0], found[1:]\nfound"), [2]),
    "json.dumps": (("import json\njson.dumps(get(id=1), indent=1)"), {"id": 1, "name": "item 1", "price": 10}),
    "json.dumps with default": (
        ("import json, datetime\njson.dumps({'d': datetime.date(2026, 1, 2)}, default=str)"),
        {"d": "2026-01-02"},
    ),
    "modules without import": (
        "[json.loads('1'), math.ceil(1.5), re.findall('[0-9]', 'a1'), Counter('aab')['a']]",
        [1, 2, ["1"], 2],
    ),
    "datetime": (
        (
            "from datetime import datetime, timedelta, UTC\n"
            "(datetime(2026, 1, 2, tzinfo=UTC) + timedelta(days=1)).isoformat()"
        ),
        "2026-01-03T00:00:00+00:00",
    ),
    "datetime.UTC": (
        ("import datetime\ndatetime.datetime(2026, 1, 2, tzinfo=datetime.UTC).isoformat()"),
        "2026-01-02T00:00:00+00:00",
    ),
    "collections": (
        (
            "from collections import Counter, defaultdict\n"
            "by = defaultdict(list)\n"
            "for i in items():\n"
            "    by[i['price'] > 8].append(i['id'])\n"
            "dict(by)"
        ),
        {"true": [1], "false": [2, 3]},
    ),
    "regular expressions": (("import re\nre.sub(r'\\d+', '#', get(id=1)['name'])"), "item #"),
    "annotations": (
        (
            "from typing import Any, AsyncIterator\n"
            "from collections.abc import Iterable\n"
            "def f(values: Iterable[Any]) -> 'AsyncIterator[int]':\n"
            "    return len(values)\n"
            "f(items())"
        ),
        3,
    ),
    "an optional module": (("try:\n    import pandas\nexcept ImportError:\n    pandas = None\npandas is None"), True),
    "sleep without import and await": (
        ("start = time.monotonic()\nsleep(0.2)\n0.2 <= time.monotonic() - start < 3"),
        True,
    ),
    "asyncio.sleep without await": (
        ("import asyncio, time\nstart = time.monotonic()\nasyncio.sleep(0.2)\n0.2 <= time.monotonic() - start < 3"),
        True,
    ),
    "gather without await": (
        ("from asyncio import gather\nfound = gather(get(id=1), get(id=2))\n[item['id'] for item in found]"),
        [1, 2],
    ),
    "sleep": (("sleep(0.01)\n'slept'"), "slept"),
    "time.sleep": (("import time\nstart = time.time()\ntime.sleep(0.2)\n0.2 <= time.time() - start < 3"), True),
    "asyncio.sleep": (("import asyncio\nawait asyncio.sleep(0.01)\n'slept'"), "slept"),
    "properties as attributes": (
        (
            "import datetime\n"
            "class Cart:\n"
            "    def __init__(self):\n"
            "        self.size = 2\n"
            "cart = Cart()\n"
            "item = get(id=1)\n"
            "[item.name, items()[2].price, cart.size, datetime.datetime(2026, 1, 2).year, 'ab'.upper()]"
        ),
        ["item 1", 7, 2, 2026, "AB"],
    ),
    "properties with names of methods": (
        (
            "page = {'items': [{'count': 2, 'values': [3]}], 'keys': 1}\nitems = page.items\n"
            "[page.items[0].count, page['items'][0].values, page.keys, len(page.items), [row.count for row in items]]"
        ),
        [2, [3], 1, 1, [2]],
    ),
    "methods of objects": (
        "i = get(id=1)\n[sorted(i.keys()), i.get('x', 3), 'name' in i, len(i), bool({}), dict(i) == i]",
        [["id", "name", "price"], 3, True, 3, False, True],
    ),
    "methods as values": (
        (
            "counts = {'a': 2, 'b': 1}\nfound = []\nadd = found.append\nadd(min(counts, key=counts.get))\n"
            "[found, sorted(['b', 'A'], key=str.lower), list(map(str.upper, ['c']))]"
        ),
        [["b"], ["A", "b"], ["C"]],
    ),
    "an object of objects": (
        (
            "found = {'owner': {'login': 'ada', '_links': {'self-link': 'x'}}, 'tags': [{'name': 't'}]}\n"
            "[found.owner.login.upper(), found.owner._links['self-link'], found.tags[0].name, found['owner'].login]"
        ),
        ["ADA", "x", "t", "ada"],
    ),
    "an object in a loop": ("[(item.id, item['price']) for item in items() if item.price > 7]", [[1, 9], [2, 8]]),
    "an attribute of an awaited call": ("(await get(id=1)).name", "item 1"),
    "properties that are set": (
        "i = get(id=1)\ni.total = i.price * 2\ni.total += 1\ni['id'] += 1\n[i.total, i['total'], i.id]",
        [21, 21, 2],
    ),
    "getattr": (
        "i = get(id=1)\n[getattr(i, 'name'), getattr(i, 'x', 'none'), hasattr(i, 'id'), hasattr(i, 'items')]",
        ["item 1", "none", True, False],
    ),
    "an object as a result": ("get(id=1)", {"id": 1, "name": "item 1", "price": 10}),
    "objects in json.dumps and match": (
        "match get(id=1):\n    case {'name': name}:\n        pass\n[json.loads(json.dumps(get(id=1))).name, name]",
        ["item 1", "item 1"],
    ),
    "call_tool": ("call_tool('get', {'id': 2})['id']", 2),
    "a tool in a dict": (("by = {'one': get}\nby['one'](id=1)['id']"), 1),
    "printing": (("for item in items():\n    print(item['id'], end=' ')"), "Printed:\n1 2 3"),
}


SHORTENED: Final = {"asyncio without import", "exceptions as a result"}
"""Programs of which only the beginning of the value is given."""


@pytest.mark.parametrize("name", WORKING)
def test_a_program_works(name: str) -> None:
    code, expected = WORKING[name]
    text, *_ = shop().run(code)
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    if name in SHORTENED:
        assert str(value)[: len(str(expected))] == str(expected)
    else:
        assert value == expected


NEEDS_AWAIT: Final = {"tasks", "as_completed", "a cancelled task"}
"""Programs that use a task as if it were its value once it is not awaited."""


@pytest.mark.parametrize("name", sorted(name for name in WORKING.keys() - NEEDS_AWAIT if "await " in WORKING[name][0]))
def test_a_program_works_without_await(name: str) -> None:
    code, expected = WORKING[name]
    text, *_ = shop().run(code.replace("await ", ""))
    if name not in SHORTENED:
        assert (text if isinstance(expected, str) else json.loads(text)) == expected


REFUSED: Final[dict[str, tuple[str, int, str]]] = {
    "yield": (
        ("def pages():\n    for i in (1, 2):\n        yield get(id=i)\nlist(pages())"),
        3,
        "append the values to a list",
    ),
    "an async generator": (
        ("async def pages():\n    yield 1\n[p async for p in pages()]"),
        2,
        "append the values to a list",
    ),
    "async for": (("items()\nasync for item in items():\n    pass"), 2, "write a for loop"),
    "a class of exceptions": (
        ("create(name='a')\nclass ApiError(Exception):\n    pass"),
        2,
        "raise RuntimeError or ValueError",
    ),
    "a property": (("class A:\n    @property\n    def x(self):\n        return 1"), 3, "write a plain method"),
    "except*": (("try:\n    items()\nexcept* ValueError:\n    pass"), 1, "write except"),
    "requests": (("create(name='a')\nimport requests"), 2, "call the API's tools as functions"),
    "urllib": ("from urllib.parse import quote", 1, "no network"),
    "an import after an error": (
        "try:\n    items()\nexcept ValueError as error:\n    import traceback\n    traceback.print_exc()",
        4,
        "use print with the exception",
    ),
    "pandas": ("import pandas as pd", 1, "comprehensions"),
    "threads": ("from concurrent.futures import ThreadPoolExecutor", 1, "asyncio.gather"),
    "statistics": ("import statistics", 1, "sum(values) / len(values)"),
    "a queue": (("import asyncio\nqueue = asyncio.Queue()"), 2, "asyncio.gather"),
    "from asyncio import Event": ("from asyncio import Event", 1, "asyncio.gather"),
    "sys.exit": (("create(name='a')\nimport sys\nsys.exit(0)"), 3, "end the program with its last line"),
    "a callback": (
        ("import asyncio\ntask = asyncio.create_task(items())\ntask.add_done_callback(print)"),
        3,
        "await the task",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_program_that_the_sandbox_cannot_run_is_refused_with_its_line_before_any_call(name: str) -> None:
    code, line, cure = REFUSED[name]
    api = shop()
    error = api.error(code)
    assert error.startswith("The program was not run")
    [told] = [text for text in error.splitlines() if text.startswith(f"Line {line}: ")]
    assert cure in told
    assert ("ModuleNotFoundError" in error) == (MODULES in error)
    assert api.requests == []


FAILING: Final[dict[str, tuple[str, int, str]]] = {
    "a property that is not there": (
        "item = get(id=1)\nitem.colour",
        2,
        "AttributeError: the object has no colour; it has id, name, price",
    ),
    "a property of nearly the same name": (
        "item = get(id=1)\nitem.prise",
        2,
        "AttributeError: the object has no prise; did you mean price? It has id, name, price",
    ),
    "a property in another case": ("row = {'createdAt': 1, 'size': 2}\nrow.created_at", 2, "did you mean createdAt?"),
    "a key of nearly the same name": (
        "item = get(id=1)\nitem['Name']",
        2,
        "KeyError: Name; did you mean name? It has id, name, price",
    ),
    "a property of a list": ("items().price", 1, "a list has no price; its items may: rows[0].price"),
    "a key of a list": ("items()['price']", 1, "a list has no key price; its items may: rows[0]['price']"),
    "a property of null": ("row = {'owner': None}\nrow.owner.login", 2, "'NoneType' object has no"),
    "a method of an answer": ("item = get(id=1)\nitem.colour()", 2, 'item["name"]'),
    "a file": (("found = items()\nwith open('out.csv', 'w') as file:\n    pass"), 2, "has no files"),
    "exit": (("items()\nexit()"), 2, "ends with its last line"),
    "input": (("items()\ninput('which?')"), 2, "Nobody answers a program"),
    "a function in re.sub": (("import re\nre.sub('a', lambda match: 'b', 'aa')"), 2, "a subset of Python"),
    "a missing method": (("found = 'a'\nfound.translate(str.maketrans('a', 'b'))"), 2, "a subset of Python"),
    "a missing function of a module": (("import dataclasses\ndataclasses.asdict(1)"), 2, "a subset of Python"),
    "vars": (("items()\nvars()"), 2, "a subset of Python"),
    "callable": ("callable(get)", 1, "a subset of Python"),
    "gather of numbers that fail": (("import asyncio\nawait asyncio.gather(create(name='bad'))"), 2, "a bad name"),
    "a key error in a coroutine": (
        ("async def one():\n    item = await get(id=1)\n    return item['x']\nawait one()"),
        3,
        "KeyError: x; it has id, name, price",
    ),
    "a key error after statements of several lines": (
        (
            "import asyncio\n"
            "\n"
            "found = {\n"
            "    'a': 1,\n"
            "}\n"
            "\n"
            "# a comment\n"
            "async def one():\n"
            "    return found[\n"
            "        'b'\n"
            "    ]\n"
            "\n"
            "await one()"
        ),
        9,
        "KeyError: b; it has a",
    ),
    "a sleep that is too long": (("import time\ntime.sleep(60)"), 2, "seconds are left (--code-timeout)"),
    "an async sleep that is too long": (
        ("import asyncio\nawait asyncio.sleep(60)"),
        2,
        "cannot sleep for 60.0 seconds",
    ),
    "a task as a value": (
        "import asyncio\ntask = asyncio.create_task(get(id=1))\ntask['id']",
        3,
        "has a value only after await",
    ),
    "a result of a coroutine": (
        ("async def one():\n    return 1\nvalue = [one]\nvalue[0]()['x']"),
        4,
        "write `await f(…)`",
    ),
}


@pytest.mark.parametrize("name", FAILING)
def test_a_program_that_fails_names_the_line_and_the_cure(name: str) -> None:
    code, line, cure = FAILING[name]
    error = shop().error(code)
    assert f"Line {line}" in error
    assert cure in error


NOT_AWAITED: Final[dict[str, str]] = {
    "without await": ("await items()\ncreate(name='{}')\n'end'"),
    "as the last line": ("await items()\ncreate(name='{}')"),
    "in a coroutine": ("async def one():\n    create(name='{}')\nawait one()\n'end'"),
    "in a coroutine that is not awaited": ("async def one():\n    await create(name='{}')\none()\n'end'"),
    "assigned": ("await items()\nunused = create(name='{}')\n'end'"),
    "as a task": ("import asyncio\nasyncio.create_task(create(name='{}'))\n'end'"),
    "as a task of a coroutine": (
        "import asyncio\nasync def one():\n    await create(name='{}')\ntask = asyncio.create_task(one())\n'end'"
    ),
    "as a task without a last value": (
        "import asyncio\nasync def one():\n    await create(name='{}')\nasyncio.create_task(one())\nend = 1"
    ),
    "in a list": ("import asyncio\ncalls = [create(name='{}')]\nif False:\n    await asyncio.gather(*calls)\n'end'"),
    "in map": ("import asyncio\nasync def one(name):\n    await create(name=name)\nmap(one, ['{}'])\n'end'"),
    "in an f-string of a newer Python": (
        'await items()\nprint(f"{create(name=\'{}\')}") if False else create(name=\'{}\')\nf"{"end"}"'
    ),
}


@pytest.mark.parametrize("name", NOT_AWAITED)
def test_a_call_that_is_not_awaited_is_made_and_its_error_is_reported(name: str) -> None:
    api = shop()
    api.run(NOT_AWAITED[name].replace("{}", "good"))
    assert api.created == ["good"]
    error = api.error(NOT_AWAITED[name].replace("{}", "bad"))
    assert "a bad name" in error
    assert api.created == ["good", "bad"]


def test_the_value_of_a_program_is_shown_beside_a_call_that_failed_and_was_not_awaited() -> None:
    error = shop().error("import asyncio\ncall = create(name='bad')\nif False:\n    await call\n{'a': 1}")
    assert 'Line 2: create was called without await, and failed: create(name="bad"): 422' in error
    assert '{"a": 1}' in error
    assert (
        'made by the program. These may have changed something, and are not undone:\n- create(name="bad"): 422' in error
    )


def test_an_answer_without_content_is_none() -> None:
    assert shop().run("remove(id=1) is None")[0] == "true"


def test_location_of_an_answer_without_content_is_its_value() -> None:
    class Created(Api):
        def respond(self, _request: httpx.Request) -> httpx.Response:
            return httpx.Response(201, headers={"location": "/items/7"})

    [text] = Created(more("make")).run("make().splitlines()[-1]")
    assert text.lower() == "location: /items/7"


def test_a_result_that_is_too_large_says_return_less() -> None:
    text, note = shop().run("['x' * 1000] * 1000")
    assert json.loads(text)[0] == "x" * 1000
    assert "Return less" in note
    assert "Return less" in shop().error("['x' * 1000] * 100000")


def test_a_program_that_cannot_be_parsed_here_awaits_its_calls() -> None:
    code = 'import asyncio\nfound = await asyncio.gather(get(id=1), get(id=2))\nf"{found[0]["id"]}{found[1]["id"]}"'
    assert shop().run(code) == ["12"]


def test_calls_of_a_program_are_counted_in_its_result() -> None:
    api = shop()
    code = "for i in (1, 2):\n    get(id=i)\ncreate(name='a')\ncreate(name='b')\nlen(items())"
    result = api.call("run_code", code=code)
    assert [block["text"] for block in result.content] == [
        "3",
        "5 calls made: create 201 x2 (changing); get 200 x2; items 200.",
    ]
    assert result.meta["openapi-mcp/calls"] == {"get": 2, "create": 2, "items": 1}
    failed = api.call("run_code", code="create(name='a')\n1 / 0")
    assert failed.meta["openapi-mcp/calls"] == {"create": 1}

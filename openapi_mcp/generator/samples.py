"""Sample calls of tools for the tests of a package, from instances of their input schemas (JSON Schema 2020-12).

An instance is minimal, or has all optional values. The same schema always gives the same instance, and each instance is
validated. Objects and arrays of a minimal instance are not empty where that is possible: an empty one is not visible in
a query or a form.

Schemas that hold at once are merged for the keywords that values are made from. The merged schema may be wider than
both, since the instance is validated against the original.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice, product
from typing import Any, Final, TypeAlias

from ..runtime.arguments.validation import prepare
from ..runtime.errors import RuntimeFailure
from ..runtime.json_schema.judge import BudgetSpent, Judge
from ..runtime.json_schema.sample_values import numbers, strings
from ..runtime.request.build import RequestOptions, build_request
from ..runtime.tool import Tool
from ..runtime.types import Schema


def merge(left: Schema, right: Schema) -> Schema:
    """Return one schema for both, which have neither `$ref` nor `allOf`; for unmerged keywords the right one wins."""
    merged = dict(left)
    for keyword, value in right.items():
        merge_values = _MERGES.get(keyword)
        merged[keyword] = merge_values(left[keyword], value) if merge_values and keyword in left else value
    return merged


def _all_of(left: Any, right: Any) -> Schema:
    return {"allOf": [left, right]}


def _properties(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    return left | {name: _all_of(left[name], value) if name in left else value for name, value in right.items()}


def _common_types(left: Any, right: Any) -> list[str]:
    one, other = ([value] if isinstance(value, str) else value for value in (left, right))
    wide = [*one, *(["integer"] if "number" in one else [])]
    return [kind for kind in wide if kind in other or (kind == "integer" and "number" in other)]


def _choices(left: list[Any], right: list[Any]) -> list[Any]:
    return [_all_of(one, other) for one, other in islice(product(left, right), MAX_CHOICES)]


def _others(left: Any, right: Any) -> Any:
    return left if right in (True, {}) else right if left in (True, {}) else _all_of(left, right)


_MERGES: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "type": _common_types,
    "enum": lambda left, right: [value for value in left if value in right],
    "properties": _properties,
    "required": lambda left, right: list(dict.fromkeys([*left, *right])),
    "additionalProperties": _others,
    "items": _all_of,
    "anyOf": _choices,
    "oneOf": _choices,
    **dict.fromkeys(("minimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "maxLength", "maxItems", "maxProperties"), min),
}


MAX_CHOICES: Final = 400
"""Pairs that two unions are merged to. Two of twenty branches each, as real documents have them, keep all."""

MAX_SAMPLE_DEPTH: Final = 40
"""Levels of a required recursion. Real bodies have less than 20."""

FULL_LEVELS: Final = 7
"""Levels with optional values; below, only required ones."""

PAIR_LEVELS: Final = 3
"""Levels of arrays with two items where all optional values are wanted: how a request joins items shows only then."""

FULL_VALUES: Final = 2_000
"""Values of one instance, a body of about 50 kB, after which only required ones are added."""

MAX_STEPS: Final = 5_000
"""Values and merged schemas of one instance: twice those of the largest that is made of FULL_VALUES."""

MAX_JUDGE_STEPS: Final = 500_000
"""Steps of the judge of one instance and of its parts: half a second. An instance of FULL_VALUES takes a tenth."""

_Path = tuple[str, ...]
_Fits: TypeAlias = Callable[[Any], bool]


class NoSample(ValueError):
    """No instance could be made; the message names the location in it."""


def sample(schema: Schema, *, full: bool) -> Any:
    """Return an instance of a self-contained schema, minimal or with all optional values. Raises NoSample."""
    return _Sampler(schema, full=full).value(schema)


class _Sampler:
    """Makes one instance. `_values` counts the values, so that wide schemas come to an end; `_steps` all work."""

    def __init__(self, root: Schema, *, full: bool) -> None:
        self._definitions: dict[str, Schema] = root.get("$defs", {})
        self._full = full
        self._judge = Judge(root, MAX_JUDGE_STEPS)
        self._values = 0
        self._steps = 0

    def value(self, schema: Schema, path: _Path = (), salt: int = 0) -> Any:
        """Return the first valid candidate; `salt` makes the values of one array differ. Raises NoSample."""
        self._values += 1
        self._step()
        if len(path) > MAX_SAMPLE_DEPTH:
            raise NoSample(f"{'/'.join(path[:6])}/…: endless recursion")
        fits = partial(self._fits, schema)
        for flat in self._alternatives(schema):
            for candidate in self._candidates(flat, path, salt, fits):
                if fits(candidate):
                    return candidate
        raise NoSample(f"{'/'.join(path) or 'the instance'}: no candidate is valid")

    def _fits(self, schema: Schema, value: Any) -> bool:
        try:
            return self._judge.fits(schema, value)
        except BudgetSpent as error:
            raise NoSample("the schema takes too many steps to judge a value") from error

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise NoSample("the schema requires too many values")

    def _alternatives(self, schema: Schema) -> Iterator[Schema]:
        """Yield the schema without references and combinators, once for each alternative: texts first, null last.

        A number has two readings where a text is allowed too: in a path or query both are written in the same way.
        """
        flat = self._flat(schema)
        keyword = next((keyword for keyword in ("oneOf", "anyOf") if keyword in flat), None)
        if keyword is None:
            yield flat
            return
        branches = [self._flat(branch) for branch in flat.pop(keyword)]
        for branch in sorted(branches, key=_rank_of(branches)):
            yield from self._alternatives(merge(flat, branch))

    def _flat(self, schema: Any, depth: int = 0) -> Schema:
        """Return the schema with `$ref` and `allOf` merged into it."""
        self._step()
        if isinstance(schema, bool):
            return {} if schema else {"not": {}}
        if depth > MAX_SAMPLE_DEPTH:
            raise NoSample("a reference refers to itself")
        flat: Schema = dict(schema)
        parts = flat.pop("allOf", [])
        if "$ref" in flat:
            parts = [self._definitions[flat.pop("$ref").removeprefix("#/$defs/")], *parts]
        for part in parts:
            flat = merge(flat, self._flat(part, depth + 1))
        return flat

    def _candidates(self, schema: Schema, path: _Path, salt: int, fits: _Fits) -> Iterator[Any]:
        if "const" in schema:
            yield schema["const"]
        elif "enum" in schema:
            values = sorted(schema["enum"], key=lambda value: value is None)
            start = salt % len(values) if values else 0
            yield from values[start:] + values[:start]
        else:
            for kind in _types(schema):
                yield from self._of_type(kind, schema, path, salt, fits)

    def _of_type(self, kind: str, schema: Schema, path: _Path, salt: int, fits: _Fits) -> Iterator[Any]:
        if kind == "object":
            yield from self._objects(schema, path, fits)
        elif kind == "array":
            yield from self._arrays(schema, path)
        elif kind == "string":
            yield from strings(schema, salt)
        elif kind in {"integer", "number"}:
            yield from numbers(schema, salt, is_integer=kind == "integer")
        else:
            yield True if kind == "boolean" else None

    def _objects(self, schema: Schema, path: _Path, fits: _Fits) -> Iterator[dict[str, Any]]:
        """Yield an object with all properties, one with those that are valid together, and the minimal one."""
        least = {name: self._property(schema, name, path) for name in schema.get("required", ())}
        least |= self._unnamed(schema, path, schema.get("minProperties", 0) - len(least))
        if self._full and len(path) < FULL_LEVELS and self._values < FULL_VALUES:
            optional = self._optional(schema, least, path)
            properties = least | optional
            if not properties:
                yield self._unnamed(schema, path, 1)
            order = [*schema.get("properties", ()), *least]
            yield {name: properties[name] for name in order if name in properties}
            yield _valid_together(fits, least, optional)
        elif not least and len(path) < FULL_LEVELS:
            yield self._first(schema, path)
        yield least

    def _optional(self, schema: Schema, least: dict[str, Any], path: _Path) -> dict[str, Any]:
        optional = {}
        for name in schema.get("properties", ()):
            if name not in least:
                with contextlib.suppress(NoSample):
                    optional[name] = self._property(schema, name, path)
        return optional

    def _first(self, schema: Schema, path: _Path) -> dict[str, Any]:
        for name in schema.get("properties", ()) if path else ():
            with contextlib.suppress(NoSample):
                return {name: self._property(schema, name, path)}
        return {}

    def _property(self, schema: Schema, name: str, path: _Path) -> Any:
        others = schema.get("additionalProperties", {})
        return self.value(schema.get("properties", {}).get(name, others), (*path, name))

    def _unnamed(self, schema: Schema, path: _Path, count: int) -> dict[str, Any]:
        """Return properties that the schema does not name."""
        if schema.get("additionalProperties") is False or "patternProperties" in schema:
            return {}
        names = {"type": "string"} | schema.get("propertyNames", {})
        keys = [self.value(names, (*path, "name"), salt=number) for number in range(count)]
        return {key: self._property({**schema, "properties": {}}, key, path) for key in keys}

    def _arrays(self, schema: Schema, path: _Path) -> Iterator[list[Any]]:
        least = schema.get("minItems", 0)
        length = max(least, len(schema.get("prefixItems", ())), 1) if len(path) < FULL_LEVELS else least
        wants_pair = self._full and length == 1 and len(path) < PAIR_LEVELS and schema.get("maxItems", 2) > 1
        for count in (2, 1) if wants_pair else (length,):
            with contextlib.suppress(NoSample):
                yield [self._item(schema, path, number) for number in range(count)]
        yield [self._item(schema, path, number) for number in range(least)]

    def _item(self, schema: Schema, path: _Path, number: int) -> Any:
        prefix = schema.get("prefixItems", ())
        item = prefix[number] if number < len(prefix) else schema.get("items", {})
        return self.value(item, (*path, str(number)), salt=number)


def _rank_of(branches: Iterable[Schema]) -> Callable[[Schema], int]:
    """Return the order of alternatives: as the schema has them, but numbers after all if there is a text; null last."""
    has_text = any(branch.get("type") == "string" for branch in branches)
    ranks = {"integer": int(has_text), "number": int(has_text), "null": 2}
    return lambda branch: ranks.get(str(branch.get("type")), 0)


def _valid_together(fits: _Fits, least: dict[str, Any], optional: dict[str, Any]) -> dict[str, Any]:
    """Return the required properties with each optional one that is valid together with those before."""
    for name, value in optional.items():
        if fits(least | {name: value}):
            least = least | {name: value}
    return least


def _types(schema: Schema) -> list[str]:
    """Return the types to try, null last. Without `type`, those that the keywords are for come first."""
    declared = schema.get("type")
    if declared is None:
        kinds = (kind for kind, keywords in _KEYWORDS.items() if any(keyword in schema for keyword in keywords))
        return [*kinds, "string", "object", "integer", "array", "boolean"]
    return sorted([declared] if isinstance(declared, str) else declared, key=lambda kind: kind == "null")


_KEYWORDS: Final = {
    "object": ("properties", "required", "additionalProperties", "minProperties"),
    "array": ("items", "prefixItems", "minItems", "maxItems"),
    "number": ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"),
}


_BASE_URL: Final = "http://127.0.0.1"


@dataclass(frozen=True, slots=True)
class SampleCall:
    """Valid arguments of a tool, and the method and target (path and query) of the request for them."""

    tool: str
    arguments: dict[str, Any]
    method: str
    target: str


def sample_credentials(tools: Iterable[Tool]) -> dict[str, str]:
    """Return credentials for the tests of these tools: only those without which a call is refused."""
    return {scheme.name: "credential" for tool in tools for scheme in tool.required_schemes}


def sample_variables(tools: Iterable[Tool]) -> dict[str, str]:
    """Return values of the environment variables that presets of these tools name: a number is text and JSON."""
    return {preset.variable: "1" for tool in tools for preset in tool.presets if preset.variable is not None}


def sample_call(tool: Tool, *, full: bool = False, credentials: Mapping[str, str] | None = None) -> SampleCall | None:
    """Return a call, or None where no valid arguments could be made; `full` prefers all optional arguments."""
    credentials = sample_credentials([tool]) if credentials is None else credentials
    options = RequestOptions(base_url=_BASE_URL, credentials=credentials, variables=sample_variables([tool]))
    for with_optional in (full, not full):
        try:
            arguments = sample(tool.input_schema, full=with_optional)
            request = build_request(tool, prepare(tool, arguments), options)
            request.read()
            target = request.url.raw_path.decode("ascii")
        except (NoSample, RuntimeFailure, RecursionError):
            continue
        return SampleCall(tool.name, arguments, request.method, target)
    return None


def sample_calls(tools: Iterable[Tool], credentials: Mapping[str, str]) -> tuple[list[SampleCall], list[str]]:
    """Return the sample calls, made with these credentials, and the names of tools without one."""
    calls = [(tool.name, sample_call(tool, credentials=credentials)) for tool in tools]
    return [call for _, call in calls if call], [name for name, call in calls if call is None]

"""A call for each tool that its package's tests make: the least its arguments may be, and the request that becomes."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from .runtime.arguments import prepare
from .runtime.errors import RuntimeFailure
from .runtime.models import Tool
from .runtime.requests import RequestOptions, build_request
from .samples import NoSample, sample

_BASE_URL: Final = "http://127.0.0.1"


@dataclass(frozen=True, slots=True)
class SampleCall:
    """Arguments that a tool takes, and the method and target (path and query) of its request."""

    tool: str
    arguments: dict[str, Any]
    method: str
    target: str


def sample_call(tool: Tool, *, full: bool = False) -> SampleCall | None:
    """A call, or None where no arguments were found; `full`: with everything optional, if that can be."""
    for everything in (full, not full):
        try:
            arguments = sample(tool.input_schema, full=everything)
            request = build_request(tool, prepare(tool, arguments), RequestOptions(base_url=_BASE_URL))
            request.read()
            target = request.url.raw_path.decode("ascii")
        except (NoSample, RuntimeFailure, RecursionError):
            continue
        return SampleCall(tool.name, arguments, request.method, target)
    return None


def sample_calls(tools: Iterable[Tool]) -> tuple[list[SampleCall], list[str]]:
    """The calls, and the names of the tools that there are none for."""
    found = [(tool.name, sample_call(tool)) for tool in tools]
    return [call for _, call in found if call], [name for name, call in found if call is None]

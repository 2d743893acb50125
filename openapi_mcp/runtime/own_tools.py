"""`OwnTool`: a tool that the server itself answers, listed like any other; what it asks of the API goes through tools.

It makes no request of its own: it is given the means to call tools, so that nothing escapes limits, logs and checks.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from .models import Tool
from .types import CallToolResult, ToolDescription


class Call(Protocol):
    """Calls a tool on behalf of the client whose call is being answered. It never raises for what goes wrong there."""

    def __call__(
        self, tool: Tool, arguments: Mapping[str, Any], /, *, max_result_bytes: int | None = None
    ) -> Awaitable[CallToolResult]:
        """The result of the call; one that the tool keeps to itself may hold `max_result_bytes` of an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTool(ToolDescription):
    """A tool of the server's own. `answer` gets arguments that fit the inputSchema; it may raise RuntimeFailure."""

    answer: Callable[[Mapping[str, Any], Call], Awaitable[CallToolResult]]

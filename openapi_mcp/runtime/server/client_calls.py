"""`ClientCalls`: the calls that a built-in tool makes on behalf of a client, with that client's limits and events."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, Protocol

from ..result.sanitizing import Sanitizer
from ..tool import Tool
from ..types import CallToolResult
from ..upstream.events import CallEvents


class CallMaker(Protocol):
    """The maker of an API's calls (`Calls`); `others` are those of other APIs that this server calls, by name."""

    sanitizer: Sanitizer
    others: "Mapping[str, CallMaker]"

    @property
    def call(self) -> Callable[..., Awaitable[CallToolResult]]:
        """The function that makes a call."""


class ClientCalls(NamedTuple):
    """A CallByName. `max_streamed_bytes` limits a result that a notification was sent before."""

    calls: CallMaker
    caller: str
    trace: Mapping[str, str]
    events: CallEvents
    max_streamed_bytes: int | None

    @property
    def sanitizer(self) -> Sanitizer:
        """What removes the secrets of these calls."""
        return self.calls.sanitizer

    def using(self, events: CallEvents, api: str = "") -> "ClientCalls":
        """Return the same with other events; with `api` for the tools of another API. Raises KeyError."""
        return self._replace(events=events, calls=self.calls.others[api] if api else self.calls)

    def __call__(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        /,
        *,
        max_result_bytes: int | None = None,
        on_sent: Callable[[int], None] | None = None,
    ) -> Awaitable[CallToolResult]:
        """Return the result of a call."""
        return self.calls.call(
            tool,
            arguments,
            caller=self.caller,
            trace=self.trace,
            events=self.events,
            max_streamed_bytes=self.max_streamed_bytes,
            max_result_bytes=max_result_bytes,
            on_sent=on_sent,
        )

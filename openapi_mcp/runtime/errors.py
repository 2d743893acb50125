"""What the runtime can raise. Whoever catches these makes an answer of them: no client ever sees a traceback.

RuntimeFailure
├── ArgumentError    the arguments of a call do not fit its tool: what, where, and what was wanted
├── RequestError     a request cannot be built: no base URL, a header value with a line break, …
├── UpstreamError    the API behind the bridge did not answer: refused, timed out, broke off
├── SearchUnavailable tools cannot be searched: this Python's SQLite is without FTS5
├── UnknownToolError a call names a tool that is not in the catalog
└── CursorError      a list is asked for with a cursor that the catalog never gave out
"""


class RuntimeFailure(Exception):
    """Base of the runtime's errors; its text is one or more plain sentences fit for a model to read."""


class ArgumentError(RuntimeFailure):
    """The arguments of a tool call do not fit the tool's inputSchema, or cannot be put on the wire."""


class RequestError(RuntimeFailure):
    """No request can be built for a call whose arguments are right; the cure is with whoever runs the server."""


class UpstreamError(RuntimeFailure):
    """The upstream did not answer a request; the text says how (no secrets, no stack)."""


class SearchUnavailable(RuntimeFailure):
    """Tools cannot be searched: this Python's SQLite was built without FTS5."""


class UnknownToolError(RuntimeFailure):
    """There is no tool of that name."""


class CursorError(RuntimeFailure):
    """A cursor is none of the catalog's: made up, changed on its way, or of a list that is no longer served."""

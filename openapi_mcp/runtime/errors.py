"""The runtime's exceptions. Each is turned into an answer by the code that catches it: no client sees a traceback.

RuntimeFailure
├── ArgumentError    the arguments of a call do not fit its tool: which, and what is expected
├── RequestError     a request cannot be built: no base URL, a header value with a line break, …
├── UpstreamError    the API gave no response: connection refused, timed out, broken off
├── SearchUnavailable tools cannot be searched: this Python's SQLite is without FTS5
├── UnknownToolError a call names a tool that is not in the catalog
└── CursorError      a list is requested with a cursor that the catalog did not issue
"""


class RuntimeFailure(Exception):
    """Base of the runtime's errors; its text is one or more plain sentences for a model to read."""


class ArgumentError(RuntimeFailure):
    """The arguments of a tool call do not fit the tool's inputSchema, or cannot be put on the wire."""


class RequestError(RuntimeFailure):
    """No request can be built for a call with valid arguments; the server's operator has to change its settings."""


class UpstreamError(RuntimeFailure):
    """The API gave no response to a request; the text says why, without secrets and without a stack."""


class SearchUnavailable(RuntimeFailure):
    """Tools cannot be searched: this Python's SQLite was built without FTS5."""


class UnknownToolError(RuntimeFailure):
    """A call names a tool that is not in the catalog."""


class CursorError(RuntimeFailure):
    """A cursor is not one of the catalog's: invented, altered, or of a list that is no longer served."""

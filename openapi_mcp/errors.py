"""`Problem`, a reported defect of a document, and the exceptions that end a command, with their exit codes.

    BridgeError               (exit code 1)
    ├── UsageError            2  the command line or configuration is invalid
    ├── DocumentError         3  a document cannot be read at all: missing, not OpenAPI, refused
    │   └── ReferenceRefused  3  a reference that is not allowed: to a remote host or private address, over a limit
    ├── UnknownTool           4  no tool of that name
    ├── CallFailed            5  `openapi-mcp call`: the result of the call is an error
    ├── UnresolvedConflicts   6  a package holds conflicts between its owner's edits and generated code
    ├── PackageStale          7  `openapi-mcp generate --check`: the package is out of date
    ├── HostChanged           8  a document would send a credential to another host than before
    ├── ToolsChanged          9  `openapi-mcp diff`: the tools changed in a way that it was told to fail on
    └── CheckFailed          10  `openapi-mcp check`: the document is not as good as it was told to demand

A defect *inside* a document is never an exception that leaves the compile side: it is a `Problem`, and the rest works.
"""

from dataclasses import dataclass
from typing import ClassVar


class BridgeError(Exception):
    """Base of all errors that end a command: message, location (`where`) and cure (`hint`)."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint


class UsageError(BridgeError):
    """The command line or the configuration is invalid, or asks for something impossible."""

    exit_code = 2


class DocumentError(BridgeError):
    """A document cannot be read at all."""

    exit_code = 3


class ReferenceRefused(DocumentError):
    """A reference to a place that is not allowed."""


class UnknownTool(BridgeError):
    """A name that no tool has."""

    exit_code = 4


class CallFailed(BridgeError):
    """A tool called from the command line returned an error."""

    exit_code = 5


class UnresolvedConflicts(BridgeError):
    """A package on disk holds conflicts that its owner has to resolve, of this generation or of the last."""

    exit_code = 6


class PackageStale(BridgeError):
    """A package on disk differs from what its document generates now."""

    exit_code = 7


class HostChanged(BridgeError):
    """A document would send a credential to another host than at the last start."""

    exit_code = 8


class ToolsChanged(BridgeError):
    """The tools of two versions of a document differ."""

    exit_code = 9


class CheckFailed(BridgeError):
    """A document has findings, a score or problems that `--fail-on`, `--fail-under` or `--strict` do not allow."""

    exit_code = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A reported defect of a document: location, message and cure.

    `pointer` is a URI reference whose fragment is a JSON pointer (RFC 6901): `#/paths/~1pets/get`, or with the file
    before the `#` where it is not the root document. `kind` is one word of a small set, for counting. `operation`
    names the operation that has no tool because of this problem (`GET /pets`); None if it has one. An operation is
    either a tool or exactly one Problem with its name.
    """

    pointer: str
    message: str
    kind: str
    hint: str = ""
    operation: str | None = None

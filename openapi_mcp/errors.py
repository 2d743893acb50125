"""What can go wrong before tools exist: `Problem`, a value, and the few exceptions that end a command.

    BridgeError               (exit code 1)
    ├── UsageError            2  the command line or configuration asks for what cannot be
    ├── DocumentError         3  a document cannot be read at all: missing, not OpenAPI, refused
    │   └── ReferenceRefused  3  a reference points where it may not: a remote host, a private address, beyond a limit
    ├── UnknownTool           4  no tool of that name
    ├── CallFailed            5  `openapi-mcp call` got an error for an answer
    ├── UnresolvedConflicts   6  a package holds conflicts between its owner's edits and what is generated
    └── PackageStale          7  `openapi-mcp generate --check` found a package that is out of date

A defect *inside* a document is never an exception that leaves the compile side: it is a `Problem`, and the rest works.
"""

from dataclasses import dataclass
from typing import ClassVar


class BridgeError(Exception):
    """Base of all errors a command may end with: what happened, where, and what to do about it."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint


class UsageError(BridgeError):
    """The command line or the configuration asks for something that cannot be done."""

    exit_code = 2


class DocumentError(BridgeError):
    """A document cannot be read at all."""

    exit_code = 3


class ReferenceRefused(DocumentError):
    """A reference points where it may not."""


class UnknownTool(BridgeError):
    """There is no tool of that name."""

    exit_code = 4


class CallFailed(BridgeError):
    """A tool called from the command line answered with an error."""

    exit_code = 5


class UnresolvedConflicts(BridgeError):
    """A package on disk holds conflicts that its owner has to resolve: of this generation, or still of the last."""

    exit_code = 6


class PackageStale(BridgeError):
    """A package on disk is not what its document would generate now."""

    exit_code = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A reported defect of a document: where, what, and the cure.

    `pointer` is a URI reference whose fragment is a JSON pointer (RFC 6901): `#/paths/~1pets/get`, or with the file
    before the `#` where it is not the root document. `kind` is one word of a small set, for counting. `operation`
    names the operation this problem cost (`GET /pets`), and is None where nothing was lost: an operation is either
    a tool or exactly one Problem with its name.
    """

    pointer: str
    message: str
    kind: str
    hint: str = ""
    operation: str | None = None

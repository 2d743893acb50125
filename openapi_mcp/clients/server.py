"""`InstalledServer`: what a client has to know of a server; `Machine`: where the settings of clients are."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Self

MODULE = "openapi_mcp"
"""The module that `python -m` runs; an entry whose arguments begin so is one that this program wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledServer:
    """A server that a client starts (`command`, `args`, the names of the `variables` it reads), or the URL of one.

    `token_variable` names the environment variable with the bearer token of the server at `url`.
    """

    name: str
    description: str = ""
    command: str = ""
    args: Sequence[str] = ()
    variables: Sequence[str] = ()
    url: str = ""
    token_variable: str = ""

    @classmethod
    def started(
        cls, name: str, words: Sequence[str], *, description: str = "", variables: Sequence[str] = (), command: str = ""
    ) -> Self:
        """Return a server that the client starts: this interpreter, or `command`, runs `openapi-mcp serve WORDS`."""
        args = ("-m", MODULE, "serve", *words)
        return cls(
            name=name, description=description, command=command or sys.executable, args=args, variables=tuple(variables)
        )

    @property
    def secrets(self) -> Sequence[str]:
        """The variables whose values the client has to get from its user."""
        return ([self.token_variable] if self.token_variable else []) if self.url else self.variables


@dataclass(frozen=True, slots=True)
class Machine:
    """The platform (`linux`, `darwin`, `win32`), the user's home, the environment, and the folder of the project."""

    platform: str
    home: PurePath
    project: PurePath
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def this(cls) -> Self:
        """Return the machine that this process runs on."""
        platform = sys.platform if sys.platform in ("win32", "darwin") else "linux"
        return cls(platform, Path.home(), Path.cwd(), os.environ)

    @property
    def settings(self) -> PurePath:
        """The folder in which programs keep their settings: XDG's, `Application Support`, or `%APPDATA%`."""
        if self.platform == "win32":
            return self._named("APPDATA", self.home / "AppData" / "Roaming")
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        return self.xdg

    @property
    def xdg(self) -> PurePath:
        """The folder of the XDG Base Directory Specification, which some programs use on macOS too."""
        return self._named("XDG_CONFIG_HOME", self.home / ".config")

    def folder(self, variable: str, name: str) -> PurePath:
        """Return the folder that a variable names, else one in the user's home."""
        return self._named(variable, self.home / name)

    def _named(self, variable: str, default: PurePath) -> PurePath:
        named = self.environment.get(variable, "")
        return type(self.home)(named) if named and type(self.home)(named).is_absolute() else default

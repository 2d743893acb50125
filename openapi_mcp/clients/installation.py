"""Install a server in a client and uninstall it: the file, its backup, and what is refused. Nothing is printed here."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UsageError
from . import edits, files
from .server import InstalledServer, Machine
from .table import Client


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """The settings file of a client, of the user or of a project."""

    client: Client
    machine: Machine
    of_project: bool = False

    @property
    def path(self) -> Path:
        """The file."""
        return Path(self.client.settings_file(self.machine, of_project=self.of_project))

    def check(self) -> None:
        """Raise UsageError where the client is not installed: its folder does not exist."""
        if self.of_project or self.path.exists():
            return
        home = self.client.home
        folder = Path(self.machine.home) / home if home and self.path.parent == self.machine.home else self.path.parent
        if not folder.is_dir():
            hint = f"start {self.client.title} once; or see --print for what to add by hand"
            raise UsageError(f"{self.client.title} is not installed: no such folder", where=str(folder), hint=hint)


def install(place: SettingsFile, server: InstalledServer, *, force: bool = False) -> bool:
    """Write the entry of a server into the settings of a client; return whether anything had to be changed.

    An entry of that name is replaced if it is ours, or with `force`. Raises UsageError, and then nothing is changed.
    """
    place.check()
    path, client = place.path, place.client
    with _located(path):
        before = files.read(path)
        present = edits.servers_in(before or "", client)
        existing = present.get(server.name)
        if server.name in present and not force and not edits.is_ours(existing, server.url):
            message = f"{client.title} has another server with the name {server.name}"
            raise UsageError(message, hint="take another --name, or replace it with --force")
        after = edits.added(before or "", client, server)
        if after == before:
            return False
        backup = files.backup_of(path)
        if place.of_project:
            path.parent.mkdir(exist_ok=True)
        if before is not None and not any(map(edits.is_ours, present.values())):
            files.replace(backup, files.read(backup), before)
            with suppress(OSError):
                backup.chmod(path.stat().st_mode & 0o777)
        files.replace(path, before, after)
    return True


def uninstall(place: SettingsFile, target: str, source: str, *, url: str = "", force: bool = False) -> str:
    """Remove the entry with the name `target`, or the one that serves the document `source`; return its name.

    The bytes before the first installation are restored where nothing else has changed. Raises UsageError.
    """
    path, client = place.path, place.client
    with _located(path):
        before = files.read(path)
        present = edits.servers_in(before or "", client)
        name = _name(client, present, target, source)
        if not force and not edits.is_ours(present[name], url):
            message = f"the server {name} of {client.title} does not run openapi-mcp"
            raise UsageError(message, hint="remove it with --force; one at a URL also with --http URL")
        backup = files.backup_of(path)
        original = files.read(backup)
        after = edits.without(before or "", client, name, original)
        files.replace(path, before, after)
        if after == original and original is not None:
            backup.unlink()
        if after is None and place.of_project and path.parent != place.machine.project:
            with suppress(OSError):
                path.parent.rmdir()
    return name


def _name(client: Client, present: Mapping[str, Any], target: str, source: str) -> str:
    if target in present:
        return target
    names = [name for name, entry in present.items() if source and edits.source_of(entry) == source]
    if len(names) == 1:
        return names[0]
    ours = ", ".join(name for name, entry in present.items() if edits.is_ours(entry)) or "none"
    if names:
        raise UsageError(f"{client.title} has several servers of this document", hint=f"name one: {', '.join(names)}")
    raise UsageError(f"{client.title} has no server {target!r}", hint=f"those of openapi-mcp are: {ours}")


@contextmanager
def _located(path: Path) -> Iterator[None]:
    """Give errors without a place the settings file as theirs."""
    try:
        yield
    except UsageError as error:
        error.where = error.where or str(path)
        raise

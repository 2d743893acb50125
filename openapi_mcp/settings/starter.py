"""The first settings file of a server: what is chosen, and as comments what else can be, with the document's names."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ..clients.toml_text import bare_key, literal
from ..plain_text import line

MAX_NAMES: Final = 5
"""Names of a document in a comment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Starter:
    """Content of the settings file of a new server.

    `spec` is the document's path or URL, `title` and `tags` are the document's; `operations` and `read_only_operations`
    count them. `base_url` is that of calls, None where the document names none. `variables` are the environment
    variables of credentials by security scheme, `own_variables` those of them that the user chose. `transport` and
    `read_only` are the user's choices.
    """

    spec: str
    title: str
    tags: Sequence[str] = ()
    operations: int = 0
    read_only_operations: int = 0
    base_url: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    own_variables: Mapping[str, str] = field(default_factory=dict)
    transport: str | None = None
    read_only: bool = False

    def text(self) -> str:
        """Return the file: TOML that the JSON Schema of settings accepts."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield f"# The MCP server of {_comment(self.title)}. `openapi-mcp serve` in this folder starts it."
        yield "# `openapi-mcp settings-schema` describes every setting; they are the options of `serve`."
        yield ""
        yield f"spec = {literal(self.spec)}"
        yield ""
        yield "# The address of the API, instead of the document's `servers`."
        yield f"# base-url = {literal(self.base_url or 'https://api.example.com')}"
        yield ""
        yield f"# Only operations that change nothing: {self.read_only_operations} of {self.operations}."
        yield f"{'' if self.read_only else '# '}read-only = true"
        yield ""
        yield "# Only some operations: tag:NAME, path:/pets/*, method:get, id:NAME." + self._tags()
        yield f"# include = {literal([f'tag:{tag}' for tag in self.tags[:1]] or ['method:get'])}"
        yield ""
        yield '# How clients reach the server: "stdio", where the client starts it, or "http".'
        yield f"{'' if self.transport else '# '}transport = {literal(self.transport or 'http')}"
        yield ""
        yield "# Clients differ in what they accept. Choose one: claude, openai, gemini, cursor, vscode."
        yield '# client = "generic"'
        yield from self._credentials()

    def _tags(self) -> str:
        names = ", ".join(map(_comment, self.tags[:MAX_NAMES]))
        return f" The tags are {names}{' …' if len(self.tags) > MAX_NAMES else ''}." if names else ""

    def _credentials(self) -> Iterator[str]:
        if not self.variables:
            return
        yield ""
        yield "# Credentials are read from environment variables and not written into files:"
        yield from (f"#   {_comment(name)}: {variable}" for name, variable in self.variables.items())
        yield "[auth]"
        for name, variable in self.variables.items():
            chosen = self.own_variables.get(name)
            yield f"{'' if chosen else '# '}{bare_key(name)} = {literal(f'env:{chosen or variable}')}"


def _comment(text: str) -> str:
    """Return a text of the document on one line, which ends no comment."""
    return line(text, 80)

"""Arguments and options that one command reads itself, and those of every command."""

from pathlib import Path
from typing import Final

from .option import (
    ALL,
    ARGUMENTS,
    BUNDLE,
    CALL,
    COMMAND,
    DIFF,
    GENERAL,
    GENERATE,
    INIT,
    INSPECT,
    INSTALLING,
    READING,
    SEARCH,
    SIGN_IN,
    Option,
)

CLIENTS: Final = (
    "claude-desktop",
    "claude-code",
    "cursor",
    "vscode",
    "windsurf",
    "gemini",
    "codex",
    "goose",
    "zed",
    "lm-studio",
)

# fmt: off
COMMAND_OPTIONS: Final = (
    Option(
        "spec", ARGUMENTS, (*READING, "install"),
        "An OpenAPI 3.x or Swagger 2.0 document: a path, a URL, or - for stdin; or the name of an API of the "
        "settings file. Without it, the document is that of openapi-mcp.toml in this folder or of "
        "[tool.openapi-mcp] in pyproject.toml.",
        to="start", metavar="SPEC", is_source=True
    ),
    Option("tool", ARGUMENTS, INSPECT, "Show only this tool, with its schemas.", to="command", metavar="TOOL"),
    Option(
        "query", ARGUMENTS, SEARCH, "The task, in plain words, in quotes.", to="command", metavar="WORDS"
    ),
    Option(
        "tool", ARGUMENTS, CALL, "Name of the tool, as `openapi-mcp inspect` shows it.",
        to="command", metavar="TOOL", required=True
    ),
    Option(
        "arguments", ARGUMENTS, CALL, "Arguments of the tool. Values are text or JSON; a repeated key makes a list.",
        to="command", metavar="KEY=VALUE", many=True
    ),
    Option(
        "out", ARGUMENTS, GENERATE, "Folder of the package. Files that are in it already are never lost.",
        to="command", metavar="OUT", kind=Path, required=True
    ),
    Option(
        "folder", ARGUMENTS, BUNDLE, "A package that `openapi-mcp generate` wrote.",
        to="command", metavar="FOLDER", kind=Path, required=True
    ),
    Option(
        "verb", ARGUMENTS, ("overlay",),
        "init SPEC: write an overlay to start from; diff OLD NEW: write the overlay that turns OLD into NEW; apply "
        "SPEC OVERLAY…: print the changed document.",
        to="command", choices=("init", "diff", "apply"), required=True
    ),
    Option(
        "files", ARGUMENTS, ("overlay",), "Documents and overlays: paths or URLs.",
        to="command", metavar="FILE", many=True, required=True
    ),
    Option(
        "as_json", COMMAND, ("overlay",), "Print JSON instead of YAML.",
        to="command", kind=bool, default=False, flags=("--json",)
    ),
    Option(
        "old", ARGUMENTS, DIFF, "The old document: a path or a URL.",
        to="command", metavar="OLD", required=True
    ),
    Option("new", ARGUMENTS, DIFF, "The new document: a path or a URL.", to="command", metavar="NEW", required=True),
    Option(
        "format", COMMAND, DIFF, "Text (into a pipe: a line for each change, with tabs), JSON, or a table in Markdown.",
        to="command", choices=("text", "json", "markdown"), default_text="text"
    ),
    Option(
        "fail_on", COMMAND, DIFF, "Changes for which the exit code is 9.",
        to="command", choices=("breaking", "any", "none"), default_text="breaking"
    ),
    Option("action", ARGUMENTS, ("cache",), "clear: remove everything.", to="command", choices=("clear",)),
    Option(
        "explain", COMMAND, SEARCH, "Show why each tool was found.", to="command", kind=bool, default=False
    ),
    Option(
        "limit", COMMAND, SEARCH, "The largest number of tools.",
        to="command", metavar="N", kind=int, minimum=1, default_text="10; all of a topic"
    ),
    Option(
        "topic", COMMAND, SEARCH, "Only tools with this tag, or whose path begins with it: pets, /pets/{petId}.",
        to="command", metavar="TOPIC"
    ),
    Option(
        "as_json", COMMAND, (*INSPECT, *SEARCH), "Print everything as JSON, for programs.",
        to="command", kind=bool, default=False, flags=("--json",)
    ),
    Option(
        "validate", COMMAND, INSPECT, "Validate the whole document too; takes seconds for a big one.",
        to="command", kind=bool, default=True, flags=("--validate/--no-validate",)
    ),
    Option(
        "form", COMMAND, INSPECT,
        "text: for people; tsv: a line for each tool, with tabs between the columns, and all other output on stderr.",
        to="command", choices=("text", "tsv"), default_text="text at a terminal, else tsv", flags=("--format",),
        variable="OPENAPI_MCP_FORMAT"
    ),
    Option(
        "sort", COMMAND, INSPECT, "Order of the tools: the most expensive first, or by name or path.",
        to="command", choices=("cost", "name", "path"), default_text="as in the document; at a terminal by tag"
    ),
    Option(
        "strict", COMMAND, INSPECT, "Exit with 10 if there is a problem, for CI.",
        to="command", kind=bool, default=False
    ),
    Option(
        "json_arguments", COMMAND, CALL, "Arguments as one JSON object, instead of KEY=VALUE.",
        to="command", metavar="OBJECT", flags=("--json",)
    ),
    Option(
        "dry_run", COMMAND, CALL, "Print the HTTP request instead of sending it.",
        to="command", kind=bool, default=False
    ),
    Option(
        "scheme", COMMAND, SIGN_IN, "The security scheme, if the document has several for OAuth.",
        to="command", metavar="SCHEME"
    ),
    Option(
        "device", COMMAND, ("login",), "Sign in on another device: show a code to enter there.",
        to="command", kind=bool, default=False
    ),
    Option(
        "no_browser", COMMAND, ("login",), "Print the address of the sign-in page, and open no browser.",
        to="command", kind=bool, default=False
    ),
    Option(
        "redirect_port", COMMAND, ("login",),
        "Port of http://127.0.0.1:PORT/callback, where the sign-in page returns to: one that the client is registered "
        "with.", to="command", metavar="PORT", kind=int, minimum=1, maximum=65535, default_text="a free one"
    ),
    Option(
        "target", ARGUMENTS, ("uninstall",), "The document that was installed, or the name of its entry.",
        to="command", metavar="SPEC|NAME", required=True
    ),
    Option(
        "client", COMMAND, INSTALLING, f"The client: {', '.join(CLIENTS)}.",
        to="command", metavar="CLIENT", required=True
    ),
    Option(
        "server_name", COMMAND, ("install",), "Name of the entry.",
        to="command", metavar="NAME", flags=("--name",), default_text="made from the API's title"
    ),
    Option(
        "scope", COMMAND, INSTALLING, "Settings of the user, or of the project in this folder.",
        to="command", choices=("user", "project"), default_text="user"
    ),
    Option(
        "http", COMMAND, INSTALLING, "Address of a server that runs already, instead of a command that starts one.",
        to="command", metavar="URL"
    ),
    Option(
        "http_token", COMMAND, ("install",), "Environment variable with the bearer token of the server at --http.",
        to="command", metavar="VARIABLE"
    ),
    Option(
        "force", COMMAND, INSTALLING, "Replace or remove an entry that does not run openapi-mcp.",
        to="command", kind=bool, default=False
    ),
    Option(
        "print_only", COMMAND, ("install",), "Print the settings, command or link, and change no file.",
        to="command", kind=bool, default=False, flags=("--print",)
    ),
    Option(
        "document", COMMAND, INIT, "Ask no questions, and write a file for this document: a path or a URL.",
        to="command", metavar="SPEC", flags=("--from",)
    ),
    Option(
        "force", COMMAND, INIT, "Replace the file if there is one.", to="command", kind=bool, default=False
    ),
    Option(
        "print_only", COMMAND, INIT, "Print the file, and write none.",
        to="command", kind=bool, default=False, flags=("--print",)
    ),
    Option(
        "name", COMMAND, GENERATE, "Distribution name of the package.",
        to="command", metavar="NAME", default_text="the API's title and -mcp"
    ),
    Option(
        "runtime", COMMAND, GENERATE,
        "vendored: the package holds a copy of the runtime; installed: it depends on mcp-openapi-bridge.",
        to="command", choices=("vendored", "installed"), default_text="as in the existing package, else vendored"
    ),
    Option(
        "templates", COMMAND, GENERATE, "Templates that replace the built-in ones of the same name.",
        to="command", metavar="FOLDER", kind=Path
    ),
    Option(
        "check", COMMAND, GENERATE, "Write nothing; exit with 7 if the package is not what SPEC generates now.",
        to="command", kind=bool, default=False
    ),
    Option(
        "force", COMMAND, GENERATE,
        "Generate into a folder that holds other files, and keep those files.",
        to="command", kind=bool, default=False
    ),
    Option(
        "bundle", COMMAND, GENERATE, "Also write the .mcpb archive that desktop clients install.",
        to="command", kind=bool, default=False
    ),
    Option(
        "output", COMMAND, BUNDLE, "Path of the archive.",
        to="command", metavar="FILE", kind=Path, flags=("--output", "-o"), default_text="NAME.mcpb in FOLDER"
    ),
    Option(
        "config", GENERAL, (*READING, "install"),
        'Settings in a TOML file: spec = "…", base-url = "…". ${NAME} in a text is the environment variable NAME, '
        "${NAME:-TEXT} has a default, $$ is $. The command line wins.",
        to="command", metavar="FILE", kind=Path
    ),
    Option(
        "debug", GENERAL, ALL, "Show tracebacks, and log what is sent to the API (no credentials).",
        to="command", kind=bool, default=False
    ),
)
# fmt: on
"""These options, in the order of `--help`."""

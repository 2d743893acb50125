"""Arguments and options of `check`."""

from pathlib import Path
from typing import Final

from .option import CHECK, COMMAND, Option

# fmt: off
CHECK_OPTIONS: Final = (
    Option(
        "report_format", COMMAND, CHECK, "Format of the report; html is one self-contained page.",
        to="command", choices=("text", "json", "sarif", "html"), default_text="text", flags=("--format",)
    ),
    Option(
        "output", COMMAND, CHECK, "Write the report to a file.",
        to="command", metavar="FILE", kind=Path, flags=("--output", "-o")
    ),
    Option(
        "probe", COMMAND, CHECK,
        "Compare with the API at this base URL: GET and HEAD are sent, at most 200, with the usual credentials, where "
        "all required arguments have examples, defaults or ids of earlier answers.",
        to="command", metavar="URL"
    ),
    Option(
        "contract_log", COMMAND, CHECK, "Compare with the log of `serve --check-contract`.",
        to="command", metavar="FILE", kind=Path
    ),
    Option(
        "fix", COMMAND, CHECK,
        "Write an OpenAPI overlay with the repairs that rules can make: base URL, security, types, required lists, "
        "media types, operationIds, texts. Its examples are harmless values of probed answers; read it before "
        "publishing.",
        to="command", metavar="OVERLAY", kind=Path
    ),
    Option(
        "fail_under", COMMAND, CHECK, "Exit with 10 if the score, after repairs, is below this.",
        to="command", metavar="SCORE", kind=int, minimum=0, maximum=100
    ),
    Option(
        "fail_on", COMMAND, CHECK, "Exit with 10 if there is a finding of this severity or worse, after repairs.",
        to="command", choices=("error", "warning")
    ),
    Option(
        "validate", COMMAND, CHECK, "Validate the whole document too; takes seconds for a big one.",
        to="command", kind=bool, default=False, flags=("--validate/--no-validate",)
    ),
)
# fmt: on
"""These options, in the order of `--help`."""

"""The picture of a terminal in the README: the demo's real output as SVG.

`make renew` writes it; a test compares it with what the demo prints.
"""

import io
import subprocess
import sys
from typing import Final

from tests.conftest import ROOT

PICTURE: Final = ROOT / "docs" / "demo.svg"
_COLUMNS: Final = 104
"""The width of the picture: that of the longest line of the demo that matters."""

_FORMAT: Final = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
    <title>openapi-mcp: the demo in a terminal</title>
    <style>
    .{unique_id}-matrix {{
        font-family: ui-monospace, Menlo, Consolas, monospace; font-size: {char_height}px; line-height: {line_height}px;
    }}
    .{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: system-ui, sans-serif; }}
    {styles}
    </style>
    <defs>
    <clipPath id="{unique_id}-clip-terminal">
    <rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
    </clipPath>
    {lines}
    </defs>
    {chrome}
    <g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
    {backgrounds}
    <g class="{unique_id}-matrix">
    {matrix}
    </g>
    </g>
</svg>
"""
"""Rich's own template without the fonts that it loads from another host."""


def demo() -> str:
    """Return what `make demo` prints."""
    done = subprocess.run(
        [sys.executable, "-m", "examples.demo"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout


def picture(text: str) -> str:
    """Return a terminal that shows a text, as SVG."""
    from rich.console import Console
    from rich.text import Text

    with io.StringIO() as nothing:
        console = Console(record=True, width=_COLUMNS, file=nothing, force_terminal=True, color_system="truecolor")
        for line in ("$ make demo", *text.splitlines()):
            console.print(Text(line, style=_style(line)), soft_wrap=False)
    return console.export_svg(title="openapi-mcp", code_format=_FORMAT, unique_id="demo")


def _style(line: str) -> str:
    """Return the style of a line: commands bold, results green, errors red."""
    words = {"$": "bold", "→": "green", "✗": "red"}
    return words.get(line.strip()[:1], "")


def write() -> None:
    PICTURE.write_text(picture(demo()))

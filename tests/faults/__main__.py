"""Run `make faults`: every row, as a Markdown table; exit code 1 if one exceeds a limit.

python -m tests.faults                  all rows
python -m tests.faults --short          those of `make test`
python -m tests.faults gzip arguments   rows whose name has one of these words
"""

import sys
from collections.abc import Sequence

from tests.faults.catalog import ROWS, stage_of
from tests.faults.rows import HEAD, MAX_MEMORY, MAX_WAIT, Measured, line


def main(words: Sequence[str]) -> int:
    """Run the rows that are asked for and return the exit code."""
    names = [word for word in words if word != "--short"]
    rows = [
        row
        for row in ROWS
        if (row.short or "--short" not in words) and (not names or any(name in row.key for name in names))
    ]
    failed: list[Measured] = []
    for group in dict.fromkeys(row.group for row in rows):
        print(f"\n## {group}\n\n{HEAD}", flush=True)
        with stage_of(group) as stage:
            for row in rows:
                if row.group == group:
                    measured = stage.measure(row)
                    print(line(measured), flush=True)
                    failed += [measured] if measured.verdict != "ok" else []
    limits = f"others wait {MAX_WAIT * 1000:.0f} ms longer than at an idle server, {MAX_MEMORY >> 20} MiB"
    print(f"\n{len(rows)} rows, {len(failed)} of them exceed a limit ({limits}).")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

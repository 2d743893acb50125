"""Profile `tools/call` in a running server by function, under load from another process.

    python -m benchmarks.profiled handshake > benchmarks/profile-handshake.txt

The profiler makes a call take twice as long, and small functions more than that: the order tells more than the times.
"""

import os
import pstats
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from openapi_mcp import __version__

from .throughput import _CALL, ROOT, Measured, load, request, running

_SERVER: Final = """
import cProfile, os, signal, sys
profile = cProfile.Profile()
def stop(*_):
    profile.disable()
    profile.dump_stats(os.environ["PROFILE"])
    os._exit(0)
signal.signal(signal.SIGUSR1, lambda *_: profile.enable())
signal.signal(signal.SIGUSR2, stop)
sys.argv[0] = "openapi-mcp"
from openapi_mcp.__main__ import main
main()
"""
_ROWS: Final = 60
_SECONDS: Final = 3.0
_WARM_UP: Final = 1.0


def profile(era: str, file: Path) -> None:
    """Write the profile of a server under load to a file."""
    with running((sys.executable, "-m", "benchmarks.measured", "backend", "PORT")) as (_, api):
        document = str(ROOT / "specs" / "petstore.yaml")
        options = ("--base-url", api, "--mode", "all", "--transport", "http", "--port", "PORT")
        os.environ["PROFILE"] = str(file)
        with running((sys.executable, "-c", _SERVER, "serve", document, *options)) as (pid, url):
            spec = request(Measured("", ()), era, _CALL)
            load((f"{url}/mcp",), 16, _WARM_UP, spec)
            os.kill(pid, signal.SIGUSR1)
            load((f"{url}/mcp",), 16, _SECONDS, spec)
            os.kill(pid, signal.SIGUSR2)
            while not file.stat().st_size:
                time.sleep(0.1)


def show(file: Path) -> None:
    """Print the functions that take most time by themselves, for one call."""
    rows = pstats.Stats(str(file)).stats  # type: ignore[attr-defined]  # typeshed lacks it
    calls = next(row[0] for (_, _, name), row in rows.items() if name == "build_request")
    total = sum(row[1] for row in rows.values()) / calls
    print(f"{__version__}: {total:.0f} function calls for one tools/call\n")
    print("   calls  µs self   µs total  function")
    for (path, line, name), (_, count, own, whole, _) in sorted(rows.items(), key=lambda row: -row[1][2])[:_ROWS]:
        place = f"{'/'.join(Path(path).parts[-2:])}:{line} " if line else ""
        print(f"{count / calls:8.2f} {own / calls * 1e6:8.2f} {whole / calls * 1e6:10.2f}  {place}{name}")


if __name__ == "__main__":
    with tempfile.NamedTemporaryFile() as temporary:
        profile(sys.argv[1], Path(temporary.name))
        show(Path(temporary.name))

"""Run `openapi-mcp` in copies of a process that has imported it already: most of a short command's time is its imports.

The process is small, since the peak memory of a copy counts from its own, and has one thread, as a copy must have.
"""

import atexit
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.hostile_documents import ROOT, Measured

_PREPARED = """
import contextlib, io, json, os, resource, signal, sys, tempfile, threading, traceback
from openapi_mcp.__main__ import main

def run(arguments):
    sys.argv = ["openapi-mcp", *arguments]
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1 if end.code else 0
    except BaseException:
        traceback.print_exc()
        return 1
    return 0

with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file, contextlib.redirect_stdout(io.StringIO()):
    file.write("openapi: 3.1.0\\ninfo: {title: T, version: '1'}\\npaths: {/x: {get: {responses: {}}}}\\n")
    file.flush()
    assert run(["inspect", file.name, "--no-cache", "--no-validate"]) == 0
assert threading.active_count() == 1

for line in sys.stdin:
    request = json.loads(line)
    pid = os.fork()
    if pid == 0:
        resource.setrlimit(resource.RLIMIT_AS, (request["memory"],) * 2)
        resource.setrlimit(resource.RLIMIT_CPU, (request["cpu"],) * 2)
        for number, name, flags in ((0, os.devnull, os.O_RDONLY), (1, request["out"], os.O_WRONLY | os.O_CREAT),
                                    (2, request["err"], os.O_WRONLY | os.O_CREAT)):
            os.dup2(os.open(name, flags, 0o600), number)
        code = run(request["arguments"])
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, request["seconds"])
    _, status, usage = os.wait4(pid, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    used = [os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024]
    print(json.dumps(used), flush=True)
"""


@cache
def _process() -> "subprocess.Popen[str]":
    words = [sys.executable, "-c", _PREPARED]
    process = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.communicate)
    return process


def measure(arguments: Sequence[str], *, seconds: float = 100.0, cpu: int = 30, memory: int = 4 << 30) -> Measured:
    """Run `openapi-mcp` as `hostile_documents.measure` does, without the time of its imports."""
    began = time.monotonic()
    process = _process()
    assert process.stdin
    assert process.stdout
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        request = {"arguments": list(arguments), "seconds": seconds, "cpu": cpu, "memory": memory}
        process.stdin.write(json.dumps({**request, "out": str(out), "err": str(err)}) + "\n")
        process.stdin.flush()
        code, used_cpu, peak = json.loads(process.stdout.readline())
        stdout, stderr = (path.read_text(errors="replace") if path.exists() else "" for path in (out, err))
    return Measured(code if code >= 0 else None, stdout, stderr, time.monotonic() - began, used_cpu, peak)

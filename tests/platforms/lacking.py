"""Run openapi-mcp as on Windows, as far as any machine can: without what only Unix has.

    python -m tests.platforms.lacking serve petstore.yaml

Missing are modules (`fcntl`, `resource`, `pwd`, `uvloop`, …), signals (`SIGHUP`, …), `AF_UNIX`, functions of `os`, and
the methods of event loops that Windows' own loop does not have. Modules that have code of their own for
Windows are imported before; the platform keeps its name, since libraries would load Windows' DLLs by it.
"""

import asyncio
import multiprocessing.connection
import os
import runpy
import select
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
from functools import partial
from typing import Any, Final

import platformdirs.unix

_LOADED: Final = (multiprocessing.connection, platformdirs.unix, ssl, subprocess, tempfile)
"""Modules with other code for Windows, which they choose by the platform's name when they are imported."""

_MODULES: Final = ("fcntl", "grp", "pwd", "readline", "resource", "syslog", "termios", "tty", "uvloop")
_SIGNALS: Final = ("SIGALRM", "SIGCHLD", "SIGHUP", "SIGPIPE", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGWINCH")
_OF_SIGNAL: Final = ("alarm", "pthread_sigmask", "setitimer", "siginterrupt", "sigwait")
_OF_OS: Final = ("chown", "fchown", "fork", "getegid", "geteuid", "getgid", "getuid", "lchown", "mkfifo", "O_NOFOLLOW")
_LOOP_METHODS: Final = ("add_reader", "add_signal_handler", "add_writer")


def lack() -> None:
    """Take away what Windows lacks."""
    for name in _MODULES:
        sys.modules[name] = None  # type: ignore[assignment]  # Python's own way to forbid an import
    socket.socketpair = partial(socket.socketpair, socket.AF_UNIX)  # on Windows it makes a pair of another family
    for module, names in (
        (signal, (*_SIGNALS, *_OF_SIGNAL)),
        (os, _OF_OS),
        (socket, ("AF_UNIX",)),
        (select, ("poll",)),
    ):
        for name in names:
            vars(module).pop(name, None)
    for name in _LOOP_METHODS:
        setattr(asyncio.SelectorEventLoop, name, _missing)


def _missing(*_: Any) -> None:
    """Do what the methods of Windows' event loop do."""
    raise NotImplementedError


if __name__ == "__main__":
    lack()
    sys.argv[0] = "openapi-mcp"
    runpy.run_module("openapi_mcp", run_name="__main__", alter_sys=False)

"""Whether the terminal that a process writes to is gone: a server that was started at one ends with it.

SIGHUP has two meanings, of old: the terminal hung up, and read your settings again.
"""

import os
import stat
from pathlib import Path


def is_gone() -> bool:
    """Whether stderr is a terminal that hung up. A file, a pipe and `/dev/null` are no terminals and cannot."""
    try:
        status = os.fstat(2)
        is_device = stat.S_ISCHR(status.st_mode) and status.st_rdev != Path(os.devnull).stat().st_rdev
    except OSError:
        return False
    return is_device and not os.isatty(2)

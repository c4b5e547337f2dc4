"""Keeps this program's memory and streams from the desktop's user, who is the agent, and whom it runs as.

Not covered: signals. Whoever stops or ends this program ends the desktop.
"""

import ctypes
import os

_PR_SET_DUMPABLE = 4


def keep_to_itself() -> None:
    """From now on no process of the same user traces this one, or opens what is in `/proc/<pid>` of it.

    Programs that it starts are as any other. See `man 2 prctl`, PR_SET_DUMPABLE.

    Raises:
        OSError: if the kernel refuses.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))

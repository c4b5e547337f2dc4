"""Peak memory: how the C library's allocator is kept from hoarding what torch frees. Linux with glibc; nothing else."""

import ctypes
import platform

_M_ARENA_MAX = -8  # malloc.h


def share_heaps(heaps: int = 2) -> bool:
    """Let all threads of the process allocate from `heaps` heaps; call it before they start.

    glibc gives each thread a heap of its own and keeps freed memory there. With a serving thread, a learning thread and
    OpenMP's workers that was measured to hold over a gigabyte that nobody used.

    Returns:
        Whether the C library took the setting.
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    return bool(ctypes.CDLL(None).mallopt(_M_ARENA_MAX, heaps))

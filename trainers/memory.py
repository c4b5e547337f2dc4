"""Peak memory: keeps the C library's allocator from hoarding what torch frees. Linux with glibc; elsewhere no-ops."""

import ctypes
import platform

_M_ARENA_MAX = -8  # malloc.h
_GLIBC = platform.libc_ver()[0] == "glibc"


def share_heaps(heaps: int = 2) -> bool:
    """Let all threads of the process allocate from `heaps` heaps; call it before they start.

    glibc gives each thread a heap of its own and keeps freed memory there. With a serving thread, a learning thread and
    OpenMP's workers that was measured to hold over a gigabyte that nobody used.

    Returns:
        Whether the C library took the setting.
    """
    return _GLIBC and bool(ctypes.CDLL(None).mallopt(_M_ARENA_MAX, heaps))


def release() -> bool:
    """Give freed memory back to the system: after an update, gradients and activations of the small model's size.

    Returns:
        Whether there was any to give.
    """
    return _GLIBC and bool(ctypes.CDLL(None).malloc_trim(0))

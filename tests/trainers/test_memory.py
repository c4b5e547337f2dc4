import platform
from pathlib import Path

import pytest
import torch

from trainers.memory import release, share_heaps

GLIBC = platform.libc_ver()[0] == "glibc"


def test_glibc_takes_the_setting_and_others_are_left_alone() -> None:
    assert share_heaps() is GLIBC


@pytest.mark.skipif(not GLIBC, reason="other allocators have ways of their own")
def test_freed_memory_goes_back_to_the_system() -> None:
    blocks = [torch.ones(32_000) for _ in range(2_000)]  # 250 MB in pieces that malloc keeps
    keep = blocks[-1]
    del blocks
    before = resident()
    release()
    assert resident() < before - 100 * 2**20
    assert keep.sum() == 32_000


def resident() -> int:
    """Bytes of this process in memory."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024

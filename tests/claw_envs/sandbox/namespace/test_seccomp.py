import errno
import platform
import struct
from collections.abc import Callable
from typing import Any

import pytest

from claw_envs.sandbox.namespace.backend import NamespaceSandbox
from claw_envs.sandbox.namespace.seccomp import bpf_filter

_ALLOW, _DENY = 0x7FFF0000, 0x00050001
_X86_64, _I386, _AARCH64, _ARM = 0xC000003E, 0x40000003, 0xC00000B7, 0x40000028


def _decide(program: bytes, *, architecture: int, number: int) -> int:
    """What the filter returns: an interpreter of the four instructions that it uses."""
    instructions = list(struct.iter_unpack("=HBBI", program))
    data = struct.pack("=II", number, architecture)
    place, loaded = 0, 0
    while True:
        code, then, otherwise, value = instructions[place]
        place += 1
        if code == 0x20:
            (loaded,) = struct.unpack_from("=I", data, value)
        elif code == 0x06:
            return int(value)
        else:
            holds = loaded == value if code == 0x15 else loaded >= value
            place += then if holds else otherwise


@pytest.mark.parametrize(
    ("machine", "architecture", "denied", "allowed"),
    [
        ("x86_64", _X86_64, [165, 250, 321, 425, 442, 323], [0, 59, 101, 272, 219]),
        ("x86_64", _I386, [21, 288, 357, 425, 22], [1, 11, 26, 165, 250, 321]),
        ("x86_64", _AARCH64, [0, 59, 63], []),
        ("aarch64", _AARCH64, [40, 219, 280, 425], [63, 221, 117, 97, 0x40000000]),
        ("aarch64", _ARM, [1, 11], []),
    ],
)
def test_decisions(machine: str, architecture: int, denied: list[int], allowed: list[int]) -> None:
    program = bpf_filter(machine)
    assert program is not None
    assert len(program) % 8 == 0
    assert {_decide(program, architecture=architecture, number=n) for n in denied} == {_DENY}
    assert {_decide(program, architecture=architecture, number=n) for n in allowed} <= {_ALLOW}


def test_calls_of_the_third_x86_architecture_are_denied() -> None:
    program = bpf_filter("x86_64")
    assert program is not None
    assert _decide(program, architecture=_X86_64, number=0x40000000) == _DENY


def test_other_machines_have_no_filter() -> None:
    assert bpf_filter("riscv64") is None


_CALLS = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for number in {numbers}:
    print(libc.syscall(number, 0, 0, 0, 0, 0), ctypes.get_errno())
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="has the numbers of x86-64")
@pytest.mark.parametrize("user", ["agent", "verifier"])
def test_io_uring_bpf_and_keys_are_out_of_reach(in_sandbox: Callable[..., Any], user: str) -> None:
    numbers = [425, 321, 250, 298, 323, 165]

    async def body(sandbox: NamespaceSandbox) -> str:
        script = _CALLS.format(numbers=numbers)
        return (await sandbox.exec(["/usr/bin/python3", "-c", script], timeout=30, user=user)).output

    assert in_sandbox(body) == f"-1 {errno.EPERM}\n" * len(numbers)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="has no filter here")
def test_every_process_is_filtered_and_none_inherits_the_filters_file(in_sandbox: Callable[..., Any]) -> None:
    async def body(sandbox: NamespaceSandbox) -> list[str]:
        look = "grep ^Seccomp: /proc/self/status; ls /proc/self/fd"
        shell = await sandbox.shell()
        argv = ["/bin/sh", "-c", look]
        return [(await sandbox.exec(argv, timeout=30)).output, (await shell.run("ls /proc/self/fd", timeout=30)).output]

    executed, shell = in_sandbox(body)
    assert "Seccomp:\t2\n" in executed
    assert executed.split()[-4:] == shell.split() == ["0", "1", "2", "3"]

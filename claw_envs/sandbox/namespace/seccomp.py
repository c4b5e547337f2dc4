"""The system calls that no agent needs, denied: a filter in the kernel's own byte code, for bubblewrap's `--seccomp`.

Each answers EPERM, as it would without the privilege. Denied is what has led out of containers before, or reaches past
namespaces: kernel keys, bpf, performance events, io_uring, user page faults, file handles, mounts, other namespaces,
kernel modules, another kernel, swap, quotas, accounting, the kernel's log and clock. Allowed stay ptrace, `unshare` and
what else debuggers and package managers use. On machines other than x86-64 and AArch64 there is no filter.
"""

import errno
import platform
import struct

FILTER_FD = 9
"""Descriptor that bubblewrap reads the filter from."""
_X86_64, _I386, _AARCH64 = 0xC000003E, 0x40000003, 0xC00000B7
_MACHINES = {"x86_64": {_X86_64: 0, _I386: 1}, "aarch64": {_AARCH64: 2}}
"""Architectures whose programs a machine runs -> column of `_DENIED`. Programs of any other may call nothing."""
_DENIED: dict[str, tuple[int, int, int]] = {
    "acct": (163, 51, 89),
    "add_key": (248, 286, 217),
    "bpf": (321, 357, 280),
    "clock_settime": (227, 264, 112),
    "delete_module": (176, 129, 106),
    "fanotify_init": (300, 338, 262),
    "finit_module": (313, 350, 273),
    "fsconfig": (431, 431, 431),
    "fsmount": (432, 432, 432),
    "fsopen": (430, 430, 430),
    "fspick": (433, 433, 433),
    "init_module": (175, 128, 105),
    "io_uring_enter": (426, 426, 426),
    "io_uring_register": (427, 427, 427),
    "io_uring_setup": (425, 425, 425),
    "kexec_file_load": (320, -1, 294),
    "kexec_load": (246, 283, 104),
    "keyctl": (250, 288, 219),
    "lookup_dcookie": (212, 253, 18),
    "mount": (165, 21, 40),
    "mount_setattr": (442, 442, 442),
    "move_mount": (429, 429, 429),
    "nfsservctl": (180, 169, 42),
    "open_by_handle_at": (304, 342, 265),
    "open_tree": (428, 428, 428),
    "perf_event_open": (298, 336, 241),
    "pivot_root": (155, 217, 41),
    "quotactl": (179, 131, 60),
    "quotactl_fd": (443, 443, 443),
    "reboot": (169, 88, 142),
    "request_key": (249, 287, 218),
    "setns": (308, 346, 268),
    "settimeofday": (164, 79, 170),
    "swapoff": (168, 115, 225),
    "swapon": (167, 87, 224),
    "syslog": (103, 103, 116),
    "umount": (-1, 22, -1),
    "umount2": (166, 52, 39),
    "userfaultfd": (323, 374, 282),
}
"""Numbers on x86-64, i386 and AArch64; -1 where the architecture has no such call."""
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_JMP|JGE|K, BPF_RET|K
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4  # in struct seccomp_data
_ALLOW, _DENY = 0x7FFF0000, 0x00050000 | errno.EPERM  # SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO
_X32 = 0x40000000  # x86-64 calls with this bit are those of a third architecture


def bpf_filter(machine: str | None = None) -> bytes | None:
    """The filter; None where there is none for the machine (see `platform.machine`)."""
    architectures = _MACHINES.get(machine or platform.machine())
    if architectures is None:
        return None
    program = [_instruction(_LOAD, _ARCHITECTURE_AT)]
    for architecture, column in architectures.items():
        numbers = [row[column] for row in _DENIED.values() if row[column] >= 0]
        block = _block(numbers, x32=architecture == _X86_64)
        program += [_instruction(_EQUAL, architecture, otherwise=len(block)), *block]
    return b"".join([*program, _instruction(_RETURN, _DENY)])


def _block(numbers: list[int], *, x32: bool) -> list[bytes]:
    """What is decided for one architecture; it never falls through."""
    tests = [(_AT_LEAST, _X32)] if x32 else []
    tests += [(_EQUAL, number) for number in numbers]
    jumps = [_instruction(code, value, then=len(tests) - place) for place, (code, value) in enumerate(tests)]
    return [_instruction(_LOAD, _NUMBER_AT), *jumps, _instruction(_RETURN, _ALLOW), _instruction(_RETURN, _DENY)]


def _instruction(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    """One `struct sock_filter`; jumps count the instructions that are skipped."""
    return struct.pack("=HBBI", code, then, otherwise, value)

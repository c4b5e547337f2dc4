"""The wall around chromium: no network at all, and only the files that it needs.

Pages get what they get from `network`; the browser itself never has to connect anywhere. Flags make chromium refuse
every host. Where bubblewrap works, it also runs in a network namespace without interfaces, sees the programs of the
host and none of its other files, and is never root. Within that, where nested user namespaces work, chromium's own
sandbox holds the processes of pages. This costs some 20 ms a start, and nothing a call.

Not covered: memory and processor time. Without bubblewrap, a page that takes over its process reaches what its user
can.
"""

import functools
import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

_READ_ONLY = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt")
_PROBE_TIMEOUT = 10.0
_NOBODY = ("/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs")
"""Root's namespaces would leave it what root may do."""
_NESTED = ("unshare", "--user", "true")
"""What chromium's own sandbox begins with."""
INSIDE_PROFILE = "/tmp/profile"
"""Where chromium keeps what it must write, in memory of its own behind the wall."""
DEAD_ENDS = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=socks5://0.0.0.0:1",
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--no-pings",
)
"""Flags under which chromium connects to no host: no name resolves, and the proxy that all else goes to is none."""


class Wall(NamedTuple):
    """What a chromium is started behind."""

    words: tuple[str, ...]
    """What comes before its command line: bubblewrap and its words; nothing where that does not work here."""
    own_sandbox: bool
    """Whether chromium's own sandbox works there, too, in which pages may make hardly any system call."""


@functools.cache
def wall_for(program: str) -> Wall:
    """The best wall that this machine allows; containers and some kernels forbid part of it. Blocks while it tries."""
    path = Path(program).resolve()
    bubblewrap = shutil.which("bwrap")
    if bubblewrap is not None:
        behind = (bubblewrap, *_words(path))
        for words in ((*_NOBODY, *behind), behind) if os.geteuid() == 0 else (behind,):
            if _works(*words, "test", "-x", str(path)):
                return Wall(words, not _stays_root(words) and _works(*words, *_NESTED))
    return Wall((), not _stays_root(()) and _works(*_NESTED))


def _stays_root(words: tuple[str, ...]) -> bool:
    """Whether chromium would run as root, as whom it does without its own sandbox."""
    return os.geteuid() == 0 and words[: len(_NOBODY)] != _NOBODY


def _words(program: Path) -> list[str]:
    words = ["--unshare-net", "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--new-session"]
    for tree in _READ_ONLY:
        words += ["--ro-bind-try", tree, tree]
    words += ["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/dev/shm"]
    if not str(program).startswith(_READ_ONLY):
        words += ["--ro-bind", str(program.parent), str(program.parent)]
    return [*words, "--dir", INSIDE_PROFILE, "--chdir", "/", "--"]


def _works(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=_PROBE_TIMEOUT, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False

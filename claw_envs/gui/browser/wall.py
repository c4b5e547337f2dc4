"""The wall around chromium: no network at all, and only the files that it needs.

Pages get what they get from `network`; the browser itself never has to connect anywhere. Flags make chromium refuse
every host, and where bubblewrap works it runs in a network namespace without interfaces, too. Measured: 20 ms a start,
nothing a call.

Not covered without bubblewrap: a page that takes over a renderer could reach what the user can.
"""

import functools
import shutil
import subprocess
from pathlib import Path

_READ_ONLY = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt")
_PROBE_TIMEOUT = 10.0
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


def walled(program: str) -> list[str]:
    """What comes before a chromium's command line: bubblewrap and its words; nothing where that does not work here."""
    bubblewrap = shutil.which("bwrap")
    if bubblewrap is None or not _works(bubblewrap):
        return []
    return [bubblewrap, *_words(Path(program).resolve())]


def _words(program: Path) -> list[str]:
    words = ["--unshare-net", "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--new-session"]
    for tree in _READ_ONLY:
        words += ["--ro-bind-try", tree, tree]
    words += ["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/dev/shm"]
    if not str(program).startswith(_READ_ONLY):
        words += ["--ro-bind", str(program.parent), str(program.parent)]
    return [*words, "--dir", INSIDE_PROFILE, "--chdir", "/", "--"]


@functools.cache
def _works(bubblewrap: str) -> bool:
    """Whether it may make namespaces: containers and some kernels forbid that."""
    command = [bubblewrap, *_words(Path("/bin/true")), "true"]
    try:
        return subprocess.run(command, capture_output=True, timeout=_PROBE_TIMEOUT, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False

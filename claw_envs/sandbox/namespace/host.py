"""What of this host the namespace backend needs: tools, identities, and where state is kept.

Linux only. Everything else about the host stays out of a sandbox.
"""

import functools
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from claw_envs.core.errors import UserError

TOOL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_OLDEST_BWRAP = (0, 8)
TOOLS = {"bwrap": "bubblewrap", "nsenter": "util-linux", "unshare": "util-linux", "setpriv": "util-linux",
         "mount": "mount", "bash": "bash"}  # fmt: skip
ROOT_UID = 0x6C610000
"""First of the host ids that sandboxes of a privileged owner use: no account of the host's has them."""
IDS = 65536
AGENT_UID = 1000
"""The agent's uid and gid inside. 0 is the verifier."""

_NOBODY = 65534


def host_id(image: int) -> int:
    """Host id of an image's user or group in sandboxes of a privileged owner: what is root's is the agent's there.

    >>> host_id(0) == ROOT_UID + AGENT_UID, host_id(AGENT_UID) == ROOT_UID, host_id(33) == ROOT_UID + 33
    (True, True, True)
    """
    swapped = {0: AGENT_UID, AGENT_UID: 0}.get(image, image)
    return ROOT_UID + (swapped if swapped < IDS else _NOBODY)


@functools.lru_cache(maxsize=1)
def tools() -> dict[str, str]:
    """Absolute paths of the programs that build a sandbox.

    Raises:
        UserError: naming the package of the first that is missing.
    """
    found = {}
    for name, package in TOOLS.items():
        path = shutil.which(name, path=TOOL_PATH)
        if path is None:
            raise UserError(f"the namespace sandbox needs `{name}`: install it with `apt-get install {package}`")
        found[name] = path
    _check_version(found["bwrap"])
    return found


def _check_version(bwrap: str) -> None:
    said = subprocess.run([bwrap, "--version"], capture_output=True, text=True, env={}, check=False).stdout
    version = re.search(r"(\d+)\.(\d+)", said)
    if version is None or tuple(map(int, version.groups())) < _OLDEST_BWRAP:
        oldest = ".".join(map(str, _OLDEST_BWRAP))
        raise UserError(
            f"the namespace sandbox needs bubblewrap {oldest} or newer, {bwrap} is {said.strip()}: upgrade it"
        )


class Identity(NamedTuple):
    """Which ids a sandbox's processes have on the host."""

    privileged: bool
    """The owner is root: agent and verifier get host ids of their own. Else both are the owner's id, nested."""

    @property
    def uid_map(self) -> str:
        """Content of the holder's `uid_map`."""
        return f"0 {ROOT_UID} {IDS}" if self.privileged else f"0 {os.getuid()} 1"

    @property
    def gid_map(self) -> str:
        """Content of the holder's `gid_map`."""
        return f"0 {ROOT_UID} {IDS}" if self.privileged else f"0 {os.getgid()} 1"

    @property
    def agent(self) -> tuple[int, int]:
        """Host uid and gid of the agent's files."""
        return (ROOT_UID + AGENT_UID,) * 2 if self.privileged else (os.getuid(), os.getgid())


def identity() -> Identity:
    """The identity that this process can give its sandboxes.

    Root of a container without the ids that sandboxes use (a rootless engine's) counts as an ordinary user.
    """
    lines = [tuple(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text().splitlines()]
    has_ids = any(first <= ROOT_UID and first + count >= ROOT_UID + IDS for first, _, count in lines)
    return Identity(privileged=os.geteuid() == 0 and has_ids)


def state_root() -> Path:
    """Directory that holds the state of all owners of this user. Not readable by others, but traversable.

    Raises:
        UserError: if it cannot be made, or somebody else has made it.
    """
    if os.geteuid() == 0:
        root = Path("/run/claw-envs")
    else:
        root = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()) / f"claw-envs-{os.getuid()}"
    try:
        root.mkdir(mode=0o711, parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"sandboxes keep their state in {root}, which cannot be made: {error.strerror}") from error
    if root.is_symlink() or root.stat().st_uid != os.geteuid():
        raise UserError(f"{root} belongs to somebody else: remove it, or set XDG_RUNTIME_DIR to a directory of yours")
    return root

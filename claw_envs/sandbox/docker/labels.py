"""What containers are labelled with: who owns them, and until when that owner may be taken to live.

An owner is a machine and a process on it, by pid and start time. A machine is its `/etc/machine-id` and host name, and
the pid namespace in which the pid counts: engines are shared by machines, and by containers that hold their socket.
"""

import functools
import hashlib
import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path

from claw_envs.sandbox.process.child import start_time

OWNER, EXPIRES = "claw-envs.owner", "claw-envs.expires"
TTL = 24 * 3600.0
"""Seconds after which a container is removed where nobody can tell whether its owner lives."""


@functools.lru_cache(maxsize=1)
def machine() -> str:
    """This machine's name in labels."""
    try:
        known = Path("/etc/machine-id").read_text().strip()
    except OSError:
        known = ""
    parts = (known, socket.gethostname(), str(os.stat("/proc/self/ns/pid").st_ino))
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]


def labels() -> dict[str, str]:
    """Labels for a container that this process makes now."""
    pid = os.getpid()
    return {OWNER: f"{machine()}:{pid}-{start_time(pid)}", EXPIRES: str(int(time.time() + TTL))}


def abandoned(found: Mapping[str, str]) -> bool:
    """Whether a container with these labels has lost its owner.

    An owner on this machine is looked up, however old the container is; one on another counts as dead after `TTL`.
    """
    where, _, process = found.get(OWNER, "").partition(":")
    pid, _, started = process.partition("-")
    if where == machine() and pid.isdigit():
        return str(start_time(int(pid))) != started
    expires = found.get(EXPIRES, "")
    return not expires.isdigit() or int(expires) < time.time()

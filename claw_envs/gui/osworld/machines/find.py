"""From what the user wrote as `machines` to a provider, which all environments of this process share."""

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.core.settings import read_settings
from claw_envs.gui.osworld.machines.base import Provider
from claw_envs.gui.osworld.machines.file import SUFFIXES, read_machines
from claw_envs.gui.osworld.machines.listed import Listed, ListedMachines
from claw_envs.lookup import lookup

Machines = str | Sequence[str | Mapping[str, Any]]
DOCKER = "docker"
_lock = threading.Lock()
_known: dict[bytes, Provider] = {}


def provider_of(machines: Machines, size: tuple[int, int]) -> Provider:
    """The provider of `machines`; equal ones have the same, so that no machine is lent twice.

    Args:
        machines: addresses, or objects with the fields of `listed.Listed`; `docker`; or `module:name` of a callable
            that gives a provider; or a file of addresses and objects, see `file.read_machines`.
        size: of the screen, for machines that are made anew.

    Raises:
        UserError: if it is none of these.
    """
    if isinstance(machines, str) and "://" not in machines and machines.endswith(SUFFIXES):
        machines = read_machines(machines)
    key = msgspec.json.encode((machines, size if machines == DOCKER else None))
    with _lock:
        provider: Provider = _known.get(key) or _make(machines, size)
        _known[key] = provider
    return provider


def _make(machines: Machines, size: tuple[int, int]) -> Provider:
    if machines == DOCKER:
        from claw_envs.gui.osworld.machines.docker import DockerMachines

        return DockerMachines(size)
    if isinstance(machines, str) and "://" not in machines:
        provider: Provider = lookup(machines, extra="gui")()
        return provider
    listed = [machines] if isinstance(machines, str) else list(machines)
    rows = [{"url": each} if isinstance(each, str) else each for each in listed]
    if not all(isinstance(row, Mapping) for row in rows):
        raise UserError(f"machines must be addresses, or objects with an url, got {machines!r:.200}")
    return ListedMachines(tuple(read_settings(row, Listed, said="machines") for row in rows))

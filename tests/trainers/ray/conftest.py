"""A Ray cluster of this machine alone, with two cores, and a look at the processes of its environment hosts."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from claw_envs.sandbox.probe import probe
from trainers.config import Config, load_config
from trainers.ray.environments import Environments

NODE = "127.0.0.2"
"""On loopback; Ray takes 127.0.0.1 for this machine's address in its network."""
Pids = Callable[[Environments], list[int]]


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Its address; every test of a module is a part of one job."""
    ray = pytest.importorskip("ray")
    namespace = probe()[0]
    if not namespace.usable:
        pytest.skip(namespace.detail)
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    started = ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        object_store_memory=100 * 2**20,
        _node_ip_address=NODE,
    )
    yield started.address_info["address"]
    ray.shutdown()


@pytest.fixture
def pids() -> Pids:
    """Process ids of hosts."""
    import ray

    def ask(environments: Environments) -> list[int]:
        asked = [host.__ray_call__.remote(lambda _: os.getpid()) for host in environments.hosts]
        found: list[int] = ray.get(asked, timeout=60)
        return found

    return ask


def settings(**more: Any) -> Config:
    """Two hosts of half a core for eight terminals."""
    chosen = {"cluster.env_actors": 2, "cluster.env_cpus": 0.5, "rollout.parallel": 8, **more}
    return load_config("terminal", None, {key.replace("__", "."): str(value) for key, value in chosen.items()})


def states(pid: int) -> list[Path]:
    """What the sandboxes of a process keep on this machine."""
    from claw_envs.sandbox.namespace.host import state_root

    return list(state_root().glob(f"{pid}-*"))

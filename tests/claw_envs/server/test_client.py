"""Servers that come and go, as those of a cluster do."""

import pytest

from claw_envs.core.errors import InfrastructureError
from claw_envs.server.client import Servers
from claw_envs.server.env import RemoteEnv

from .conftest import Host
from .hosting import KEY


def test_servers_that_change_are_found_again_with_their_key(host: Host) -> None:
    there = [host(key=KEY)]

    async def find() -> Servers:
        return Servers([server.url for server in there], KEY)

    env = RemoteEnv("chat", find, reconnect_timeout=0.2)
    first = env.reset(seed=0)
    there[0].kill()
    assert env.step("## 12")[4]["status"] == "ABORTED"
    with pytest.raises(InfrastructureError, match="does not answer"):
        env.reset(seed=0)
    there.append(host(key=KEY))
    assert env.reset(seed=0) == first
    there.append(host(key=KEY))
    others = [RemoteEnv("chat", find, described=env.described) for _ in range(3)]  # each server is first once
    for other in others:
        other.reset(seed=0)
    assert there[2].metric("leases") == 1
    for each in (env, *others):
        each.close()

"""A server beside the rest of a program, as an actor of a cluster runs it."""

import asyncio

import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.sandbox.namespace import host
from claw_envs.server.client import Servers
from claw_envs.server.env import RemoteEnv
from claw_envs.server.leases import Leases
from claw_envs.server.offer import Offer
from claw_envs.server.serve import BackgroundServer

from .hosting import KEY


def test_it_serves_while_its_program_does_other_things_and_closes_what_is_leased() -> None:
    leases = Leases(most=1, most_running=1, ttl=60.0)
    server = BackgroundServer(Offer(families=["chat"]), leases, host="127.0.0.1", key=KEY)

    async def find() -> Servers:
        return Servers([server.url], KEY)

    env = RemoteEnv("chat", find, reconnect_timeout=0.2)
    env.reset(seed=0)
    assert "error" not in env.step("## 12")[4]
    with pytest.raises(UserError, match="refused the API key"):
        RemoteEnv("chat", server.url)
    server.stop()
    assert len(leases) == 0
    with pytest.raises(InfrastructureError, match="does not answer"):
        env.reset(seed=0)
    server.stop()
    env.close()


def test_an_address_of_another_machine_is_refused() -> None:
    leases = Leases(most=1, most_running=1, ttl=60.0)
    with pytest.raises(UserError, match=r"cannot listen on 192\.0\.2\.99"):
        BackgroundServer(Offer(families=["chat"]), leases, host="192.0.2.99", key=KEY)


def test_what_an_episode_lacks_here_shows_when_an_offer_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    asyncio.run(Offer(families=["chat"]).prove())
    monkeypatch.setattr(host, "TOOLS", {"bwrap-of-nowhere": "bubblewrap"})
    host.tools.cache_clear()
    try:
        with pytest.raises(UserError, match="needs `bwrap-of-nowhere`: install it with `apt-get install bubblewrap`"):
            asyncio.run(Offer(families=["terminal"]).prove())
    finally:
        host.tools.cache_clear()

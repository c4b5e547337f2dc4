"""Containers of our desktop image as OSWorld's machines."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import Task
from claw_envs.gui.desktop.machine import IMAGE
from claw_envs.gui.osworld.machines.docker import NETWORK, DockerMachines
from claw_envs.gui.osworld.screen import OsworldScreen
from claw_envs.gui.screen import Parts
from claw_envs.sandbox.docker.engine import Engine, connect
from claw_envs.sandbox.docker.labels import OWNER, labels

SIZE = (640, 480)
REACH = "timeout 3 bash -c 'exec 3<>/dev/tcp/{}/{} && echo reached'"


@pytest.fixture(scope="module")
def engine() -> Engine:
    try:
        engine = connect()
        engine.explained(engine.api.inspect_image, IMAGE)
    except (UserError, InfrastructureError) as error:
        pytest.skip(str(error))
    return engine


def ours(engine: Engine) -> list[str]:
    found = engine.explained(engine.api.containers, all=True, filters={"label": f"{OWNER}={labels()[OWNER]}"})
    return [each["Names"][0] for each in found if "desktop" in each["Names"][0]]


def on_two(task: Task, body: Callable[[OsworldScreen, OsworldScreen], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        one, other = (OsworldScreen("docker", size=SIZE) for _ in range(2))
        try:
            await asyncio.gather(one.open(task), other.open(task))
            await body(one, other)
        finally:
            await one.close()
            await other.close()

    asyncio.run(main())


def test_each_episode_has_a_machine_of_its_own(engine: Engine, make_task: Callable[..., Task]) -> None:
    task = make_task()

    async def body(one: OsworldScreen, other: OsworldScreen) -> None:
        assert len(ours(engine)) == 2
        view = await one.look(Parts())
        assert view.screenshot is not None
        assert view.screenshot.shape == (SIZE[1], SIZE[0], 3)
        await one.execute("touch ~/left-behind", shell=True)
        for screen in (one, other):
            await screen.open(task)
            listed = await screen.execute("ls ~", shell=True)
            assert "left-behind" not in listed.output

    on_two(task, body)
    assert ours(engine) == []


def test_nothing_is_reached_from_a_machine(engine: Engine, make_task: Callable[..., Task]) -> None:
    async def body(one: OsworldScreen, other: OsworldScreen) -> None:
        assert one.lent is not None
        assert other.lent is not None
        neighbour = other.lent.url.removeprefix("http://").partition(":")[0]
        for host, port in (("1.1.1.1", "443"), ("pypi.org", "443")):
            assert "reached" not in (await one.execute(REACH.format(host, port), shell=True)).output
        asked = f"import urllib.request as r; print(r.urlopen('http://{neighbour}:5000/platform', timeout=3).read())"
        said = await one.execute(["python", "-c", asked])
        assert (said.code, said.output) == (1, "")
        who = await one.execute("id -u; grep -c . /proc/net/dev; cat /proc/self/status | grep CapEff", shell=True)
        assert who.output.startswith("1000\n")
        assert "0000000000000000" in who.output

    on_two(make_task(), body)


def test_a_machine_that_is_killed_is_lost_and_replaced(engine: Engine, make_task: Callable[..., Task]) -> None:
    async def body(one: OsworldScreen, other: OsworldScreen) -> None:
        for name in ours(engine):
            engine.explained(engine.api.kill, name.lstrip("/"))
        with pytest.raises(InfrastructureError):
            await one.look(Parts())
        await one.open(make_task())
        await one.look(Parts())

    on_two(make_task(), body)
    assert ours(engine) == []


def test_the_network_has_no_way_out_and_is_made_once(engine: Engine, make_task: Callable[..., Task]) -> None:
    async def main() -> None:
        machines = DockerMachines(SIZE)
        lent = await asyncio.gather(*(machines.lease(make_task()) for _ in range(2)))
        for each in lent:
            await machines.give_back(each, failed=False)

    asyncio.run(main())
    found = engine.explained(engine.api.networks, names=[NETWORK])
    assert [each["Internal"] for each in found] == [True]

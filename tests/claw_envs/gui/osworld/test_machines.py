"""Who provides machines: a list of them, one episode on each at a time, each brought into its first state."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import Task
from claw_envs.gui.osworld.machines.base import Lent
from claw_envs.gui.osworld.machines.find import provider_of
from claw_envs.gui.osworld.machines.listed import Listed, ListedMachines
from claw_envs.gui.osworld.screen import OsworldScreen
from tests.claw_envs.gui.osworld.serving import SIZE, Crooked, Served, crooked

Make = Callable[..., Task]


class Mine:
    """A provider of a user's."""

    web = True
    url = ""
    back: list[bool] = []

    async def lease(self, task: Task) -> Lent:
        return Lent(self.url)

    async def give_back(self, lent: Lent, *, failed: bool) -> None:
        self.back.append(failed)


@pytest.fixture
def two(served: Served) -> Iterator[tuple[Crooked, Crooked]]:
    """Two machines, as far as anybody can tell."""
    with crooked(served.url) as one, crooked(served.url) as other:
        yield one, other


def test_a_machine_is_lent_to_one_at_a_time(two: tuple[Crooked, Crooked], make_task: Make) -> None:
    async def main() -> None:
        machines = ListedMachines(tuple(Listed(each.url) for each in two))
        first, second = await machines.lease(make_task()), await machines.lease(make_task())
        assert {first.url, second.url} == {each.url for each in two}
        assert first.browser == "http://127.0.0.1:9222"
        third = asyncio.ensure_future(machines.lease(make_task()))
        await asyncio.sleep(0)
        assert not third.done()
        await machines.give_back(second, failed=False)
        assert (await third).url == second.url
        fourth = asyncio.ensure_future(machines.lease(make_task()))
        await asyncio.sleep(0)
        fourth.cancel()
        await machines.give_back(first, failed=False)
        assert (await machines.lease(make_task())).url == first.url

    asyncio.run(main())


def test_who_waits_too_long_for_a_machine_is_told_which(
    served: Served, make_task: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        machines = ListedMachines((Listed(served.url),))
        lent = await machines.lease(make_task())
        monkeypatch.setattr("claw_envs.gui.osworld.machines.listed._LEASE_TIMEOUT", 0.05)
        with pytest.raises(InfrastructureError, match=rf"no OSWorld machine was free .* {served.url}"):
            await machines.lease(make_task())
        monkeypatch.undo()
        await machines.give_back(lent, failed=False)
        assert (await machines.lease(make_task())).url == served.url

    asyncio.run(main())


def test_environments_of_a_process_share_their_machines(two: tuple[Crooked, Crooked]) -> None:
    urls = [each.url for each in two]
    assert provider_of(urls, SIZE) is provider_of(list(urls), (1, 1))
    assert provider_of(urls, SIZE) is not provider_of(urls[:1], SIZE)


def reset_by(script: str, *, url: str) -> ListedMachines:
    return ListedMachines((Listed(url, ("sh", "-c", script, "reset", "{snapshot}", "{host}", "{url}")),))


def test_a_machine_is_reset_before_each_episode(served: Served, make_task: Make, tmp_path: Path) -> None:
    async def main() -> None:
        machines = reset_by(f'echo "$1 $2 $3" >> {tmp_path}/log', url=served.url)
        for _ in range(2):
            lent = await machines.lease(make_task(snapshot="chrome"))
            await machines.give_back(lent, failed=False)

    asyncio.run(main())
    assert (tmp_path / "log").read_text() == f"chrome 127.0.0.1 {served.url}\n" * 2


def test_a_reset_that_fails_is_said(served: Served, make_task: Make) -> None:
    with pytest.raises(InfrastructureError, match=r"sh ended with exit code 3: no such snapshot"):
        asyncio.run(reset_by("echo no such snapshot; exit 3", url=served.url).lease(make_task()))
    absent = ListedMachines((Listed(served.url, ("/no/such/program",)),))
    with pytest.raises(UserError, match="/no/such/program cannot be started"):
        asyncio.run(absent.lease(make_task()))


def test_a_machine_that_takes_time_to_come_up_is_waited_for(two: tuple[Crooked, Crooked], make_task: Make) -> None:
    two[0].once("/platform", "reset", times=6)
    lent = asyncio.run(reset_by("true", url=two[0].url).lease(make_task()))
    assert lent.url == two[0].url
    assert len(two[0].seen) == 7


def test_where_no_machine_answers_it_is_said(make_task: Make) -> None:
    machines = ListedMachines((Listed("http://127.0.0.1:9"), Listed("http://127.0.0.1:19")))
    for _ in range(2):
        with pytest.raises(InfrastructureError, match="connection refused"):
            asyncio.run(machines.lease(make_task()))


def test_a_provider_of_the_users(served: Served, make_task: Make) -> None:
    async def main() -> None:
        screen = OsworldScreen(f"{__name__}:Mine")
        await screen.open(make_task())
        assert await screen.platform() == "Linux"
        await screen.close()
        await screen.close()

    Mine.url, Mine.back = served.url, []
    asyncio.run(main())
    assert Mine.back == [False]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("vms.json", '[{"url": "http://a:1", "reset": ["go", "{snapshot}"]}, "http://b:1"]'),
        ("vms.json", '{"machines": [{"url": "http://a:1", "reset": ["go", "{snapshot}"]}, "http://b:1"]}'),
        ("vms.toml", 'machines = [{url = "http://a:1", reset = ["go", "{snapshot}"]}, "http://b:1"]'),
        (
            "vms.toml",
            '[[machines]]\nurl = "http://a:1"\nreset = ["go", "{snapshot}"]\n[[machines]]\nurl = "http://b:1"',
        ),
    ],
)
def test_machines_are_listed_in_a_file(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    found = provider_of(str(tmp_path / name), SIZE)
    assert isinstance(found, ListedMachines)
    assert list(found._free) == [Listed("http://a:1", ("go", "{snapshot}")), Listed("http://b:1")]


@pytest.mark.parametrize(
    ("text", "said"), [(None, "No such file"), ("[", "cannot be read"), ('{"url": "http://a:1"}', "no list `machines`")]
)
def test_a_file_that_lists_no_machines_is_said(text: str | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / "vms.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UserError, match=said):
        OsworldScreen(str(path))


@pytest.mark.parametrize(
    ("machines", "said"),
    [
        ([], "must be a list"),
        (["http://a:1", "http://a:1"], "each of them once"),
        (["10.0.0.5:5000"], "no address"),
        ([7], "must be addresses"),
        ([{"url": "http://a:1", "rest": 1}], "rest"),
        ("no_such_module:Provider", "no module"),
        ("vmware", "module:name"),
    ],
)
def test_what_is_no_machine_is_said(machines: Any, said: str) -> None:
    with pytest.raises(UserError, match=said):
        OsworldScreen(machines)

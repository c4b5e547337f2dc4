"""What a server offers, asked without a server around it."""

import asyncio
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.server import offer as module
from claw_envs.server import wire
from claw_envs.server.offer import Offer


def test_a_task_set_that_could_not_be_had_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    load = module.load_tasks
    asked: list[str] = []

    def flaky(family: str, source: Any) -> Any:
        asked.append(family)
        if len(asked) == 1:
            raise ConnectionError("the hub is out of reach")
        return load(family, source)

    async def main() -> wire.Description:
        offer = Offer(families=["chat"])
        with pytest.raises(ConnectionError):
            await offer.describe(wire.Wanted(family="chat"))
        return await offer.describe(wire.Wanted(family="chat"))

    monkeypatch.setattr(module, "load_tasks", flaky)
    assert asyncio.run(main()).digest


def test_a_choice_that_nobody_could_make_is_the_operators_mistake() -> None:
    with pytest.raises(UserError, match="--allow persona: no family"):
        Offer(choices=["backend", "persona"])


@pytest.mark.parametrize("source", ["miniwob", "miniwob/click-test", "miniwob/click-test,click-button"])
def test_pages_of_miniwob_may_be_named(source: str) -> None:
    described = asyncio.run(Offer(families=["gui"]).describe(wire.Wanted(family="gui", settings={"tasks": source})))
    assert set(described.fields) == {"role", "text", "url", "axtree", "screenshot"}


@pytest.mark.parametrize("source", ["miniwob/../secrets", "other/click-test", "miniwob/"])
def test_other_paths_may_not(source: str) -> None:
    with pytest.raises(UserError, match="does not offer the tasks"):
        asyncio.run(Offer(families=["gui"]).describe(wire.Wanted(family="gui", settings={"tasks": source})))


@pytest.mark.parametrize("denied", ["record", "executable", "machines", "desktop_env", "sandbox", "backend", "cache"])
def test_what_names_a_place_of_the_servers_is_not_the_clients(denied: str) -> None:
    with pytest.raises(UserError, match=f"set {denied} of gui"):
        asyncio.run(Offer(families=["gui"]).describe(wire.Wanted(family="gui", settings={denied: "x"})))

"""SWE tasks over a wire: none loses its instance, and no client, agent or transcript is told how it is verified."""

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from claw_envs.core.codec import from_bytes, from_json, to_bytes, to_json
from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.server import wire
from claw_envs.server.execute import execute
from claw_envs.server.offer import Offer, public
from claw_envs.swe.instance import instance_of
from claw_envs.swe.loader import load
from tests.claw_envs.swe.formats import test_r2e_gym, test_swe_gym, test_swe_smith
from tests.claw_envs.swe.formats.samples import swe_bench4, swe_bench5
from tests.claw_envs.swe.tiny import make_task

SECRETS = ("a + b", "test_add", "test_sub", "check.py", "r2e_tests")
"""What is in the fix, in the hidden tests and in what verifies, and in no issue text."""
RECIPE = """python = "system"
[repository]
path = "made/repository"
[tests]
command = "python3"
"""


@pytest.fixture
def tasks(tmp_path: Path) -> list[Task]:
    """One of every format of rows."""
    rows = [swe_bench5(), test_swe_gym.row("getmoto/moto"), test_swe_smith.row(), test_r2e_gym.row()]
    file = tmp_path / "all.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return load(str(file))


def test_a_task_comes_out_of_msgpack_and_json_as_it_went_in(tasks: list[Task]) -> None:
    for task in tasks:
        for back in (from_bytes(to_bytes(task), Task), from_json(to_json(task), Task)):
            assert instance_of(back) == instance_of(task)
            assert instance_of(back).row() == instance_of(task).row()
            assert back.sandbox == task.sandbox
            setups = [tuple(one.verifier.options.get("setup", ())) for one in (back, task)]
            assert setups[0] == setups[1]


def test_a_client_is_not_told_how_a_task_is_verified(tasks: list[Task]) -> None:
    whole = "".join(to_json(task).decode() for task in tasks)
    assert all(secret in whole for secret in SECRETS)
    for task in tasks:
        told = to_json(public(task)).decode()
        assert task.id in told
        assert not [secret for secret in SECRETS if secret in told]


@pytest.fixture
def source(tmp_path: Path) -> str:
    """A row of SWE-bench 4 beside a recipe with its repository."""
    instance = instance_of(make_task(tmp_path / "made"))
    (tmp_path / "recipe.toml").write_text(RECIPE)
    (tmp_path / "rows.jsonl").write_text(json.dumps(swe_bench4(base_commit=instance.base_commit)))
    return str(tmp_path / "rows.jsonl")


@pytest.mark.usefixtures("_usable")
def test_an_episode_on_a_server_tells_nothing_before_its_end(source: str, tmp_path: Path) -> None:
    told, last = asyncio.run(_episode(source))
    assert b"add subtracts" in told
    assert not [secret for secret in ("a + b", "test_add", str(tmp_path)) if secret.encode() in told]
    assert (last.reward, last.terminated) == (1.0, True)
    assert last.info["report"]["fail_to_pass"] == {"success": ["check.py::test_add"], "failure": []}


async def _episode(source: str) -> tuple[bytes, wire.Result]:
    """All that a client is sent before an episode's last reply, and that reply."""
    offer = Offer(families=["swe"], fixed={"tasks": source})
    wanted = wire.Wanted(family="swe")
    described = await offer.describe(wanted)
    env = await offer.make(msgspec.structs.replace(wanted, digest=described.digest))
    try:
        async with asyncio.timeout(300):
            calls: list[Any] = [
                wire.Reset(key=1, seed=0),
                _act("ls -A; git log; cat calc.py"),
                _act("sed -i '2s/-/+/' calc.py"),
            ]
            told = wire.encode(described) + b"".join([(await execute(env, call)).reply for call in calls])
            last = wire.read_reply((await execute(env, _act("submit"))).reply)
    finally:
        await env.aclose()
        await offer.close()
    assert isinstance(last, wire.Result), last
    return told, last


def _act(command: str) -> wire.Act:
    return wire.Act(key=1, action=f"```bash\n{command}\n```")


def test_clients_may_name_sets_and_parts_but_no_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    offer = Offer(families=["swe"])
    for name in ("verified", "verified[:50]", "swe-smith[100:200]"):
        offer._check_source(name)
    for path in (
        "here",
        "here[:50]",
        "verified:here",
        "verified:here[:1]",
        "verified:~/rows[:1]",
        "./here[:]",
        "a[:1].b",
    ):
        with pytest.raises(UserError, match="does not offer the tasks"):
            offer._check_source(path)

"""OSWorld's machines misbehave: a false answer is asked for again, a lost machine costs its episode and is counted."""

import asyncio
import functools
import json
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import claw_envs  # noqa: F401 - registers the environments
from claw_envs.core.env import ClawEnv
from claw_envs.core.episode import Status
from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import Task
from claw_envs.gui import acts
from claw_envs.gui.osworld.client import OsworldClient
from claw_envs.gui.osworld.format import read
from claw_envs.gui.osworld.screen import OsworldScreen
from claw_envs.gui.screen import Parts
from evals.benchmark import Benchmark
from evals.gui.scoring import score
from evals.results import ResultFile
from evals.runner import run_benchmark
from evals.summary import Summary
from tests.claw_envs.gui.osworld.serving import SIZE, Crooked, Fault, Served, crooked, serving
from tests.faults.play import GREEDY
from tests.faults.script import Script
from trainers.policies.base import Completion, Prompt, Sampling

LOOK = Parts()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("served")) as server:
        yield server


@pytest.fixture
def proxy(served: Served) -> Iterator[Crooked]:
    with crooked(served.url) as made:
        yield made


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return _task(tmp_path, "one")


def _task(folder: Path, name: str) -> Task:
    row = {
        "id": name,
        "instruction": "Make the file done.",
        "config": [{"type": "execute", "parameters": {"command": "rm -f ~/done", "shell": True}}],
        "evaluator": {
            "func": "exact_match",
            "result": {"type": "vm_command_line", "command": "echo -n yes", "shell": True},
            "expected": {"type": "rule", "rules": {"expected": "yes"}},
        },
    }
    path = folder / f"{name}.json"
    path.write_text(json.dumps(row))
    return read(path)


def on(proxy: Crooked, task: Task, body: Callable[[OsworldScreen], Coroutine[Any, Any, Any]]) -> Any:
    """What `await body(screen)` gives, with a screen that is open."""

    async def main() -> Any:
        screen = OsworldScreen([proxy.url])
        await screen.open(task)
        try:
            return await body(screen)
        finally:
            await screen.close()

    return asyncio.run(main())


@pytest.mark.parametrize("fault", ["reset", "half", "nonsense", "500", "slow"])
@pytest.mark.parametrize("path", ["/screenshot", "/accessibility", "/execute"])
def test_a_look_that_fails_once_is_repeated(fault: Fault, path: str, proxy: Crooked, task: Task) -> None:
    async def body(screen: OsworldScreen) -> None:
        proxy.once(path, fault)
        view = await screen.look(LOOK)
        assert view.screenshot is not None
        assert view.elements is not None
        assert not screen._client.failed

    on(proxy, task, body)


@pytest.mark.parametrize("fault", ["reset", "half", "nonsense"])
def test_a_look_that_always_fails_loses_the_machine(fault: Fault, proxy: Crooked, task: Task) -> None:
    async def body(screen: OsworldScreen) -> None:
        proxy.fault = lambda path: fault if path == "/screenshot" else None
        with pytest.raises(InfrastructureError, match=proxy.url):
            await screen.look(LOOK)
        assert screen._client.failed

    on(proxy, task, body)


@pytest.mark.parametrize("fault", ["reset", "half", "nonsense"])
def test_a_pointer_that_is_nowhere_is_asked_for_again_and_loses_the_machine(
    fault: Fault, proxy: Crooked, task: Task
) -> None:
    async def body(screen: OsworldScreen) -> None:
        proxy.once("/cursor_position", fault)
        assert len(await screen.cursor_position()) == 2
        assert not screen._client.failed
        proxy.fault = lambda path: fault
        with pytest.raises(InfrastructureError, match=proxy.url):
            await screen.cursor_position()
        assert screen._client.failed

    on(proxy, task, body)


@pytest.mark.parametrize("answer", [b"null", b"7", b"[1]", b"[1, 2, 3]", b'["a", 2]', b"[Infinity, 2]", b"{}"])
def test_what_is_no_point_is_a_fault_of_the_machines(answer: bytes) -> None:
    with pytest.raises(InfrastructureError, match="where a point should be"):
        OsworldClient("http://a:1").read_point(answer)


def test_an_act_that_is_cancelled_may_go_on_over_there(proxy: Crooked, task: Task) -> None:
    async def body(screen: OsworldScreen) -> None:
        proxy.fault = lambda path: "silent"
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await screen.do(acts.Type("x"), timeout=10)
        assert screen._client.failed

    on(proxy, task, body)


def test_an_act_is_never_sent_twice(proxy: Crooked, task: Task) -> None:
    async def body(screen: OsworldScreen) -> None:
        proxy.seen.clear()
        proxy.once("/execute", "reset")
        with pytest.raises(InfrastructureError):
            await screen.do(acts.Type("x"), timeout=10)
        assert screen._client.failed
        assert proxy.seen == ["/execute"]

    on(proxy, task, body)


def test_a_machine_that_was_started_anew_is_lost(proxy: Crooked, task: Task) -> None:
    async def body(screen: OsworldScreen) -> None:
        await screen.look(LOOK)
        proxy.fault = lambda path: "reboot"
        with pytest.raises(InfrastructureError, match="started anew"):
            await screen.do(acts.Move(1, 1), timeout=10)

    on(proxy, task, body)


def test_a_machine_without_our_server_that_was_booted_is_lost(proxy: Crooked, task: Task) -> None:
    async def body(screen: OsworldScreen) -> None:
        screen._boot = "another"
        with pytest.raises(InfrastructureError, match="booted in mid-episode"):
            await screen.look(LOOK)

    on(proxy, task, body)


def test_a_machine_that_does_not_answer_is_lost_in_time(proxy: Crooked, task: Task) -> None:
    async def body(screen: OsworldScreen) -> None:
        proxy.fault = lambda path: "silent"
        with pytest.raises(InfrastructureError, match=r"no answer within 0\.2 s"):
            await screen._client.get("/platform", bytes, timeout=0.2)

    on(proxy, task, body)


def test_an_answer_without_end_is_not_read_to_it(proxy: Crooked, task: Task) -> None:
    async def body(screen: OsworldScreen) -> None:
        with pytest.raises(InfrastructureError, match="over 3 bytes"):
            await screen._client._send("GET", "/platform", timeout=10, most=3)

    on(proxy, task, body)


def test_a_machine_that_failed_is_set_aside_and_probed(served: Served, task: Task) -> None:
    async def main(one: Crooked, other: Crooked) -> None:
        listed = [one.url, other.url]
        screen = OsworldScreen(listed)
        await screen.open(task)
        assert screen.lent is not None
        assert screen.lent.url == one.url
        one.fault = lambda path: "reset"
        with pytest.raises(InfrastructureError):
            await screen.look(LOOK)
        await screen.close()
        second, third = OsworldScreen(listed), OsworldScreen(listed)
        await second.open(task)
        await asyncio.gather(third.open(task), second.close())  # the one that was set aside does not answer yet
        assert (second.lent, third.lent and third.lent.url) == (None, other.url)
        one.fault = lambda path: None
        await second.open(task)
        assert second.lent is not None
        assert second.lent.url == one.url
        await second.close()
        await third.close()

    with crooked(served.url) as one, crooked(served.url) as other:
        asyncio.run(main(one, other))


def open_env(tasks: list[Task], *urls: str) -> ClawEnv:
    env = gym.make("claw/gui-v0", tasks=tasks, machines=list(urls), size=SIZE).unwrapped
    assert isinstance(env, ClawEnv)
    return env


class _Says(Script):
    """Says that it is done, at once."""

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Completion:
        return Completion([1], [2], [-1.0], [0], "stop", "DONE")


class _Played(Benchmark):
    def make_env(self) -> ClawEnv:
        return open_env(list(self.tasks), *self.settings["urls"])


def play(tasks: list[Task], out: Path, *urls: str) -> tuple[Summary, ResultFile]:
    """A benchmark over `tasks`, two episodes at a time, with two retries."""
    figure = functools.partial(score, figure="success")
    settings = {"urls": list(urls)}
    played = _Played(name="gui", family="gui", tasks=tasks, score=figure, sampling=GREEDY, settings=settings)
    summary = asyncio.run(run_benchmark(played, _Says(), out=out, parallel=2, samples=1, seed=0))
    return summary, ResultFile(out / "episodes.jsonl")


def test_an_episode_that_was_lost_is_played_again_and_counted(served: Served, tmp_path: Path) -> None:
    tasks = [_task(tmp_path, f"task{number}") for number in range(4)]
    with crooked(served.url) as one, crooked(served.url) as other:
        one.once("/screenshot", "reset", times=3)
        summary, results = play(tasks, tmp_path / "out", one.url, other.url)
    assert (summary.n, summary.score, summary.statuses) == (4, 1.0, {"COMPLETED": 4})
    assert sorted(each.attempts for each in results.results.values()) == [1, 1, 1, 2]


def test_what_no_machine_answers_for_is_counted(served: Served, tmp_path: Path) -> None:
    with crooked(served.url) as one:
        one.fault = lambda path: "reset"
        summary, _ = play([_task(tmp_path, "task")], tmp_path / "out", one.url)
    assert summary.statuses == {"ABORTED": 1}


@pytest.mark.parametrize("fault", ["reset", "nonsense", "reboot"])
def test_an_episode_on_a_machine_that_is_lost_is_aborted(fault: Fault, proxy: Crooked, task: Task) -> None:
    async def main() -> None:
        env = open_env([task], proxy.url)
        await env.areset(seed=0)
        proxy.fault = lambda path: fault
        _, reward, terminated, truncated, info = await env.astep("```python\npyautogui.click(5, 5)\n```")
        assert (reward, terminated, truncated, info["status"]) == (0.0, False, True, Status.ABORTED)
        assert proxy.url in info["error"]
        proxy.fault = lambda path: None
        await env.areset(seed=0)
        *_, info = await env.astep("DONE")
        assert (info["status"], info["outcome"]) == (Status.COMPLETED, 1.0)
        await env.aclose()

    asyncio.run(main())

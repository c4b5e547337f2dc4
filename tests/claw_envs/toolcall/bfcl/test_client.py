"""The worker over its pipes: what happens to it, and what it never evaluates."""

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import InfrastructureError
from claw_envs.sandbox.process.child import children
from claw_envs.toolcall.bfcl.client import Unanswered, Worker

pytestmark = pytest.mark.usefixtures("checker")

FILES = {"category": "multi_turn_base", "id": "multi_turn_base_0"}
NUMBERS = {"category": "multi_turn_base", "id": "multi_turn_base_31"}
ENDLESS = {"name": "power", "arguments": {"base": 7, "exponent": 10**9}}


def workers() -> list[int]:
    """The workers of this process, which may have children of other tests."""
    found = []
    for pid in children(os.getpid()):
        with contextlib.suppress(OSError):  # it has gone meanwhile
            if b"bfcl/worker" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
    return found


def with_worker(use: Callable[[Worker], Awaitable[None]]) -> None:
    """Run `use` with a worker that is closed afterwards, and leaves no process behind."""

    async def run() -> None:
        worker = Worker()
        try:
            await use(worker)
        finally:
            await worker.close()
        assert not workers()

    asyncio.run(run())


async def call(worker: Worker, name: str, **arguments: Any) -> Any:
    """Call a function; what it gave, read where it is JSON."""
    text = await worker.ask("call", name=name, arguments=arguments)
    try:
        return json.loads(text)
    except ValueError:
        return text


def test_several_requests_wait_for_each_other() -> None:
    async def use(worker: Worker) -> None:
        right = {"name": "calculate_triangle_area", "arguments": {"base": 10, "height": 5}}
        asked = {"category": "simple_python", "id": "simple_python_0"}
        wrong = [right | {"name": "other"}]
        verdicts = await asyncio.gather(
            *(worker.ask("check", calls=calls, **asked) for calls in ([right], wrong, [right], None))
        )
        assert [verdict["valid"] for verdict in verdicts] == [True, False, True, False]

    with_worker(use)


def test_episodes_know_nothing_of_each_other() -> None:
    async def use(worker: Worker) -> None:
        for _ in range(2):
            await worker.ask("begin", **FILES)
            assert await call(worker, "mkdir", dir_name="new") == "None"
            assert "new" in (await call(worker, "ls"))["current_directory_content"]
            await worker.ask("end")
        await worker.ask("begin", **FILES)
        assert "new" not in (await call(worker, "ls"))["current_directory_content"]

    with_worker(use)


def test_the_precision_that_an_episode_set_is_gone_with_it() -> None:
    async def use(worker: Worker) -> None:
        async def root() -> Any:
            await worker.ask("begin", **NUMBERS)
            return await call(worker, "logarithm", value=2, base=10, precision=5)

        first = await root()
        await call(worker, "logarithm", value=2, base=10, precision=40)
        await worker.ask("end")
        assert await root() == first

    with_worker(use)


def test_a_worker_that_does_not_answer_is_killed_and_replaced() -> None:
    async def use(worker: Worker) -> None:
        await worker.ask("begin", **NUMBERS)
        with pytest.raises(Unanswered, match=r"within 0\.2 s"):
            await worker.ask("call", timeout=0.2, **ENDLESS)
        assert not workers()
        await worker.ask("begin", **NUMBERS)
        assert await call(worker, "add", a=1, b=2) == {"result": 3}

    with_worker(use)


def test_a_worker_that_dies_costs_its_episode_and_no_other() -> None:
    async def use(worker: Worker) -> None:
        await worker.ask("begin", **NUMBERS)
        (parent,) = workers()
        (episode,) = children(parent)
        os.kill(episode, signal.SIGKILL)
        with pytest.raises(InfrastructureError, match="without an answer"):
            await call(worker, "add", a=1, b=2)
        with pytest.raises(InfrastructureError, match="'call'"):
            await call(worker, "add", a=1, b=2)
        await worker.ask("begin", **NUMBERS)
        assert await call(worker, "add", a=1, b=2) == {"result": 3}

    with_worker(use)


def test_a_request_that_is_given_up_leaves_no_answer_to_the_next() -> None:
    async def use(worker: Worker) -> None:
        await worker.ask("begin", **NUMBERS)
        asked = asyncio.ensure_future(worker.ask("call", name="add", arguments={"a": 1, "b": 2}))
        await asyncio.sleep(0)
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
        await worker.ask("begin", **NUMBERS)
        assert await call(worker, "add", a=3, b=4) == {"result": 7}

    with_worker(use)


def test_a_call_that_wants_too_much_memory_fails_as_a_call() -> None:
    async def use(worker: Worker) -> None:
        await worker.ask("begin", **NUMBERS)
        assert "Error during execution" in await call(worker, "power", base=2, exponent=10**11)
        assert await call(worker, "add", a=1, b=2) == {"result": 3}

    with_worker(use)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("cd", {"folder='x') or open('{0}', 'w'": "y"}),
        ("cd(folder='x') or open('{0}', 'w').close", {}),
        ("open", {"file": "{0}", "mode": "w"}),
        ("cd.__func__.__globals__['open']", {"file": "{0}", "mode": "w"}),
        ("_load_scenario", {"scenario": {}}),
        ("", {}),
    ],
    ids=["parameter", "expression", "builtin", "attribute", "private", "nothing"],
)
def test_nothing_but_a_method_with_parameters_is_evaluated(
    name: str, arguments: dict[str, Any], tmp_path: Path
) -> None:
    victim = str(tmp_path / "victim")

    def aimed(text: Any) -> Any:
        return text.replace("{0}", victim) if isinstance(text, str) else text

    wanted = {"name": aimed(name), "arguments": {aimed(key): aimed(value) for key, value in arguments.items()}}

    async def use(worker: Worker) -> None:
        await worker.ask("begin", **FILES)
        assert "Error during execution" in await worker.ask("call", **wanted)
        await worker.ask("end")
        verdict = await worker.ask("check", turns=[[[wanted]], [], [], []], **FILES)
        assert not verdict["valid"]

    with_worker(use)
    assert not any(tmp_path.iterdir())


def test_a_text_that_looks_like_a_call_is_kept_as_it_is() -> None:
    text = "cd(folder='x') \\(pwd () \"ls()\" 🙂 mean (1)"

    async def use(worker: Worker) -> None:
        await worker.ask("begin", **FILES)
        await call(worker, "touch", file_name="note.txt")
        await call(worker, "echo", content=text, file_name="note.txt")
        assert (await call(worker, "cat", file_name="note.txt"))["file_content"] == text

    with_worker(use)


def test_an_answer_that_takes_too_long_to_check_is_wrong() -> None:
    async def use(worker: Worker) -> None:
        turns = [[[ENDLESS]], []]
        verdict = await worker.ask("check", turns=turns, cpu=1, **NUMBERS)
        assert (verdict["valid"], verdict["error_type"]) == (False, "checker_ran_over")
        assert not (await worker.ask("check", turns=[[], []], **NUMBERS))["valid"]

    with_worker(use)


def test_an_answer_that_the_checker_stumbles_over_is_wrong() -> None:
    async def use(worker: Worker) -> None:
        task = {"category": "simple_java", "id": "simple_java_25"}
        described = (await worker.ask("answers", category="simple_java"))[task["id"]]
        ((name, allowed),) = described["answer"][0].items()
        arguments = {key: values[0] for key, values in allowed.items()} | {"id": "1" * 5000 + "L"}
        verdict = await worker.ask("check", calls=[{"name": name.replace(".", "_"), "arguments": arguments}], **task)
        assert (verdict["valid"], verdict["error_type"]) == (False, "checker_raised")

    with_worker(use)


def test_a_task_that_does_not_exist_is_no_wrong_answer() -> None:
    async def use(worker: Worker) -> None:
        with pytest.raises(InfrastructureError, match="StopIteration"):
            await worker.ask("check", category="simple_python", id="simple_python_400", calls=[ENDLESS])

    with_worker(use)

"""Tasks of OSWorld's format from set-up to score, on a live server."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.env import Outcome
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import Task
from claw_envs.gui import acts
from claw_envs.gui.osworld.scenario import OsworldScenario
from claw_envs.gui.osworld.screen import OsworldScreen
from claw_envs.gui.scenario import Said
from tests.claw_envs.gui.osworld.serving import NO_EDITOR, Served

Make = Callable[..., Task]


async def _nothing(screen: OsworldScreen) -> None:
    """An agent that does nothing."""


def play(
    served: Served,
    task: Task,
    agent: Callable[[OsworldScreen], Awaitable[None]] = _nothing,
    ending: acts.Ending | None = acts.Done(),  # noqa: B008 - it is frozen
    **options: Any,
) -> Outcome:
    """Set `task` up, let `agent` act, and score."""

    async def main() -> Outcome:
        screen = OsworldScreen([served.url])
        scenario = OsworldScenario(screen, **options)
        try:
            assert await scenario.prepare(task, seed=0) == task.instruction
            assert not await scenario.ended()
            await agent(screen)
            return await scenario.verify(Said(ending))
        finally:
            await scenario.close()

    return asyncio.run(main())


def evaluator(func: Any, result: Any = None, rules: Any = None, **more: Any) -> dict[str, Any]:
    expected = {} if rules is None else {"expected": {"type": "rule", "rules": rules}}
    return {"func": func, **({} if result is None else {"result": result}), **expected, **more}


def prints(command: str) -> dict[str, Any]:
    return {"type": "vm_command_line", "command": command, "shell": True}


def test_an_editors_task(served: Served, make_task: Make) -> None:
    task = make_task(
        config=[
            {"type": "execute", "parameters": {"command": f"{NO_EDITOR}; echo one > ~/a.txt", "shell": True}},
            {"type": "launch", "parameters": {"command": "mousepad ~/a.txt"}},
            {"type": "activate_window", "parameters": {"window_name": "a.txt"}},
        ],
        evaluator=evaluator(
            "file_contains",
            {"type": "vm_file", "path": "~/a.txt", "dest": "a.txt"},
            {"expected": ["one", "two"]},
            postconfig=[
                {
                    "type": "execute",
                    "parameters": {"command": ["python", "-c", "import pyautogui; pyautogui.hotkey('ctrl', 's')"]},
                }
            ],
        ),
    )

    async def agent(screen: OsworldScreen) -> None:
        assert await screen.do(acts.Hotkey(("ctrl", "end")), timeout=10) is None
        assert await screen.do(acts.Type("two"), timeout=10) is None

    assert play(served, task, agent) == Outcome(1.0, {"success": True, "score": 1.0})
    assert play(served, task) == Outcome(-1.0, {"success": False, "score": 0.0})
    assert play(served, task, agent, ending=None).score == 1.0
    assert play(served, task, agent, ending=acts.Fail()).score == -1.0


@pytest.mark.parametrize(
    ("ending", "score"),
    [(acts.Fail("no such menu"), 1.0), (acts.Done(), -1.0), (acts.Answer("no"), -1.0), (None, -1.0)],
)
def test_what_cannot_be_done_is_solved_by_saying_so_only(
    ending: acts.Ending | None, score: float, served: Served, make_task: Make
) -> None:
    assert play(served, make_task(), ending=ending).score == score


def test_steps(served: Served, make_task: Make, tmp_path: Path) -> None:
    (tmp_path / "local.txt").write_text("brought along")
    (tmp_path / "cache" / "one").mkdir(parents=True)
    (tmp_path / "cache" / "one" / "far.txt").write_text("from afar")
    task = make_task(
        config=[
            {"type": "upload_file", "parameters": {"files": [{"local_path": "local.txt", "path": "~/s/local.txt"}]}},
            {"type": "download", "parameters": {"files": [{"url": "http://x.example/y", "path": "~/s/far.txt"}]}},
            {
                "type": "command",
                "parameters": {"command": ["sh", "-c", "echo kept; echo more >&2"], "stdout": "out", "stderr": "err"},
            },
            {
                "type": "execute",
                "parameters": {
                    "command": "echo {SCREEN_WIDTH}x{SCREEN_HEIGHT_HALF} {CLIENT_PASSWORD} > ~/s/size",
                    "shell": "true",
                },
            },
            {
                "type": "execute",
                "parameters": {"command": "echo x >> ~/s/n; wc -l < ~/s/n", "shell": True, "until": {"stdout": "3"}},
            },
            {"type": "sleep", "parameters": {"seconds": 0.01}},
            {"type": "open", "parameters": {"path": "~/s/far.txt"}},
            {"type": "close_window", "parameters": {"window_name": "far.txt"}},
        ],
        evaluator=evaluator(
            ["exact_match", "check_list", "check_list", "is_in_list", "check_moved_jpgs"],
            [
                prints("cat ~/s/*.txt ~/s/size; rm ~/s/n"),
                {"type": "cache_file", "path": "out"},
                {"type": "cache_file", "path": "err"},
                {"type": "vm_command_error", "command": "echo oops >&2", "shell": True},
                {"type": "list_directory", "path": "/tmp/home/s"},
            ],
            [None],
        ),
    )
    checks = task.verifier.options["checks"]
    for check, rules in zip(
        checks,
        [
            {"expected": "from afarbrought along800x300 secret\n"},
            {"expect": ["^kept$"]},
            {"expect": ["more"], "unexpect": ["kept"]},
            {"expected": "oops"},
            {"expected": ["far.txt", "local.txt", "size"]},
        ],
        strict=True,
    ):
        check["expected"] = {"type": "rule", "rules": rules}
    found = play(served, task, cache=tmp_path / "cache", password="secret")
    assert found.report["scores"] == [1.0] * 5
    assert found.score == 1.0


@pytest.mark.parametrize(
    ("conj", "printed", "score"),
    [
        ("and", ["a", "b"], 1.0),
        ("and", ["x", "b"], 0.0),
        ("or", ["x", "b"], 1.0),
        ("or", ["x", "y"], 0.0),
        ("and", ["a", "abc"], 0.75),
        ("or", ["x", "abc"], 0.5),
    ],
)
def test_several_metrics(conj: str, printed: list[str], score: float, served: Served, make_task: Make) -> None:
    task = make_task(
        evaluator={
            "func": ["exact_match", "fuzzy_match"],
            "conj": conj,
            "result": [prints(f"printf {each}") for each in printed],
            "expected": [{"type": "rule", "rules": {"expected": each}} for each in ("a", "b")],
        }
    )
    assert play(served, task).report["score"] == score


def test_a_file_that_is_missing_is_the_agents_doing(served: Served, make_task: Make) -> None:
    got = {"type": "vm_file", "path": "/no/such/file", "dest": "f"}
    assert play(served, make_task(evaluator=evaluator("file_contains", got, {"expected": ["x"]}))).score == -1.0


def test_a_step_after_which_the_first_state_is_not_reached_is_no_episode(served: Served, make_task: Make) -> None:
    task = make_task(config=[{"type": "launch", "parameters": {"command": ["no-such-program"]}}])
    with pytest.raises(InfrastructureError, match=r"step 1 of its set-up, launch.*no-such-program"):
        play(served, task)


def test_a_step_before_the_evaluation_may_fail(served: Served, make_task: Make) -> None:
    steps = [{"type": "launch", "parameters": {"command": ["no-such-program"]}}]
    task = make_task(evaluator=evaluator("exact_match", prints("echo -n a"), {"expected": "a"}, postconfig=steps))
    assert play(served, task).score == 1.0


def test_an_evaluator_that_fails_is_no_verdict(served: Served, make_task: Make) -> None:
    task = make_task(evaluator=evaluator("exact_match", prints("echo a"), {"unexpected": "a"}))
    with pytest.raises(InfrastructureError, match="exact_match fails"):
        play(served, task)


def test_what_is_missing_is_said_before_the_episode(served: Served, make_task: Make) -> None:
    task = make_task(
        config=[{"type": "download", "parameters": {"files": [{"url": "http://x.example/y", "path": "~/y"}]}}],
        evaluator=evaluator("compare_table", {"type": "vm_file", "path": "~/y", "dest": "y"}),
    )
    with pytest.raises(UserError, match=r"downloads http://x.example/y.*compare_table"):
        play(served, task)


@pytest.mark.parametrize(
    ("step", "parameters", "said"),
    [
        ("launch", {"command": "mousepad 'a"}, "No closing quotation: mousepad 'a"),
        ("execute", {"command": "echo 'a"}, "No closing quotation: echo 'a"),
        ("sleep", {"seconds": "long"}, "'long'"),
        ("upload_file", {"files": [{"local_path": "absent.txt", "path": "~/x"}]}, r"absent\.txt: no such file"),
        ("upload_file", {"files": [{"local_path": "/etc/hostname", "path": "~/x"}]}, "neither in the task's folder"),
        ("upload_file", {"files": [{"local_path": "a/../../x", "path": "~/x"}]}, "neither in the task's folder"),
        ("upload_file", {"files": [{"local_path": "out", "path": "~/x"}]}, "neither in the task's folder"),
    ],
)
def test_a_mistake_in_a_step_is_the_users(
    step: str, parameters: dict[str, Any], said: str, served: Served, make_task: Make, tmp_path: Path
) -> None:
    (tmp_path / "out").symlink_to("/etc/hostname")
    task = make_task(config=[{"type": step, "parameters": parameters}])
    with pytest.raises(UserError, match=f"task one: step 1 of its set-up, {step}: .*{said}"):
        play(served, task)


def test_a_mistake_before_the_evaluation_is_said_to_be_there(served: Served, make_task: Make) -> None:
    steps = [{"type": "launch", "parameters": {"command": "'"}}]
    task = make_task(evaluator=evaluator("exact_match", prints("echo -n a"), {"expected": "a"}, postconfig=steps))
    with pytest.raises(UserError, match="step 1 of what comes before its evaluation, launch: No closing quotation"):
        play(served, task)


def test_a_file_of_the_cache_folder_is_brought_along(served: Served, make_task: Make, tmp_path: Path) -> None:
    cache = tmp_path.with_name(f"{tmp_path.name}-cache")
    cache.mkdir()
    (cache / "far.txt").write_text("from afar")
    files = [{"local_path": str(cache / "far.txt"), "path": "~/far.txt"}]
    task = make_task(
        config=[{"type": "upload_file", "parameters": {"files": files}}],
        evaluator=evaluator("exact_match", prints("cat ~/far.txt"), {"expected": "from afar"}),
    )
    assert play(served, task, cache=cache).score == 1.0
    with pytest.raises(UserError, match="nor in the cache folder"):
        play(served, task)


def test_arguments_that_a_step_does_not_take_are_said(served: Served, make_task: Make) -> None:
    task = make_task(config=[{"type": "sleep", "parameters": {"minutes": 1}}])
    with pytest.raises(UserError, match="'sleep': missing a required argument"):
        play(served, task)

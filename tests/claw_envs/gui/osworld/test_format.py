"""OSWorld's task JSON, and what of it cannot run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.gui.env import GuiEnv
from claw_envs.gui.osworld.cache import FileCache
from claw_envs.gui.osworld.format import plan_of, read
from claw_envs.gui.osworld.loader import load, recognises, runnable, survey
from claw_envs.gui.osworld.needs import Given, missing

Make = Callable[..., Task]
RULE = {"type": "rule", "rules": {"expected": "x"}}
PRINTS = {"type": "vm_command_line", "command": "echo x"}
URL = "https://hub.example/datasets/a/b/resolve/main/os/one/in%20put.txt"
DOWNLOAD = {"type": "download", "parameters": {"files": [{"url": URL, "path": "/home/user/input.txt"}]}}


def write(path: Path, **fields: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    row = {"id": path.stem, "instruction": "Do it.", "evaluator": {"func": "infeasible"}} | fields
    path.write_text(json.dumps(row))
    return path


def test_one_metric(make_task: Make) -> None:
    task = make_task(
        snapshot="os",
        related_apps=["os"],
        evaluator={"func": "exact_match", "result": PRINTS, "expected": RULE, "options": {"a": 1}},
    )
    plan = plan_of(task)
    (check,) = plan.checks
    assert (check.metric, check.result, check.expected, check.options) == ("exact_match", PRINTS, RULE, {"a": 1})
    assert (plan.snapshot, plan.feasible, plan.conj) == ("os", True, "and")
    assert (task.verifier.kind, task.metadata["domain"], task.metadata["feasible"]) == ("osworld", "os", True)


def test_several_metrics_of_which_some_need_nothing(make_task: Make) -> None:
    given = {
        "func": ["a", "b"],
        "conj": "or",
        "result": [PRINTS, PRINTS],
        "expected": [RULE, None],
        "options": [{}, None],
    }
    checks = plan_of(make_task(evaluator=given)).checks
    assert [(check.metric, check.expected, check.options) for check in checks] == [("a", RULE, {}), ("b", None, {})]
    without = plan_of(make_task(evaluator={"func": ["a", "b"], "result": [PRINTS, PRINTS], "expected": {}})).checks
    assert [check.expected for check in without] == [None, None]


@pytest.mark.parametrize("func", ["infeasible", ["infeasible"]])
def test_what_cannot_be_done(func: Any, make_task: Make) -> None:
    task = make_task(evaluator={"func": func, "result": {}})
    assert (plan_of(task).checks, plan_of(task).feasible, task.metadata["feasible"]) == ([], False, False)


@pytest.mark.parametrize(
    "evaluator",
    [
        {},
        {"func": ["a", "b"], "result": [PRINTS]},
        {"func": "a", "result": {"path": "x"}},
        {"func": []},
        {"func": "a", "conj": "xor"},
        {"func": "a", "postconfig": [{"parameters": {}}]},
    ],
)
def test_a_task_that_is_wrong_is_named(evaluator: dict[str, Any], tmp_path: Path) -> None:
    path = write(tmp_path / "bad.json", evaluator=evaluator)
    with pytest.raises(UserError, match=r"bad\.json"):
        read(path)


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """A folder as OSWorld's `evaluation_examples`."""
    root = tmp_path / "evaluation_examples"
    write(root / "examples/os/a.json")
    write(root / "examples/os/b.json", related_apps=["os"])
    write(root / "examples/multi_apps/c.json", related_apps=["os", "vlc"])
    (root / "test_all.json").write_text(json.dumps({"os": ["a", "b"], "multi_apps": ["c"]}))
    (root / "test_small.json").write_text(json.dumps({"os": ["b"]}))
    return root


def test_where_tasks_lie(examples: Path) -> None:
    sources = {
        str(examples): ["a", "b", "c"],
        str(examples / "test_small.json"): ["b"],
        str(examples / "examples/os/a.json"): ["a"],
        str(examples / "examples/os"): ["a", "b"],
    }
    for source, ids in sources.items():
        assert recognises(source)
        assert [task.id for task in load(source)] == ids
    assert {task.id: task.metadata["domain"] for task in load(str(examples))} == {
        "a": "os",
        "b": "os",
        "c": "multi_apps",
    }
    (examples / "test_all.json").unlink()
    assert sorted(task.id for task in load(str(examples))) == ["a", "b", "c"]
    assert not recognises(str(examples / "no-such"))
    assert not recognises("webapps")


def test_one_bad_task_does_not_hide_the_rest(examples: Path) -> None:
    (examples / "examples/os/a.json").write_text("{")
    (examples / "examples/multi_apps/c.json").unlink()
    found = survey(str(examples))
    assert [task.id for task in found.tasks] == ["b"]
    assert [fault.name for fault in found.faults] == ["a", "c"]
    with pytest.warns(UserWarning, match="2 of 3 tasks"):
        load(str(examples))


def test_a_source_that_is_none_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        load(str(tmp_path / "none"))
    with pytest.raises(UserError, match="no task there"):
        load(str(tmp_path))


def needs(make_task: Make, given: Given = Given(), **fields: Any) -> list[str]:  # noqa: B008 - it is frozen
    return missing(make_task(**fields), given)


def test_what_a_task_needs(make_task: Make, tmp_path: Path) -> None:
    opens = {"type": "chrome_open_tabs", "parameters": {"urls_to_open": ["https://a.example"]}}
    installs = {"type": "execute", "parameters": {"command": "sudo apt-get -y install jq", "shell": True}}
    login = {"type": "googledrive", "parameters": {}}
    cloud = {
        "func": "compare_text_file",
        "result": PRINTS,
        "expected": {"type": "cloud_file", "path": URL, "dest": "e"},
    }
    assert needs(make_task) == []
    assert "it downloads https://hub.example" in needs(make_task, config=[DOWNLOAD])[0]
    assert "it downloads https://hub.example" in needs(make_task, evaluator=cloud)[0]
    assert "opens https://a.example" in needs(make_task, config=[opens])[0]
    assert "apt-get" in needs(make_task, config=[installs])[0]
    assert "account" in needs(make_task, Given(web=True), config=[login])[0]
    assert needs(make_task, Given(web=True), config=[opens, installs]) == []
    assert "no step `dance`" in needs(make_task, config=[{"type": "dance", "parameters": {}}])[0]
    theirs = {"func": "compare_table", "result": {"type": "active_tab_info"}}
    assert len(needs(make_task, evaluator=theirs)) == 2
    assert needs(make_task, Given(desktop_env="python"), evaluator=theirs) == []


@pytest.mark.parametrize(
    "place",
    [
        "one/f5f2dd29-9c53-5ef0-bd5d-0d7d0a2d3a4f_input.txt",
        "one/input.txt",
        "os/one/in put.txt",
        "hub.example/datasets/a/b/resolve/main/os/one/in put.txt",
    ],
)
def test_files_in_a_cache(place: str, make_task: Make, tmp_path: Path) -> None:
    import uuid

    place = place.replace("f5f2dd29-9c53-5ef0-bd5d-0d7d0a2d3a4f", str(uuid.uuid5(uuid.NAMESPACE_URL, URL)))
    path = tmp_path / "cache" / place
    path.parent.mkdir(parents=True)
    path.write_text("x")
    cache = FileCache(tmp_path / "cache")
    assert cache.find(URL, task="one", name="/home/user/input.txt") == path
    assert cache.find(URL + "?", task="two", name="other.txt") in (None, path)
    task = make_task(config=[DOWNLOAD])
    assert [len(tasks) for tasks in runnable([task], Given(cache=cache))] == [1, 0]
    assert [len(tasks) for tasks in runnable([task], Given())] == [0, 1]


def test_a_cache_gives_nothing_outside_it(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (tmp_path / "cache").mkdir()
    cache = FileCache(tmp_path / "cache")
    assert cache.find("https://x.example/../secret", task="..", name="secret") is None
    with pytest.raises(UserError, match="no such folder"):
        FileCache(tmp_path / "none")


def test_an_environment_leaves_out_what_cannot_run_there(make_task: Make, tmp_path: Path) -> None:
    tasks = [make_task(), make_task(id="two", config=[DOWNLOAD])]
    with pytest.warns(UserWarning, match=r"(?s)1 of 2 tasks were left out.*two: it downloads"):
        assert [task.id for task in GuiEnv(tasks).tasks] == ["one"]
    with pytest.raises(UserError, match="it downloads"):
        GuiEnv(tasks[1:])
    (tmp_path / "cache/two").mkdir(parents=True)
    (tmp_path / "cache/two/input.txt").write_text("x")
    assert len(GuiEnv(tasks, cache=tmp_path / "cache").tasks) == 2

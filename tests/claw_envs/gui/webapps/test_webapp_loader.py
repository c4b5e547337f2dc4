"""Tasks as files: the built-in ones, and what is wrong with others."""

from collections import Counter
from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from claw_envs.gui.webapps.goal import goal_of
from claw_envs.gui.webapps.loader import load, recognises, survey

GOOD = """
instruction = "Say yes,\\n  please."
solution = ["click button \\"Yes\\"", "done"]
changed = ["said"]
[[expect]]
path = "said"
equals = "yes"
"""


@pytest.fixture
def app(tmp_path: Path) -> Path:
    folder = tmp_path / "demo"
    (folder / "tasks").mkdir(parents=True)
    (folder / "index.html").write_text("<p>")
    (folder / "seed.json").write_text("{}")
    return folder


def fault(app: Path, text: str) -> str:
    (app / "tasks" / "bad.toml").write_text(text)
    found = survey(str(app))
    assert not found.tasks
    return found.faults[0].reason


def test_the_built_in_tasks() -> None:
    found = survey()
    assert not found.faults
    apps = Counter(task.metadata["domain"] for task in found.tasks)
    assert set(apps) == {"shop", "mail", "calendar", "table"}
    assert min(apps.values()) >= 6
    for name in apps:
        tasks = [task for task in found.tasks if task.metadata["domain"] == name]
        assert any(not task.metadata["feasible"] for task in tasks)
        assert any(goal_of(task).answer for task in tasks)
        assert {task.metadata["difficulty"] for task in tasks} == {"easy", "medium", "hard"}


def test_steps_are_enough_for_the_solution() -> None:
    for task in load():
        assert task.limits.max_steps >= 2 * len(task.metadata["solution"])


@pytest.mark.parametrize("above", [False, True])
def test_a_folder_of_ones_own(app: Path, above: bool) -> None:
    (app / "tasks" / "say-yes.toml").write_text(GOOD)
    source = str(app.parent if above else app)
    assert recognises(source)
    [task] = load(source)
    assert task.id == "demo/say-yes"
    assert task.instruction == "Say yes, please."
    assert task.metadata == {
        "domain": "demo",
        "feasible": True,
        "difficulty": "medium",
        "solution": ['click button "Yes"', "done"],
    }
    assert goal_of(task).expect[0].test == "equals"


def test_what_is_no_source(tmp_path: Path) -> None:
    assert not recognises(str(tmp_path))
    assert not recognises("no/such/folder")
    with pytest.raises(UserError, match="no task there"):
        load(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("instruction = ", "Invalid value"),
        ('instruction = "x"', "solution"),
        ('instruction = "x"\nsolution = []', "nothing is asked for"),
        ('instruction = "x"\nsolution = []\nfeasible = false\nanswer.value = "a"', "not feasible"),
        ('instruction = "x"\nsolution = []\nexpcet = []', "expcet"),
        ('instruction = "x"\nsolution = []\n[[expect]]\npath = "a"', "needs one of"),
        ('instruction = "x"\nsolution = []\n[[expect]]\npath = "a"\ncount = 1\nequals = 1', "needs one of"),
        ('instruction = "x"\nsolution = []\n[[expect]]\npath = "a"\nmatches = "("', "no regular expression"),
        ('instruction = "x"\nsolution = []\nanswer = { value = "x", kind = "numeric" }', "no number"),
    ],
)
def test_a_file_that_is_no_task(app: Path, text: str, reason: str) -> None:
    assert reason in fault(app, text)


def test_an_expression_that_cannot_be_read(app: Path) -> None:
    pytest.importorskip("jmespath")
    text = 'instruction = "x"\nsolution = []\n[[expect]]\npath = "a..b"\ncount = 1'
    assert "'a..b' is no JMESPath expression" in fault(app, text)

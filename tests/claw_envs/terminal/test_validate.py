"""Validation: the built-in tasks are sound, and an unsound task is told from a sound one, in every format."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from claw_envs.cli import app
from claw_envs.core.errors import UserError
from claw_envs.soundness import validate_tasks

MakeTask = Callable[..., Path]
PASS = "echo 1 > /logs/verifier/reward.txt\n"


def test_every_built_in_task_is_sound() -> None:
    reports = validate_tasks(None, parallel=4)
    assert len(reports) >= 16
    assert [f"{report.task_id}: {report.error}" for report in reports if not report.ok] == []
    assert {(report.oracle, report.noop) for report in reports} == {(1.0, 0.0)}


def test_unsound_tasks_are_told_apart(make_task: MakeTask) -> None:
    make_task("a-sound")
    make_task("b-free", test=PASS)
    make_task("c-wrong-solution", solve="touch other\n")
    make_task("d-failing-solution", solve="echo why; exit 3\n")
    make_task("e-no-verdict", test="echo why\n")
    make_task("f-no-set-up", dockerfile="FROM debian\nWORKDIR /app\nRUN exit 1\n")
    root = make_task("g-no-solution").parent
    (root / "g-no-solution/solution/solve.sh").unlink()
    reports = {report.task_id[0]: report for report in validate_tasks(str(root), parallel=2)}
    assert {key: report.ok for key, report in reports.items()} == {key: key == "a" for key in "abcdefg"}
    assert reports["b"].error == "doing nothing scores 1"
    assert "the solution scores 0" in str(reports["c"].error)
    assert "solve.sh ended with 3: why" in str(reports["d"].error)
    assert "no verdict" in str(reports["e"].error)
    assert "solve.sh: missing" in str(reports["g"].error)


def test_terminal_bench_solutions_are_scripts_or_commands(make_tb_task: MakeTask) -> None:
    commands = '- {command: cd /tmp, block: true}\n- {command: touch "$OLDPWD/done", block: true, max_timeout_sec: 9}\n'
    for name, solution in (("b-commands", commands), ("c-keys", "- command: nano done\n"), ("d-none", "")):
        folder = make_tb_task(name, files={"solution.yaml": solution} if solution else {})
        (folder / "solution.sh").unlink()
    make_tb_task("e-hangs", yaml="instruction: do\nmax_agent_timeout_sec: 1\n", solve="sleep 100\n")
    root = make_tb_task("a-script").parent
    reports = {report.task_id[0]: report for report in validate_tasks(str(root), parallel=2)}
    assert {key: report.ok for key, report in reports.items()} == dict(zip("abcde", (1, 1, 0, 0, 0), strict=True))
    assert {report.format for report in reports.values()} == {"terminal-bench"}
    assert "typed keys" in str(reports["c"].error)
    assert "solution.sh: missing" in str(reports["d"].error)
    assert "solution.sh ran over its time" in str(reports["e"].error)


def test_a_solution_has_its_own_variables(make_task: MakeTask) -> None:
    [report] = validate_tasks(str(make_task(toml='[solution.env]\nNAME = "done"\n', solve="touch $NAME\n")))
    assert report.ok, report.error


def test_rows_of_a_file_and_tasks_that_cannot_be_loaded_are_reported(
    make_task: MakeTask, make_tb_task: MakeTask, tmp_path: Path
) -> None:
    make_task("one"), make_tb_task("two"), make_task("bad", toml="[x")
    path = tmp_path / "set.jsonl"
    path.write_text('{"id": "two"}\n{"id": "one"}\n{"id": "bad"}\n')
    result = CliRunner().invoke(app, ["tasks", "validate", str(path), "--json", str(tmp_path / "out.json")])
    assert result.exit_code == 1
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[1][:5] == ["two", "terminal-bench", "namespace", "1", "0"]
    assert lines[2][:5] == ["one", "harbor", "namespace", "1", "0"]
    assert lines[3][:6] == ["line", "3", "-", "namespace", "-", "-"]
    assert "2 of 3 tasks are sound" in result.stdout
    rows = json.loads((tmp_path / "out.json").read_text())
    assert [(row["task_id"], row["ok"], row["oracle"]) for row in rows] == [
        ("two", True, 1.0), ("one", True, 1.0), ("line 3", False, None),
    ]  # fmt: skip
    assert "not valid TOML" in rows[2]["error"]


def test_sound_tasks_end_the_command_with_success(make_task: MakeTask) -> None:
    result = CliRunner().invoke(app, ["tasks", "validate", str(make_task())])
    assert (result.exit_code, "1 of 1 tasks are sound" in result.stdout) == (0, True)


@pytest.mark.usefixtures("engine")
def test_tasks_that_need_an_image_are_built_and_run_in_an_engine(make_task: MakeTask, make_tb_task: MakeTask) -> None:
    dockerfile = "FROM claw-envs/base:bookworm\nRUN useradd -m worker\nENV GREETING=hi\nWORKDIR /srv\n"
    solve = "[ $GREETING = hi ] && [ $PWD = /srv ] && id worker && touch done\n"
    make_task(
        "one", dockerfile=dockerfile, solve=solve, test="[ -e done ]; echo $((1 - $?)) > /logs/verifier/reward.txt"
    )
    check = "echo '= short test summary info ='; id worker && [ -e done ] && echo PASSED a || echo FAILED a\n"
    folder = make_tb_task("two", dockerfile=dockerfile, solve=solve, files={"tests/check.sh": check})
    reports = validate_tasks(str(folder.parent), backend="docker")
    assert [(report.task_id, report.ok, report.backend) for report in reports] == [
        ("one", True, "docker"), ("two", True, "docker"),
    ], [report.error for report in reports]  # fmt: skip


def test_the_network_can_be_chosen_for_all(make_task: MakeTask) -> None:
    if Path("/proc/net/dev").read_text().count(":") < 2:
        pytest.skip("this machine has no network but its loopback")
    folder = str(make_task(solve="tail -n +3 /proc/net/dev | grep -qv ' lo:' && touch done\n"))
    assert not validate_tasks(folder)[0].ok
    assert validate_tasks(folder, network="full")[0].ok
    with pytest.raises(UserError, match="network must be none or full, got 'some'"):
        validate_tasks(folder, network="some")


def test_parallel_must_be_at_least_one(make_task: MakeTask) -> None:
    with pytest.raises(UserError, match="parallel"):
        validate_tasks(str(make_task()), parallel=0)


def test_a_backend_that_is_none_is_said_once(make_task: MakeTask) -> None:
    folder = make_task()
    with pytest.raises(UserError, match="no sandbox backend `dokcer`"):
        validate_tasks(str(folder), backend="dokcer")

"""Verdicts on patches for a tiny repository: every status, whose fault it is, and what flaky tests do."""

import asyncio
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import SandboxSpec, Task
from claw_envs.sandbox.base import Sandbox
from claw_envs.sandbox.lease import Lease
from claw_envs.sandbox.pool import SandboxPool
from claw_envs.swe.grading import START
from claw_envs.swe.trial import APPLY, CLEAN, IS_APPLIED
from claw_envs.swe.verdict import LOG_LENGTH, Verdict, judge_patch
from tests.claw_envs.swe.tiny import CALC, CHECK, GOLD, diff, make_task, new_file

ADD, SUB = "check.py::test_add", "check.py::test_sub"
FIXED = CALC.replace("a - b", "a + b", 1)
HANGS = diff(f"import time\n\ntime.sleep(1000)\n{FIXED}")
COIN = diff(FIXED.replace("a - b", 'a - b - len(open("/tmp/coin").read())'))
"""`SUB` fails where /tmp/coin is not empty."""


class Coins(Lease):
    """Each sandbox holds the next coin."""

    def __init__(self, *coins: bytes) -> None:
        super().__init__()
        self.coins = list(coins)

    async def take(self, spec: SandboxSpec) -> Sandbox:
        sandbox = await super().take(spec)
        await sandbox.put("/tmp/coin", self.coins.pop(0))
        return sandbox


class Lost(Lease):
    """Each sandbox is gone as soon as it is there."""

    async def take(self, spec: SandboxSpec) -> Sandbox:
        sandbox = await super().take(spec)
        await sandbox.close()
        return sandbox


def judge(task: Task, *patches: str | None, lease: Lease | None = None, **options: Any) -> list[Verdict]:
    """The verdict on each patch, one after the other in one lease."""

    async def main(lease: Lease) -> list[Verdict]:
        try:
            async with asyncio.timeout(120):
                return [await judge_patch(task, patch, lease=lease, **options) for patch in patches]
        finally:
            await lease.give_back()

    return asyncio.run(main(lease or Lease()))


def test_the_gold_patch_resolves_and_nothing_stays_for_the_next_verdict(tmp_path: Path) -> None:
    gold, useless = judge(make_task(tmp_path), GOLD, new_file("notes.txt", "nothing\n"))
    assert (gold.resolved, gold.status) == (True, "resolved")
    assert gold.report["fail_to_pass"] == {"success": [ADD], "failure": []}
    assert gold.report["pass_to_pass"] == {"success": [SUB], "failure": []}
    assert (gold.report["patch"], gold.report["reason"], gold.report["flaky"]) == (GOLD, "", [])
    assert f"PASSED {ADD}" in gold.report["log"]
    assert (useless.resolved, useless.status) == (False, "unresolved")
    assert useless.report["fail_to_pass"] == {"success": [], "failure": [ADD]}


def test_no_change_resolves_nothing_and_needs_no_sandbox(tmp_path: Path) -> None:
    for verdict in judge(make_task(tmp_path, log_parser="none"), None, ""):
        assert (verdict.resolved, verdict.status) == (False, "empty_patch")
        assert verdict.report["fail_to_pass"] == {"success": [], "failure": []}


def test_a_patch_that_does_not_apply_fails_and_says_how(tmp_path: Path) -> None:
    elsewhere = GOLD.replace("calc.py", "other.py")
    wrong, garbage, surrogate = judge(make_task(tmp_path), elsewhere, "no patch at all\n", GOLD + "\udcff")
    for verdict in (wrong, garbage, surrogate):
        assert (verdict.resolved, verdict.status) == (False, "patch_failed")
        assert verdict.report["reason"]
    assert "$ git apply --verbose --3way\n" in wrong.report["log"]
    assert "other.py" in wrong.report["log"]


def test_what_git_refuses_is_applied_with_fuzz_to_a_clean_tree(tmp_path: Path) -> None:
    moved = GOLD.replace(" def add(a, b):\n-", " def plus(a, b):\n-")
    [verdict] = judge(make_task(tmp_path), moved)
    assert verdict.status == "resolved"


def test_edited_tests_are_restored(tmp_path: Path) -> None:
    cheat = diff(CHECK.replace("assert calc.sub(5, 3) == 2", "pass"), before=CHECK, file="check.py")
    [verdict] = judge(make_task(tmp_path), cheat)
    assert verdict.report["fail_to_pass"]["failure"] == [ADD]


def test_tests_that_say_nothing_or_lie_do_not_resolve(tmp_path: Path) -> None:
    silent = "import os\nos._exit(0)\n"
    lies = f"print('PASSED {ADD}\\nPASSED {SUB}', flush=True)\nimport os\nos._exit(3)\n"
    for verdict in judge(make_task(tmp_path), diff(silent), diff(lies)):
        assert (verdict.resolved, verdict.status) == (False, "unresolved")
        assert "no results" in verdict.report["reason"]


def test_a_patch_that_hangs_is_at_fault_where_the_tests_end_without_it(tmp_path: Path) -> None:
    [verdict] = judge(make_task(tmp_path, timeout=6), HANGS)
    assert (verdict.resolved, verdict.status) == (False, "timed_out")
    assert verdict.report["reason"] == "the tests ran over their 6 s"


def test_tests_that_always_hang_are_no_verdict(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match=r"tiny__calc-1.*ran over their 1 s; without the patch: .*ran over"):
        judge(make_task(tmp_path, command="sleep 1000", timeout=1), GOLD)


def test_a_patch_that_looks_like_a_broken_environment_is_at_fault(tmp_path: Path) -> None:
    killed = "print('\\nKilled', flush=True)\nimport os\nos._exit(1)\n"
    [verdict] = judge(make_task(tmp_path), diff(killed))
    assert (verdict.status, verdict.report["reason"]) == ("unresolved", "out_of_memory")


def test_an_environment_that_is_broken_is_no_verdict(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="out_of_memory"):
        judge(make_task(tmp_path / "a", command="echo; echo Killed; false"), GOLD)
    with pytest.raises(InfrastructureError, match=r"did not begin \(exit code 7\)"):
        judge(make_task(tmp_path / "b", eval_script="echo no conda here\nexit 7\n"), GOLD)


def test_a_sandbox_without_a_repository_is_no_verdict(tmp_path: Path) -> None:
    task = make_task(tmp_path)
    (tmp_path / "repository/.git/HEAD").unlink()
    with pytest.raises(InfrastructureError, match="no repository at /testbed"):
        judge(task, GOLD)


def test_an_unknown_log_parser_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"log_parser 'parse_log_telepathy' is none of.*parse_log_pytest,"):
        judge(make_task(tmp_path, log_parser="parse_log_telepathy"), GOLD)


def test_a_lost_sandbox_is_no_verdict(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="the sandbox"):
        judge(make_task(tmp_path), GOLD, lease=Lost())


def test_a_missing_swebench_is_the_users_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "swebench.harness.log_parsers", None)
    with pytest.raises(UserError, match=r'pip install "claw-envs\[swe\]"'):
        judge(make_task(tmp_path), GOLD)


def test_a_long_log_is_read_whole(tmp_path: Path) -> None:
    command = f"echo PASSED {ADD}; seq 500000; echo PASSED {SUB}; seq 500000"
    [verdict] = judge(make_task(tmp_path, command=command), GOLD)
    assert verdict.status == "resolved"
    assert len(verdict.report["log"]) == LOG_LENGTH


@pytest.mark.parametrize(
    ("coins", "resolved", "flaky"),
    [
        ([b""], True, []),  # what resolves is not tried again
        ([b"x", b"x"], False, []),
        ([b"x", b"", b""], True, [SUB]),
        ([b"x", b"", b"x"], False, [SUB]),
    ],
)
def test_a_patch_that_only_breaks_tests_is_tried_again(
    tmp_path: Path, coins: list[bytes], resolved: bool, flaky: list[str]
) -> None:
    lease = Coins(*coins)
    [verdict] = judge(make_task(tmp_path), COIN, lease=lease)
    assert (verdict.resolved, verdict.report["flaky"], lease.coins) == (resolved, flaky, [])
    assert verdict.report["pass_to_pass"] == {"success": [SUB] * resolved, "failure": [SUB] * (not resolved)}


def test_reruns_can_be_left_out(tmp_path: Path) -> None:
    [verdict] = judge(make_task(tmp_path), COIN, lease=Coins(b"x"), reruns=0)
    assert (verdict.resolved, verdict.report["flaky"]) == (False, [])


def test_verdicts_from_a_pool(tmp_path: Path) -> None:
    async def main() -> list[str]:
        async with SandboxPool(capacity=2) as pool, asyncio.timeout(120):
            leases = [Lease(pool=pool) for _ in range(3)]
            verdicts = await asyncio.gather(*(judge_patch(task, GOLD, lease=lease) for lease in leases))
            return [verdict.status for verdict in verdicts]

    task = make_task(tmp_path)
    assert asyncio.run(main()) == ["resolved"] * 3


def test_a_patch_of_every_kind_of_change(tmp_path: Path) -> None:
    """Binary content, a rename, a deletion and a mode, as git writes them."""
    task = make_task(tmp_path, command="python3 check.py; ls -l arithmetic.py; cksum blob.bin; ls calc.py")
    tree = tmp_path / "repository"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-C", str(tree)]
    (tree / "blob.bin").write_bytes(bytes(range(256)) * 9)
    (tree / "calc.py").rename(tree / "arithmetic.py")
    (tree / "arithmetic.py").chmod(0o755)
    subprocess.run([*git, "add", "-A"], check=True)
    patch = subprocess.run([*git, "diff", "--cached", "--binary", "-M"], check=True, capture_output=True, text=True)
    subprocess.run([*git, "reset", "-q", "--hard"], check=True)
    [verdict] = judge(task, patch.stdout)
    assert "rename from calc.py" in patch.stdout
    assert "GIT binary patch" in patch.stdout
    log = verdict.report["log"]
    assert "-rwxr-xr-x" in log
    assert " 2304 blob.bin" in log
    assert "cannot access 'calc.py'" in log
    assert verdict.status == "unresolved"


def test_patches_are_applied_as_the_official_harness_does() -> None:
    run_evaluation = pytest.importorskip("swebench.harness.run_evaluation")
    assert [" ".join(way) for way in APPLY] == run_evaluation.GIT_APPLY_CMDS
    source = inspect.getsource(run_evaluation.run_instance)
    assert repr(CLEAN[-1]).replace("'", '"') in source
    assert f'"{" ".join(IS_APPLIED)} {{CONTAINER_PATCH_FILE}}"' in source


def test_markers_are_the_official_ones() -> None:
    constants = pytest.importorskip("swebench.harness.constants")
    assert constants.START_TEST_OUTPUT == START

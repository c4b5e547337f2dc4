"""The verdict function: from threads, event loops, forked children and other processes; its options and errors."""

import asyncio
import math
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.toolcall.answers import Check, check, check_sync

PAIRS = [(rf"\boxed{{{n}x + {n}}}", f"{n}(x+1)", True) for n in range(2, 8)]
PAIRS += [(rf"\boxed{{{n}x - {n}}}", f"{n}(x+1)", False) for n in range(2, 8)]


def run(script: str, *, folder: Path) -> str:
    """What `script` prints, run as a file and so with a `__main__` that could be imported again."""
    (folder / "script.py").write_text(script)
    done = subprocess.run([sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


async def all_at_once() -> None:
    verdicts = await asyncio.gather(*(check(response, gold) for response, gold, _ in PAIRS))
    assert [verdict.correct for verdict in verdicts] == [correct for *_, correct in PAIRS]


def test_many_at_once_on_an_event_loop() -> None:
    asyncio.run(all_at_once())


def test_two_event_loops_at_once() -> None:
    with ThreadPoolExecutor(2) as threads:
        for loop in [threads.submit(asyncio.run, all_at_once()) for _ in range(2)]:
            loop.result()


def test_one_event_loop_after_another() -> None:
    for _ in range(2):
        asyncio.run(all_at_once())


def test_many_threads() -> None:
    with ThreadPoolExecutor(8) as threads:
        verdicts = list(threads.map(lambda pair: check_sync(pair[0], pair[1]).correct, PAIRS))
    assert verdicts == [correct for *_, correct in PAIRS]


def test_waiting_for_a_verdict_can_be_given_up() -> None:
    async def give_up() -> None:
        waiting = asyncio.ensure_future(check(r"\boxed{2x+2}", "2(x+1)"))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert (await check(r"\boxed{2x+2}", "2(x+1)")).correct

    asyncio.run(give_up())


def test_after_a_fork_both_go_on(tmp_path: Path) -> None:
    script = """
import os
from claw_envs.toolcall.answers import check_sync
assert check_sync(r"\\boxed{x+1}", "1+x").correct
child = os.fork()
if child == 0:
    os._exit(0 if check_sync(r"\\boxed{x+2}", "2+x").correct else 1)
assert check_sync(r"\\boxed{x+3}", "3+x").correct
assert os.waitpid(child, 0)[1] == 0
assert check_sync(r"\\boxed{x+4}", "4+x").correct
print("done")
"""
    assert run(script, folder=tmp_path) == "done\n"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_in_processes_of_multiprocessing(tmp_path: Path, method: str) -> None:
    script = f"""
import multiprocessing
from claw_envs.toolcall.answers import check_sync

def right(n):
    return check_sync(f"\\\\boxed{{{{x+{{n}}}}}}", f"{{n}}+x").correct

if __name__ == "__main__":
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        print(pool.map(right, range(1, 5)))
"""
    assert run(script, folder=tmp_path) == "[True, True, True, True]\n"


def test_the_callers_script_is_not_run_again(tmp_path: Path) -> None:
    script = """
print("once")
from claw_envs.toolcall.answers import check_sync
assert check_sync(r"\\boxed{x+1}", "1+x").correct
"""
    assert run(script, folder=tmp_path) == "once\n"


def test_a_module_of_the_callers_does_not_stand_for_ours(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "sympy.py").write_text("raise SystemExit('the wrong sympy')")
    script = """
import os
os.chdir("elsewhere")
from claw_envs.toolcall.answers import check_sync
assert check_sync(r"\\boxed{x+1}", "1+x").correct
print("done")
"""
    assert run(script, folder=tmp_path) == "done\n"


def test_in_a_worker_of_ray(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    script = """
import ray
from claw_envs.toolcall.answers import check_sync

@ray.remote
def right(n):
    return check_sync(f"\\\\boxed{{x+{n}}}", f"{n}+x").correct

ray.init(num_cpus=2, include_dashboard=False, logging_level="error", log_to_driver=False)
print(ray.get([right.remote(n) for n in range(1, 5)]))
"""
    assert "[True, True, True, True]" in run(script, folder=tmp_path)


@pytest.mark.parametrize("gold", ["1/2", 0.5, Fraction(1, 2), r"\frac12", r"$\frac{1}{2}$", r"\boxed{\frac12}"])
def test_the_expected_answer_may_be_text_or_a_number(gold: Any) -> None:
    assert check_sync(r"\boxed{0.5}", gold)[:2] == (True, "0.5")


@pytest.mark.parametrize("gold", ["", "  ", None, True, [1], math.nan, math.inf, "1" * 20_000])
def test_an_expected_answer_that_is_none_is_the_users_mistake(gold: Any) -> None:
    with pytest.raises(UserError):
        check_sync(r"\boxed{0.5}", gold)


@pytest.mark.parametrize(
    ("kind", "options", "hint"),
    [
        ("maths", {}, "use one of math, exact, numeric, set, json"),
        ("exact", {"cases": True}, "use case, space"),
        ("math", {"rel_tol": 1.0}, "use none"),
    ],
)
def test_an_unknown_kind_or_option_is_the_users_mistake(kind: str, options: dict[str, Any], hint: str) -> None:
    with pytest.raises(UserError, match=hint):
        check_sync("5", 5, kind=kind, **options)


def test_a_number_is_expected_of_kind_numeric() -> None:
    with pytest.raises(UserError, match="is no number"):
        check_sync("5", "five", kind="numeric")


def test_json_is_expected_of_kind_json() -> None:
    with pytest.raises(UserError, match="is no JSON"):
        check_sync("5", {1, 2}, kind="json")


def test_no_answer_is_not_correct() -> None:
    assert check_sync("", 5) == Check(False, None, "no answer")
    assert check_sync("Answer: 5", 5, strict=True) == Check(False, None, "no boxed answer")


def test_a_very_long_answer_is_cut_in_the_report() -> None:
    verdict = check_sync(rf"\boxed{{{'1' * 100_000}}}", 5)
    assert not verdict.correct
    assert verdict.answer is not None
    assert len(verdict.answer) < 200


@pytest.mark.parametrize(
    "response",
    [
        '{"a": 1}',
        'Here it is:\n```json\n{"a": 1}\n```\nDone.',
        'Answer: {"a": 1}',
        'The answer is ${"a": 1}$.',
        '```\n{"a": 2}\n```\nNo:\n```\n{"a": 1}\n```',
        '<think>{"a": 2}</think>{"a": 1}',
    ],
)
def test_json_is_found_in_a_reply(response: str) -> None:
    assert check_sync(response, {"a": 1}, kind="json").correct


def test_json_that_speaks_of_an_answer_is_read_whole() -> None:
    assert check_sync('{"note": "Answer: 5"}', {"note": "Answer: 5"}, kind="json").correct

"""Workers: replaced when they are killed, bounded in time and memory by the kernel, gone with whoever started them."""

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.toolcall.answers import check_sync
from claw_envs.toolcall.answers.pool import Limits, Pool

ENDLESS = "9^{9^{9^{9}}}"
"""Takes more processor time and memory than there is."""


@pytest.fixture
def pool() -> Iterator[Pool]:
    pool = Pool(workers=1)
    yield pool
    pool.close()


def workers(parent: int | None = None) -> list[int]:
    """The pids of the workers of a process, of this one by default."""
    children = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(parent or os.getpid())], capture_output=True)
    return [int(line.split()[0]) for line in children.stdout.splitlines() if b"toolcall.answers.worker" in line]


def ended(pidfd: int) -> bool:
    """Whether a process ends within a minute."""
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(60_000))


def test_a_worker_is_kept_and_used_again(pool: Pool) -> None:
    before = set(workers())
    assert pool.submit("x+1", "1+x").result().correct
    started = set(workers()) - before
    assert not pool.submit("x+1", "1-x").result().correct
    assert set(workers()) - before == started


def test_no_process_is_started_for_what_is_plain_to_see() -> None:
    before = set(workers())
    pool = Pool()
    for answer, gold in [("1/2", "0.5"), ("x+1", "x + 1"), ("yes", "no"), (r"50\%", "50"), ("(A)", "B")]:
        check_sync(f"\\boxed{{{answer}}}", gold, pool=pool)
    assert set(workers()) <= before


def test_workers_start_as_they_are_needed_up_to_the_bound() -> None:
    pool = Pool(workers=2)
    before = set(workers())
    try:
        pool.submit("x+1", "1+x").result()
        assert len(set(workers()) - before) == 1
        for verdict in [pool.submit("x+1", "1+x") for _ in range(20)]:
            assert verdict.result().correct
        assert len(set(workers()) - before) <= 2
    finally:
        pool.close()


def test_the_kernel_keeps_the_limits() -> None:
    pool = Pool(workers=1, limits=Limits(cpu=7, memory=700 << 20))
    before = set(workers())
    try:
        assert pool.submit("x+1", "1+x").result().correct
        (pid,) = set(workers()) - before
        limits = {line[:25].strip(): line.split()[-3:] for line in Path(f"/proc/{pid}/limits").read_text().splitlines()}
        assert limits["Max address space"][0] == str(700 << 20)
        assert 7 <= int(limits["Max cpu time"][0]) <= 7 + 60
        assert limits["Max core file size"][0] == "0"
    finally:
        pool.close()


def test_an_answer_that_runs_over_is_not_correct_and_the_next_is_judged() -> None:
    pool = Pool(workers=1, limits=Limits(cpu=1))
    try:
        verdict = pool.submit("5x", ENDLESS).result()
        assert not verdict.correct
        assert "ran over 1 s" in verdict.reason
        assert pool.submit("x+1", "1+x").result().correct
    finally:
        pool.close()


def test_an_answer_that_needs_too_much_memory_is_not_correct() -> None:
    pool = Pool(workers=1, limits=Limits(cpu=60, memory=300 << 20))
    try:
        verdict = pool.submit("5", "10^{10^{10}}!").result()
        assert not verdict.correct
        assert "300 MB" in verdict.reason
        assert pool.submit("x+1", "1+x").result().correct
    finally:
        pool.close()


def test_a_worker_that_was_killed_idle_is_replaced(pool: Pool) -> None:
    before = set(workers())
    pool.submit("x+1", "1+x").result()
    (pid,) = set(workers()) - before
    os.kill(pid, signal.SIGKILL)
    assert pool.submit("x+1", "1+x").result().correct


def test_a_hostile_answer_holds_up_only_its_worker() -> None:
    pool = Pool(workers=2, limits=Limits(cpu=6))
    judged: list[str] = []
    try:
        hostile = pool.submit("5x", ENDLESS)
        hostile.add_done_callback(lambda _: judged.append("hostile"))
        for other in [pool.submit("x+1", "1+x") for _ in range(5)]:
            other.add_done_callback(lambda _: judged.append("other"))
            assert other.result().correct
        assert not hostile.result().correct
        assert judged == ["other"] * 5 + ["hostile"]
    finally:
        pool.close()


def test_what_is_cancelled_while_it_waits_is_not_asked(pool: Pool) -> None:
    before = set(workers())
    pool.submit("x+1", "1+x").result()
    (pid,) = set(workers()) - before
    os.kill(pid, signal.SIGSTOP)
    running, waiting = pool.submit("x+1", "1+x"), pool.submit("x+1", "1+x")
    assert waiting.cancel()
    os.kill(pid, signal.SIGCONT)
    assert running.result().correct
    assert waiting.cancelled()


@pytest.mark.parametrize("gold", [r"\frac{1}{", "((((", "x^"])
def test_an_expected_answer_that_cannot_be_read_is_the_users_mistake(pool: Pool, gold: str) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        check_sync(r"\boxed{7x}", gold, pool=pool)
    assert pool.submit("x+1", "1+x").result().correct


def test_a_stuck_machine_is_no_verdict() -> None:
    pool = Pool(workers=1, limits=Limits(wall=0.0))
    with pytest.raises(InfrastructureError, match="stuck"):
        pool.submit("x+1", "1+x").result()
    pool.close()


@pytest.mark.parametrize("python", ["/nowhere/python", "/bin/false"])
def test_no_worker_is_no_verdict(monkeypatch: pytest.MonkeyPatch, python: str) -> None:
    monkeypatch.setattr(sys, "executable", python)
    pool = Pool()
    with pytest.raises(InfrastructureError):
        check_sync(r"\boxed{x+1}", "1+x", pool=pool)
    pool.close()


def test_without_math_verify_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "math_verify.py").write_text("raise ImportError('No module named math_verify')")
    monkeypatch.syspath_prepend(tmp_path)
    pool = Pool()
    with pytest.raises(UserError, match=r"claw-envs\[toolcall\]"):
        check_sync(r"\boxed{x+1}", "1+x", pool=pool)
    pool.close()


def test_closing_ends_the_workers() -> None:
    pool = Pool(workers=1)
    before = set(workers())
    pool.submit("x+1", "1+x").result()
    (pid,) = set(workers()) - before
    pidfd = os.pidfd_open(pid)
    pool.close()
    assert ended(pidfd)
    os.close(pidfd)


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
def test_workers_end_with_the_process_that_is_killed(busy: bool) -> None:
    script = (
        "from claw_envs.toolcall.answers.pool import Pool, Limits\n"
        "pool = Pool(workers=1, limits=Limits(cpu=600, wall=600.0))\n"
        "pool.submit('x+1', '1+x').result()\n"
        f"later = {busy} and pool.submit('5x', {ENDLESS!r})\n"
        "print('asked', flush=True)\n"
        "input()\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout
    assert process.stdin
    assert process.stdout.readline() == b"asked\n"
    (pid,) = workers(process.pid)
    pidfd = os.pidfd_open(pid)
    process.kill()
    assert ended(pidfd)
    os.close(pidfd)
    process.wait()
    process.stdin.close()
    process.stdout.close()


def test_threads_end_with_the_pool() -> None:
    pool = Pool(workers=2)
    before = set(threading.enumerate())
    pool.submit("x+1", "1+x").result()
    drivers = set(threading.enumerate()) - before
    pool.close()
    for driver in drivers:
        driver.join(timeout=60)
        assert not driver.is_alive()

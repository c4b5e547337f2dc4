"""Test logs: what each parser reads out of one, and which logs are no verdict."""

import time

import pytest

from claw_envs.terminal.formats.parsers import PARSERS, Counts, ctrf_counts, parse, pytest_counts

HEAD = "==== short test summary info ====\n"
CUT = "\n[... 12 bytes of output omitted ...]\n"
SWEBENCH = "SWEBench results starts here\n{}\nSWEBench results ends here\n"
SWEPERF = "SWE-Perf results starts here\n{}\nSWE-Perf results ends here\n"
MLEBENCH = "MLEBench results starts here\n{}\nMLEBench results ends here\n"


@pytest.mark.parametrize(
    ("parser", "log", "results"),
    [
        ("pytest", f"noise\n{HEAD}PASSED t.py::a\n", {"t.py::a": True}),
        ("pytest", f"{HEAD}FAILED t.py::a - assert 1 == 2\n== 1 failed in 0.1s ==\n", {"t.py::a": False}),
        ("pytest", f"{HEAD}PASSED t.py::a[x - y]\nFAILED t.py::b", {"t.py::a[x - y]": True, "t.py::b": False}),
        ("pytest", f"{HEAD}ERROR t.py - ImportError: no\nERROR: u.py::x", {"t.py": False, "u.py::x": False}),
        ("pytest", f"{HEAD}SKIPPED [1] t.py:3: why", {"[1] t.py:3: why": True}),
        ("pytest", f"{HEAD}XFAIL t.py::a - why\nXPASS t.py::b - why", {"t.py::a": True, "t.py::b": False}),
        ("pytest", f"{HEAD}PASSED a.py::x\nFAILED b.py::x", {"a.py::x": True, "b.py::x": False}),
        ("pytest", f"\x1b[36m\x1b[1m{HEAD.upper()}\x1b[0m\r\n\x1b[32mPASSED\x1b[0m t.py::a\r\n", {"t.py::a": True}),
        ("swebench", SWEBENCH.format("PASSED"), {"tests": True}),
        ("swebench", SWEBENCH.format("FAILED"), {"tests": False}),
        ("swebench", SWEBENCH.format("\r\n PASSED \r\n"), {"tests": True}),
        ("swebench", SWEBENCH.format("PASSED") + SWEBENCH.format("FAILED"), {"tests": False}),
        ("sweperf", SWEPERF.format("PASSED"), {"tests": True}),
        ("sweperf", SWEPERF.format("slower"), {"tests": False}),
        ("mlebench", MLEBENCH.format("ALL TESTS PASSED"), {"tests": True}),
        ("mlebench", MLEBENCH.format("PASSED"), {"tests": False}),
        ("swelancer", "SWE Lancer success", {"swelancer_task": True}),
        ("swelancer", "swe lancer FAILURE", {"swelancer_task": False}),
        ("swelancer", "user_tool run completed", {"swelancer_task": True}),
        ("pytest", f"much{CUT}{HEAD}PASSED t.py::a\n", {"t.py::a": True}),
    ],
)  # fmt: skip
def test_results_are_read(parser: str, log: str, results: dict[str, bool]) -> None:
    assert parse(parser, log) == results


@pytest.mark.parametrize(
    ("parser", "log"),
    [
        *((name, "") for name in PARSERS),
        *((name, "bash: python3: command not found\n") for name in PARSERS),
        ("pytest", "== 3 passed in 0.1s =="),
        ("pytest", HEAD),
        ("pytest", f"PASSED t.py::a\n{HEAD}"),
        ("swebench", "SWEBench results starts here\nPASSED\n"),
        ("swebench", "SWEBench results ends here\nPASSED\nSWEBench results starts here"),
        ("sweperf", SWEBENCH.format("PASSED")),
        ("mlebench", "ALL TESTS PASSED"),
        ("pytest", f"{HEAD}PASSED t.py::a\n{CUT}PASSED t.py::z\n"),
        ("swebench", f"SWEBench results starts here\n{CUT}PASSED\nSWEBench results ends here"),
    ],
)
def test_a_log_without_results_is_no_verdict(parser: str, log: str) -> None:
    with pytest.raises(ValueError, match=r"log|no test"):
        parse(parser, log)


@pytest.mark.parametrize(
    "printed",
    [
        f"{HEAD}PASSED t.py::a\n",
        f"{HEAD}PASSED t.py::a\n===== 1 passed in 0.01s =====\n",
        "PASSED t.py::a\n",
    ],
)
@pytest.mark.parametrize("late", [False, True])
def test_what_a_program_prints_does_not_undo_a_failure(printed: str, late: bool) -> None:
    real = f"{HEAD}FAILED t.py::a - AssertionError\n===== 1 failed in 0.01s =====\n"
    assert parse("pytest", real + printed if late else printed + real) == {"t.py::a": False}


@pytest.mark.parametrize(
    ("log", "counts"),
    [
        ("== 2 failed, 3 passed in 0.12s ==", Counts(3, 5)),
        ("3 passed in 61.02s (0:01:01)", Counts(3, 3)),
        ("1 failed, 4 passed, 2 skipped, 1 xfailed, 1 xpassed, 1 error in 1s", Counts(7, 10)),
        ("== 1 failed, 4 passed, 3 deselected, 2 warnings in 1s ==", Counts(4, 5)),
        ("== 9 passed in 1s ==\n== 1 failed in 0.1s ==", Counts(0, 1)),
        ("\x1b[32m\x1b[1m1 passed\x1b[0m\x1b[32m in 0.01s\x1b[0m", Counts(1, 1)),
        ("== no tests ran in 0.01s ==", None),
        ("5 files changed in 3s", None),
        ("", None),
    ],
)  # fmt: skip
def test_the_last_line_of_pytest_is_counted(log: str, counts: Counts | None) -> None:
    assert pytest_counts(log) == counts


@pytest.mark.parametrize(
    ("report", "counts"),
    [
        ({"results": {"tests": [{"status": "passed"}, {"status": "failed"}, {"status": "skipped"}]}}, Counts(2, 3)),
        ({"results": {"tests": [{"status": "pending"}, {"status": "other"}, {}, 3]}}, Counts(0, 4)),
        ({"results": {"tests": []}}, None),
        ({"results": {"tests": {}}}, None),
        ({"results": 3}, None),
        ([], None),
    ],
)
def test_a_ctrf_report_is_counted(report: object, counts: Counts | None) -> None:
    assert ctrf_counts(report) == counts


@pytest.mark.parametrize("filler", ["=", "\n", "1 a, ", "\x1b[", "\x1b]", " ", "== ", "PASSED "])
def test_a_hostile_log_is_read_in_no_time(filler: str) -> None:
    log = filler * (200_000 // len(filler))
    started = time.process_time()
    pytest_counts(log)
    with pytest.raises(ValueError, match=r"log|no test"):
        parse("pytest", log)
    assert time.process_time() - started < 5.0, "quadratic in the length of the log"

"""What a test log says, test by test: the parsers that Terminal-Bench names, and the counts that pytest prints.

A log is untrusted in part: programs under test print into it. So a failure, once reported, stands, whatever is printed
later; a program that kills the test run and prints another's summary cannot be told from it. Where Terminal-Bench takes
a log without any result as a failure (`mlebench`, `swelancer`) or as a success (a summary of no test), it is no verdict
here.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

Results = dict[str, bool]
"""Test name -> whether it passed."""

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
_HEADER = re.compile(r"^=+ *short test summary info *=+", re.IGNORECASE | re.MULTILINE)
_RESULT = re.compile(r"(PASSED|SKIPPED|XFAIL|FAILED|XPASS|ERROR):?[ \t]+(\S.*)")
_GOOD = ("PASSED", "SKIPPED", "XFAIL")
_LAST_LINE = re.compile(r"^(?:=+ )?((?:\d+ [a-z]+(?:, )?)+) in [\d.]+s\b", re.MULTILINE)
_CUT = re.compile(r"^\[\.\.\. \d+ bytes of output omitted \.\.\.\]$", re.MULTILINE)
"""How a sandbox marks what it left out of a long output."""
_COUNT = re.compile(r"(\d+) (passed|failed|errors?|skipped|xfailed|xpassed)\b")


class Counts(NamedTuple):
    """How many tests there were, and how many did not fail (a skipped test and an expected failure do not)."""

    passed: int
    total: int


def parse(parser: str, log: str) -> Results:
    """The results in `log`; at least one.

    Args:
        parser: a key of `PARSERS`.

    Raises:
        ValueError: if the log holds no result that the parser knows.

    >>> parse("pytest", "= short test summary info =\\nPASSED t.py::a\\nFAILED t.py::b - assert 1 == 2")
    {'t.py::a': True, 't.py::b': False}
    """
    plain = _ESCAPES.sub("", log).replace("\r", "\n")
    return PARSERS[parser](plain)


def pytest_counts(log: str) -> Counts | None:
    """The counts in pytest's last line ("2 failed, 3 passed in 0.12s"), of the last run in `log`; None without one."""
    lines = _LAST_LINE.findall(_ESCAPES.sub("", log))
    counts = {word.rstrip("s"): int(number) for number, word in _COUNT.findall(lines[-1])} if lines else {}
    total = sum(counts.values())
    return Counts(sum(counts.get(word, 0) for word in ("passed", "skipped", "xfailed")), total) if total else None


def ctrf_counts(report: Any) -> Counts | None:
    """The counts in a CTRF report (https://ctrf.io), decoded; None where it is not one, or of no test."""
    results = report.get("results") if isinstance(report, dict) else None
    tests = results.get("tests") if isinstance(results, dict) else None
    if not isinstance(tests, list) or not tests:
        return None
    statuses = [test.get("status") if isinstance(test, dict) else None for test in tests]
    return Counts(sum(status in ("passed", "skipped") for status in statuses), len(statuses))


def _pytest(log: str) -> Results:
    header = _HEADER.search(log)
    if header is None:
        raise ValueError("no `short test summary info` of pytest in the log; run it with -rA")
    results: Results = {}
    for status, name in _summary_lines(_whole(log[header.end() :])):
        results[name] = results.get(name, True) and status in _GOOD
    if not results:
        raise ValueError("pytest's summary names no test")
    return results


def _whole(text: str) -> str:
    """`text`, if nothing was left out of it: a failure may have stood there."""
    if _CUT.search(text):
        raise ValueError("the log was too long, and the part that was left out of it may hold results")
    return text


def _summary_lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        if found := _RESULT.match(line):
            status, rest = found[1], found[2].strip()
            yield status, rest if status in ("PASSED", "SKIPPED") else rest.split(" - ", 1)[0]


def _between(start: str, end: str, good: str) -> Callable[[str], Results]:
    """A parser of one verdict between two marker lines."""

    def parser(log: str) -> Results:
        _, started, rest = log.partition(start)
        block, ended, _ = rest.rpartition(end)
        if not started or not ended:
            raise ValueError(f"no verdict between `{start}` and `{end}` in the log")
        return {"tests": _whole(block).strip() == good}

    return parser


def _swelancer(log: str) -> Results:
    text = log.lower()
    failed, passed = "swe lancer failure" in text, "swe lancer success" in text
    if not failed and not passed and not ("user_tool" in text and "completed" in text):
        raise ValueError("neither `SWE Lancer success` nor `SWE Lancer failure` in the log")
    return {"swelancer_task": not failed}


PARSERS: Mapping[str, Callable[[str], Results]] = MappingProxyType(
    {
        "pytest": _pytest,
        "swebench": _between("SWEBench results starts here", "SWEBench results ends here", "PASSED"),
        "sweperf": _between("SWE-Perf results starts here", "SWE-Perf results ends here", "PASSED"),
        "mlebench": _between("MLEBench results starts here", "MLEBench results ends here", "ALL TESTS PASSED"),
        "swelancer": _swelancer,
    }
)
"""By the names of Terminal-Bench 0.2's `parser_name`."""

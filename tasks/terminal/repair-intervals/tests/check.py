"""The package against sets of numbers; each function counts."""

import ast
import random
import sys

sys.path.insert(0, "/tests")
from answers import grade, need, run, tree  # noqa: E402


RANDOM = random.Random(20240301)
DRIVER = """
import ast, sys
import intervals

for line in sys.stdin:
    name, arguments = ast.literal_eval(line)
    before = repr(arguments)
    result = getattr(intervals, name)(*arguments)
    print(repr((result, repr(arguments) == before)))
"""


def some():
    """A random list of intervals."""
    begins = [RANDOM.randrange(40) for _ in range(RANDOM.randrange(7))]
    return [(begin, begin + RANDOM.randrange(1, 12)) for begin in begins]


def numbers(intervals):
    return {number for begin, end in intervals for number in range(begin, end)}


def pieces(covered):
    """The merged intervals of a set of numbers."""
    begins = sorted(n for n in covered if n - 1 not in covered)
    ends = sorted(n + 1 for n in covered if n + 1 not in covered)
    return list(zip(begins, ends))


def answers(name, cases):
    """What the agent's package answers, a process of the agent's rights for all cases together."""
    package = {f"intervals/{path}": text for path, text in tree("intervals").items() if path.endswith(".py")}
    asked = "".join(repr((name, case)) + "\n" for case in cases)
    argv = ["python3", "driver.py"]
    status, output, _ = run(argv, files=package | {"driver.py": DRIVER}, stdin=asked)
    need(status == 0, f"{name} raised an error")
    found = [ast.literal_eval(line) for line in output.splitlines()]
    need(len(found) == len(cases), f"{name} gave {len(found)} answers to {len(cases)} cases")
    need(all(unchanged for _, unchanged in found), f"{name} changed its arguments")
    return [result for result, _ in found]


def judge(name, cases, wanted):
    for case, result, right in zip(cases, answers(name, cases), wanted):
        need(result == right, f"{name}{case} gave {result}, not {right}")


def merge():
    cases = [([],), ([(5, 7), (1, 3), (3, 5)],), ([(1, 9), (2, 3)],), *((some(),) for _ in range(60))]
    judge("merge", cases, [pieces(numbers(case[0])) for case in cases])


def total():
    cases = [([(1, 4), (2, 6)],), ([(0, 5), (9, 10), (1, 2)],), *((some(),) for _ in range(60))]
    judge("total", cases, [len(numbers(case[0])) for case in cases])


def subtract():
    cases = [([(0, 10)], []), ([(0, 10)], [(20, 30)]), ([(5, 10)], [(0, 2)]), *((some(), some()) for _ in range(60))]
    judge("subtract", cases, [pieces(numbers(a) - numbers(b)) for a, b in cases])


grade(merge, total, subtract)

"""Every program that comes with a problem, run by a fresh interpreter, prints the answer that the checker accepts."""

import json
import subprocess
import sys

import pytest

from claw_envs.toolcall.answers import check_sync
from claw_envs.toolcall.procedural.generator import generate
from claw_envs.toolcall.procedural.registry import FAMILIES, LEVELS
from tests.claw_envs.toolcall.procedural.reckoning import answer_of

RUN_ALL = """
import contextlib, io, json, sys
printed = []
for program in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(program, "solution", "exec"), {"__name__": "__main__"})
    printed.append(out.getvalue())
json.dump(printed, sys.stdout)
"""


def run(programs: list[str]) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", RUN_ALL],
        input=json.dumps(programs),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    printed: list[str] = json.loads(done.stdout)
    return printed


@pytest.mark.parametrize("level", LEVELS)
def test_programs_print_the_answer(level):
    tasks = generate(levels=[level], count=20 * len(FAMILIES)) + generate(levels=[level], count=62, split="heldout")
    printed = run([task.metadata["solution"] for task in tasks])
    for task, line in zip(tasks, printed, strict=True):
        assert line.count("\n") == 1
        line, options = line.strip(), dict(task.verifier.options)
        if options["kind"] in ("numeric", "exact"):
            assert line == str(answer_of(task)), task.instruction
        answer = options.pop("answer")
        verdict = check_sync(f"So the answer is \\boxed{{{line}}}.", answer, **options)
        assert verdict.correct, (task.instruction, line, verdict)
        assert not check_sync(f"\\boxed{{{wrong(line)}}}", answer, **options).correct, (task.instruction, line)


def wrong(line: str) -> str:
    """`line` with its last letter or digit changed."""
    place = max(place for place, character in enumerate(line) if character.isalnum())
    other = {"9": "1", "I": "V", "z": "a"}.get(line[place], chr(ord(line[place]) + 1))
    return line[:place] + other + line[place + 1 :]

"""Sets of problems: the same everywhere, all different, no problem in two splits, tasks that are complete."""

import hashlib
import itertools
import re
from collections import Counter

import msgspec
import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.toolcall.procedural.generator import SPLITS, generate
from claw_envs.toolcall.procedural.registry import FAMILIES, LEVELS

DIGEST = "028040439fd22b241d840d3c1c5f3b3013f711cf619648c679e4ea438c0f98ee"
CELLS = [(family, level) for level in LEVELS for family in FAMILIES]


def test_the_first_problems_never_change():
    tasks = generate(levels=LEVELS, count=2 * len(CELLS), seed=0)
    lines = [f"{task.id}|{task.instruction}|{task.verifier.options}|{task.metadata['solution']}" for task in tasks]
    assert tasks[0].instruction == "What is 57 * 436?"
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest() == DIGEST


def test_every_family_and_level_has_enough_problems_and_the_splits_share_none():
    questions: dict[str, str] = {}
    for split, (family, level) in itertools.product(SPLITS, CELLS):
        tasks = generate(families=[family], levels=[level], count=15, split=split)
        programs = {task.metadata["solution"] for task in tasks}
        assert len(programs) == len({task.id for task in tasks}) == 15
        for task in tasks:
            assert questions.setdefault(task.instruction, split) == split, task.instruction
            assert questions.setdefault(task.metadata["solution"], split) == split, task.instruction


def test_other_seeds_of_other_splits_share_no_question_either():
    train = {task.instruction for seed in range(3) for task in generate(count=930, seed=seed)}
    heldout = {task.instruction for seed in range(3, 6) for task in generate(count=310, seed=seed, split="heldout")}
    assert not train & heldout


def test_a_set_takes_families_and_levels_in_turn_and_begins_with_the_shorter_one():
    tasks = generate(families=["gcd", "dates"], levels=[2, 5], count=10)
    assert [(task.metadata["generator"], task.metadata["level"]) for task in tasks[:5]] == [
        ("gcd", 2),
        ("dates", 2),
        ("gcd", 5),
        ("dates", 5),
        ("gcd", 2),
    ]
    assert generate(families=["gcd", "dates"], levels=[2, 5], count=4) == tasks[:4]
    assert generate(families=["dates"], levels=[5], count=1)[0] == tasks[3]


def test_the_default_set():
    tasks = generate()
    assert len(tasks) == 280
    assert Counter(task.metadata["level"] for task in tasks) == {1: 94, 2: 93, 3: 93}
    assert {task.metadata["generator"] for task in tasks} == set(FAMILIES)
    assert len(FAMILIES) >= 14


def test_a_task_is_complete_and_survives_msgpack():
    [task] = generate(families=["expression"], levels=[5], count=1)
    assert task.id == "expression-l5-000000"
    assert task.family == "toolcall"
    assert task.verifier.kind == "answer"
    assert task.sandbox is not None
    assert (task.limits.max_steps, task.sandbox.memory_mb, task.sandbox.network) == (8, 512, "none")
    tasks = generate(levels=LEVELS, count=len(CELLS))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(tasks), type=list[Task]) == tasks


def test_ids_say_split_and_seed():
    [task] = generate(families=["gcd"], levels=[1], count=1, seed=3, split="heldout")
    assert task.id == "gcd-l1-heldout-s3-000000"
    assert task != generate(families=["gcd"], levels=[1], count=1, split="heldout")[0]


@pytest.mark.parametrize("family", FAMILIES)
def test_questions_are_well_formed_and_level_one_is_the_shortest(family):
    sizes = []
    for level in LEVELS:
        tasks = generate(families=[family], levels=[level], count=50)
        for task in tasks:
            assert re.fullmatch(r"[A-Z0-9x].*[.?}]", task.instruction, re.DOTALL), task.instruction
            assert "  " not in task.instruction
            assert task.instruction.isascii()
            assert str(task.verifier.options["answer"])
            if level == 1:
                assert len(re.findall(r"[A-Za-z]+|\d|[^\w\s]", task.instruction)) <= 36, task.instruction
                _imports, *program = task.metadata["solution"].splitlines()
                assert len(program) <= 1
        sizes.append(sum(len(task.instruction) + len(task.metadata["solution"]) for task in tasks) / len(tasks))
    assert sizes[0] < min(sizes[1:])
    assert max(sizes) > 1.2 * sizes[0]


def test_questions_come_in_several_wordings_where_they_are_short():
    openings = Counter(
        family
        for family in FAMILIES
        if len({t.instruction.split()[0] for t in generate(families=[family], levels=[1], count=40)}) > 1
    )
    assert len(openings) >= 12


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"families": ["sums"]}, "no family of problems 'sums'; there are: product, "),
        ({"levels": [6]}, "no level 6; there are 1 to 5"),
        ({"split": "test"}, "no split 'test'; there are: train, dev, heldout"),
        ({"count": 0}, "a count of at least 1"),
        ({"families": []}, "at least one family"),
        ({"families": ["roman"], "levels": [1], "count": 2_000}, "roman at level 1 has only about"),
    ],
)
def test_mistakes_are_told_in_one_line(options, message):
    with pytest.raises(UserError, match=message) as raised:
        generate(**options)
    assert "\n" not in str(raised.value)

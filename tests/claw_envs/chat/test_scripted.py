"""Scripted users: what they think, how they say it, and that a seed fixes it."""

import asyncio
from collections import Counter

import numpy as np
import pytest

from claw_envs.chat.env import scripted_user
from claw_envs.chat.personas import student, teacher
from claw_envs.chat.phrases import phrases
from claw_envs.chat.problems import load
from claw_envs.chat.scripted import Mix, make_mix
from claw_envs.chat.simulator import Reaction
from claw_envs.core.errors import UserError
from claw_envs.core.task import Task

BUS = next(task for task in load() if task.id == "student-wp-002")
WORK = next(task for task in load("teacher") if not task.metadata["right"])
NOTE = "18 - 6 = 12 people are still on the bus."
STEPS = "To find the number, let's subtract 6 from 18."


def react(task: Task, reply: str, seed: int, mix: Mix | None = None) -> Reaction:
    async def once() -> Reaction:
        user = scripted_user(task, mix)
        assert await user.open(task, rng=np.random.default_rng(seed)) == task.instruction
        return await user.react(reply)

    return asyncio.run(once())


@pytest.mark.parametrize(
    ("reply", "opinion"),
    [
        (NOTE, "content"),
        ("18 - 6 = 12, so 12.", "content"),
        ("18 + 6 = 24 people are on the bus.", "wrong"),
        ("There are 12 people on the bus.", "style"),  # no sum
        ("18 were on the bus and 6 got off, so 12 are left.", "content"),
        (STEPS + " 18 - 6 = 12", "style"),
        ("18 - 6 = **12** people", "style"),
        ("1. 18 - 6 = 12", "style"),
        ("Six get off.\n18 - 6 = 12", "style"),
        ("18 - 6 = 12. 12 = 12", "style"),
        ("It is \\(18 - 6 = 12\\).", "style"),
        ("18 - 6 = 12 people 🙂", "style"),
        ("Some people are left.", "style"),
        ("", "style"),
        ("on and " * 12 + "18 - 6 = 12.", "style"),
        ("people " * 16 + "18 - 6 = 12", "style"),  # 21 words without an end: cut off
        ("people " * 16 + "18 - 6 = 12.", "content"),
    ],
)
def test_what_the_student_thinks(reply: str, opinion: str) -> None:
    thought = student.opinion(reply, BUS)
    assert ("style" if not thought.style else "content" if thought.right else "wrong") == opinion


def test_the_student_sees_the_number_whatever_the_style() -> None:
    assert student.opinion("Let's go: 18 - 6 = 12", BUS) == (False, True)
    assert student.opinion("Let's go: 18 + 6 = 24", BUS) == (False, False)


@pytest.mark.parametrize(
    ("reply", "opinion"),
    [
        ("Good start, Jonas! You saw that 6 people get off the bus, now check 18 - 6 again.", "content"),
        ("You saw that 6 people get off the bus, now check 18 - 6 again, Jonas.", "style"),  # not warm
        ("Great job, keep it up, you are doing really very well!", "style"),  # not specific
        ("Great work.", "style"),
        ("Great!\n- You saw that 6 people get off the bus at the next stop.", "style"),
        ("", "style"),
    ],
)
def test_what_the_teacher_thinks(reply: str, opinion: str) -> None:
    task = next(task for task in load("teacher") if task.id == "teacher-wp-002")
    assert teacher.opinion(reply, task) == (opinion == "content", True)


def test_equal_seeds_react_alike_and_others_vary() -> None:
    reactions = [react(BUS, STEPS, seed) for seed in range(40)]
    assert reactions == [react(BUS, STEPS, seed) for seed in range(40)]
    assert len({reaction.text for reaction in reactions}) > 8


def test_a_discontent_student_shows_every_kind() -> None:
    kinds = Counter(react(BUS, STEPS, seed).kind for seed in range(200))
    assert set(kinds) == {"correction", "vague", "reask", "unrelated"}
    assert kinds["correction"] > kinds["reask"] + kinds["vague"] > kinds["unrelated"]


def test_a_content_student_thanks_or_changes_the_subject_and_leaves() -> None:
    reactions = [react(BUS, NOTE, seed) for seed in range(200)]
    assert {reaction.kind for reaction in reactions} == {"thanks", "unrelated"}
    assert all(reaction.content and reaction.done for reaction in reactions)


def test_a_wrong_number_that_is_noticed_is_told_with_the_right_one() -> None:
    for seed in range(50):
        for reply in ("18 + 6 = 24 people.", "Let's go step by step: 24."):
            reaction = react(BUS, reply, seed, Mix(notices=1.0))
            assert not reaction.content
            if reaction.kind in ("wrong", "correction"):
                assert reaction.text.endswith(("should be 12.", "key says 12."))
                assert not reaction.done
    assert react(BUS, "18 + 6 = 24 people.", 1, Mix(notices=1.0)).kind == "wrong"


def test_a_student_without_an_answer_key_judges_the_look_alone() -> None:
    reactions = [react(BUS, "18 + 6 = 24 people.", seed) for seed in range(50)]
    assert all(reaction.content for reaction in reactions)


@pytest.mark.parametrize("shares", [{"praise": 1.0}, {"notices": 1.5}, {"correction": 0.9, "vague": 0.9}])
def test_a_mix_that_makes_no_sense_is_a_users_mistake(shares: dict[str, float]) -> None:
    with pytest.raises(UserError, match="mix: "):
        make_mix(shares)


def test_a_right_number_is_not_told() -> None:
    texts = [react(BUS, STEPS + " That is 12.", seed, Mix(notices=1.0)).text for seed in range(50)]
    assert not any("should be" in text or "key says" in text for text in texts)


@pytest.mark.parametrize("task", [BUS, WORK])
def test_every_wording_is_filled_in(task: Task) -> None:
    texts = [react(task, reply, seed, Mix(notices=0.5)).text for reply in (STEPS, NOTE, "24") for seed in range(100)]
    assert not any("{" in text or "}" in text for text in texts)


def test_the_preference_is_never_said_up_front() -> None:
    said = {line for sayings in (phrases().student, phrases().teacher) for line in sayings.correction}
    for task in load("student:train") + load("teacher:train"):
        assert not any(word in task.instruction.lower() for word in ("short", "plain", "steps", "warm", "kind"))
        assert task.instruction not in said


@pytest.mark.parametrize("persona", ["student", "teacher"])
@pytest.mark.parametrize("kind", ["thanks", "reask", "vague", "correction", "unrelated"])
def test_users_do_not_always_say_the_same(persona: str, kind: str) -> None:
    lines: list[str] = getattr(getattr(phrases(), persona), kind)
    bare = {"".join(char for char in line.lower() if char.isalnum()) for line in lines}
    assert len(bare) == len(lines) >= 8


def test_every_correction_of_the_student_asks_for_one_sentence_with_the_sum() -> None:
    for line in phrases().student.correction:
        assert any(form in line for form in ("sentence", "line")), line
        assert "sum" in line

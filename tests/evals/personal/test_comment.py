"""The teacher's scorer on comments that a teacher would and would not write."""

import msgspec
import pytest

from claw_envs.core.tasksets import load_tasks
from evals.personal.comment import comment_score, faults

LOADED = load_tasks("chat", "teacher:heldout")[0]
ABOUT = {"question": "A box holds 6 pencils. How many pencils are in 4 boxes?", "name": "Nia", "answer": 24.0}
RIGHT = msgspec.structs.replace(LOADED, metadata=ABOUT | {"work": "6 pencils times 4 boxes is 24", "right": True})
WRONG = msgspec.structs.replace(LOADED, metadata=ABOUT | {"work": "6 pencils and 4 boxes is 10", "right": False})


def test_the_fields_that_it_reads_are_those_of_the_task_set() -> None:
    assert {"question", "name", "work", "right"} <= LOADED.metadata.keys()


@pytest.mark.parametrize(
    ("reply", "broken"),
    [
        ("Well done, Nia! You saw that 4 boxes of pencils means multiplying, and 24 is correct.", []),
        ("Great effort today, you worked hard and it really shows in everything.", ["general"]),
        ("Your 24 pencils in 4 boxes: that number came out as it was expected to.", ["cold"]),
        ("Nice try, but 24 pencils for 4 boxes is wrong, so look at your sum again.", ["untrue"]),
        ("**Well done!** You multiplied 6 pencils by 4 boxes and got 24.", ["form"]),
        ("Correct.", ["cold", "impersonal", "general", "form"]),
    ],
)
def test_comments_on_right_work(reply: str, broken: list[str]) -> None:
    assert faults(reply, RIGHT) == broken
    assert comment_score(reply, RIGHT) == 1 - 0.25 * len(broken)


def test_wrong_work_must_not_be_called_right() -> None:
    kind = "You are so close, Nia! 6 pencils in each of the 4 boxes is not quite 10: try adding 6 four times."
    assert faults(kind, WRONG) == []
    assert faults("Great, Nia! Your 10 pencils in 4 boxes is correct, keep it up.", WRONG) == ["untrue"]
    assert faults("Good thinking, but your 10 pencils for 4 boxes are not correct yet: try again.", WRONG) == []


@pytest.mark.parametrize(
    ("reply", "finish"), [("", "stop"), ("  \n", "stop"), ("Well done, Nia! You saw that", "length")]
)
def test_what_is_no_comment_scores_nothing(reply: str, finish: str) -> None:
    assert comment_score(reply, RIGHT, finish_reason=finish) == 0.0

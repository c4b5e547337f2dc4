"""The benchmark `personal` and the call that a trainer makes, with policies of plain code and the real environment."""

import asyncio
import math
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, cast

import pytest

from claw_envs.core.episode import Episode, Status
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.tasksets import load_tasks
from evals.benchmark import Scored
from evals.personal.evaluate import PersonalOptions, benchmark, evaluate, perplexity
from evals.personal.hinted import HINTS
from trainers.policies.base import Completion, Prompt, Sampling
from trainers.policies.render import HINT_HEADING

TASKS = {task.metadata["question"]: task for task in load_tasks("chat", "heldout")}


class Pupil:
    """Writes a quick note that is right, or unless it is told the preference, a walk-through that is cut off."""

    version = 0

    def __init__(self, *, notes: int) -> None:
        """
        Args:
            notes: how many of the first problems are answered by a note.
        """
        self._noted = list(TASKS)[:notes]
        self.scored: list[Prompt] = []

    async def generate(self, prompt: Prompt, sampling: Sampling, *, tools: Any = None) -> Completion:
        said = str(prompt[-1]["content"])  # type: ignore[index]
        question = next(question for question in TASKS if question in said)
        if question in self._noted or HINT_HEADING in said:
            text, ids, finish = f"The answer is {TASKS[question].metadata['answer']:g}.", [3, 4], "stop"
        else:
            text, ids, finish = "To find it, let's break it down.\n\n1. **First**, we", [5, 6, 7, 8], "length"
        return Completion([1], ids, [-1.0] * len(ids), [0] * len(ids), finish, text)

    async def score(self, prompt: Prompt, response_ids: Sequence[int]) -> list[float]:
        self.scored.append(prompt)
        return [-0.5 if len(response_ids) == 2 else -2.0] * len(response_ids)

    async def update_weights(self, state: Mapping[str, Any], version: int) -> None:
        raise NotImplementedError("plain code has no weights")

    async def aclose(self) -> None:
        """Nothing to release."""


class Gone(Pupil):
    """An engine that is not there."""

    async def generate(self, prompt: Prompt, sampling: Sampling, *, tools: Any = None) -> Completion:
        raise InfrastructureError("the engine is gone")


def test_all_36_problems_and_every_figure() -> None:
    pupil = Pupil(notes=27)
    figures = asyncio.run(evaluate(pupil, reference=pupil))
    assert figures["score"] == figures["correctness"] == 0.75
    assert figures["cutoff"] == 0.25
    assert figures["empty"] == 0.0
    assert figures["words"] == (27 * 4 + 9 * 10) / 36
    assert figures["score_low"] < 0.75 < figures["score_high"]
    assert figures["perplexity"] == pytest.approx(math.exp((27 * 2 * 0.5 + 9 * 4 * 2.0) / (27 * 2 + 9 * 4)))
    assert len(pupil.scored) == 36
    assert all(HINTS["student"] in prompt[-1]["content"] for prompt in pupil.scored)  # type: ignore[index]


def test_without_a_reference_there_is_no_perplexity() -> None:
    assert "perplexity" not in asyncio.run(evaluate(Pupil(notes=2), limit=4))


def test_a_policy_that_is_told_the_preference() -> None:
    figures = asyncio.run(evaluate(Pupil(notes=0), hinted=True, limit=4))
    assert figures["score"] == 1.0


def test_the_teacher_is_scored_by_the_comment() -> None:
    teacher = benchmark(None, PersonalOptions(persona="teacher"))
    assert len(teacher.tasks) == 36
    assert all(task.metadata["persona"] == "teacher" for task in teacher.tasks)
    figures = asyncio.run(evaluate(Pupil(notes=36), persona="teacher", limit=4))
    assert 0.0 <= figures["score"] < 1.0
    assert "correctness" not in figures


def test_an_engine_that_is_gone_gives_no_score() -> None:
    with pytest.raises(InfrastructureError, match="no episode could be scored: the engine is gone"):
        asyncio.run(evaluate(Gone(notes=0), limit=2))


def test_an_unknown_persona_is_refused() -> None:
    with pytest.raises(UserError, match="no persona 'pupil'"):
        asyncio.run(evaluate(Pupil(notes=0), persona="pupil"))


def test_perplexity_weighs_tokens_not_answers() -> None:
    assert perplexity([0.0, math.log(8)], [1, 2]) == pytest.approx(4.0)


@pytest.mark.parametrize("persona", ["student", "teacher"])
def test_an_episode_that_left_no_room_for_an_answer_scores_0(persona: str) -> None:
    ours = benchmark(None, PersonalOptions(persona=persona), reference=Pupil(notes=0))
    task = ours.tasks[0]
    silent = Episode(id="e", task_id=task.id, family="chat", status=Status.TRUNCATED, outcome=0.0)
    scored = asyncio.run(cast(Coroutine[Any, Any, Scored], ours.score(silent, task)))
    assert scored.score == 0.0
    assert (scored.metrics["words"], scored.metrics["empty"]) == (0.0, 1.0)
    assert "nll" not in scored.metrics

"""Judged conversations made by hand, and what OpenRLHF is handed of them."""

from collections.abc import Sequence
from typing import Any

import torch

from claw_envs.core.episode import Episode, Status, Turn, Verdict
from tests.trainers.openrlhf.parts import maker_of, taken
from trainers.config import Config
from trainers.openrlhf.executor import response_of
from trainers.policies.render import Renderer

NAN = float("nan")


def turn(step: int, prompt: Sequence[int], response: Sequence[int], verdict: Verdict | None = None) -> Turn:
    return Turn(
        episode_id="e",
        step=step,
        messages=[{"role": "user", "content": f"Question {step}?"}],
        response="",
        prompt_ids=list(prompt),
        response_ids=list(response),
        logprobs=[-1.0 - token / 1000 for token in response],
        versions=[0] * len(response),
        verdict=verdict or Verdict(score=0.0),
    )


def episode(
    scores: Sequence[float | Verdict | None], *, outcome: float | None = 0.0, status: Status = Status.COMPLETED
) -> Episode:
    """One conversation; the turn at step i says i + 1 tokens. None is an abstention."""
    ids, turns = [5, 6, 7], []
    for step, score in enumerate(scores):
        verdict = score if isinstance(score, Verdict) else Verdict(score=score, status="ok" if score else "abstained")
        turns.append(turn(step, ids, range(10 * step + 20, 11 * step + 21), verdict))
        ids = [*ids, *turns[-1].response_ids, 8, 9]
    return Episode(id="e", task_id="t", family="chat", turns=turns, outcome=outcome, status=status)


def experiences(config: Config, tiny: tuple[Any, Any], episodes: Sequence[Episode], **options: Any) -> list[Any]:
    scored = config.loss.importance_cap is not None
    samples = [taken(response_of(each, config, Renderer(tiny[1]), logprobs=scored)) for each in episodes]
    made: list[Any] = maker_of(config, tiny, **options).make_experience_batch(samples)
    return made


def by_row(made: Sequence[Any], name: str) -> list[torch.Tensor]:
    """A field's rows, in the order in which the maker made them."""
    rows = {i: getattr(each, name)[row] for each in made for row, i in enumerate(each.index)}
    return [rows[i] for i in range(len(rows))]


def on_tokens(made: Sequence[Any], row: int, turns: Sequence[Turn]) -> list[list[float]]:
    """Advantages on the tokens of a row that OpenRLHF has as trained, NaN where it does not, by turn."""
    values, mask = by_row(made, "advantages")[row], by_row(made, "action_mask")[row].bool()
    assert not values[~mask].any()
    columns = torch.where(mask, values, torch.full_like(values, NAN)).tolist()
    return [columns[len(each.prompt_ids) - 1 :][: len(each.response_ids)] for each in turns]

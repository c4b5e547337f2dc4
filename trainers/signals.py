"""From judged episodes to advantages: looks up each signal's inputs and calls the pure function for it.

Every trainer gets its values here, one array a turn, and lays them on its own rows.
"""

from collections.abc import Sequence as Seq
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from claw_envs.core.episode import Episode, Status, Turn, Verdict
from trainers import advantages
from trainers.config import Config
from trainers.learner import Learner, Lesson
from trainers.policies.render import Renderer, with_hint
from trainers.sequences import Sequence, build
from trainers.store import Unit

Floats = NDArray[np.float64]


def trainable(turn: Turn, config: Config) -> bool:
    """Whether a judged turn carries a turn-level signal: a nonzero score, a hint, or either, by the signal's needs."""
    verdict = turn.verdict
    if verdict is None or not turn.response_ids:
        return False
    scored, hinted = bool(verdict.score), bool(verdict.hint)
    return {"binary": scored, "opd": hinted, "combined": scored or hinted}[config.signal]


def to_sequences(units: Seq[Unit], config: Config, learner: Learner, renderer: Renderer) -> list[Sequence]:
    """What the bundled trainer trains on.

    Args:
        units: one batch.
        config: names the signal.
        learner: scores the responses under the prompts with the hint, where the signal distils.
        renderer: makes those prompts.
    """
    episodes = [episode for unit in units for episode in unit.episodes]
    if config.grouped:
        episodes = [episode for episode in episodes if compared(episode)]
        values = group_values(episodes, config)
        return [
            sequence
            for episode, arrays in zip(episodes, values, strict=True)
            for sequence in build(episode.turns, arrays)
        ]
    turns = [turn for episode in episodes for turn in episode.turns]
    lessons = _taught(turns, config, learner, renderer)
    return [
        sequence
        for turn, lesson in zip(turns, lessons, strict=True)
        for sequence in build([turn], [turn_value(turn, lesson, config)])
    ]


def compared(episode: Episode) -> bool:
    """Whether an episode is compared with others of its group."""
    return episode.status is not Status.ABORTED and bool(episode.turns)


def group_values(episodes: list[Episode], config: Config) -> list[list[Floats]]:
    """The grouped signals.

    Args:
        episodes: whole groups; each must be `compared`.
        config: names the signal.

    Returns:
        For each episode one array a turn, with a value for each response token; NaN where it must not train.
    """
    if config.signal == "step_index":
        groups = [episode.group_id for episode in episodes for _ in episode.turns]
        steps = [turn.step for episode in episodes for turn in episode.turns]
        rewards = np.concatenate([step_rewards(episode, config) for episode in episodes] or [np.zeros(0)])
        values = advantages.step_index(groups, steps, rewards)
    else:
        estimator = {
            "grpo": advantages.grpo,
            "rloo": advantages.rloo,
            "reinforce_baseline": advantages.reinforce_baseline,
        }[config.signal]
        whole = estimator([episode.group_id for episode in episodes], [_outcome(episode) for episode in episodes])
        values = advantages.spread(whole, [len(episode.turns) for episode in episodes])
    of_turns = iter(values)
    return [
        [advantages.spread([next(of_turns)], [len(turn.response_ids)]) for turn in episode.turns]
        for episode in episodes
    ]


def turn_value(turn: Turn, lesson: Lesson | None, config: Config) -> Floats:
    """A turn-level signal of one turn that is `trainable`.

    Args:
        turn: `turn.logprobs` are the old log-probs of the distilled advantage.
        lesson: what the teacher thinks of the response; None where there is no hint, or the signal does not distil.
        config: names the signal.

    Returns:
        A value for each response token.
    """
    score = (turn.verdict.score if turn.verdict else None) or 0.0
    if config.signal == "binary":
        return advantages.binary(score, len(turn.response_ids))
    weights = config.weights
    distilled = np.zeros(len(turn.response_ids))
    if lesson is not None:
        baseline = lesson.divergence if weights.opd_baseline else None
        clip = weights.opd_clip or None
        distilled = advantages.opd(lesson.logprobs, turn.logprobs, divergence=baseline, clip=clip)
    if config.signal == "opd":
        return distilled
    return advantages.combined(score, distilled, binary_weight=weights.binary, opd_weight=weights.opd)


def hinted_prompt(turn: Turn, config: Config, renderer: Renderer) -> list[int]:
    """Ids of the turn's prompt with the judge's hint; empty where there is none, or the signal does not distil."""
    if config.signal not in ("opd", "combined") or turn.verdict is None or not turn.verdict.hint:
        return []
    return renderer.prompt_ids(with_hint(turn.shown or turn.messages, turn.verdict.hint), tools=turn.tools)


def process_reward(verdict: Verdict | None) -> float | None:
    """Mean of the votes that could be read; None for an abstention, NaN for a judge that could not be asked."""
    if verdict is None or verdict.status == "failed":
        return float("nan")
    votes = [vote for vote in verdict.votes if vote is not None]
    return fmean(votes) if votes else verdict.score


def step_rewards(episode: Episode, config: Config) -> Floats:
    """R of each turn, by `advantages.step_rewards`."""
    scores = [process_reward(turn.verdict) for turn in episode.turns]
    return advantages.step_rewards(_outcome(episode), scores, process_weight=config.judge.process_weight)


def _taught(turns: list[Turn], config: Config, learner: Learner, renderer: Renderer) -> list[Lesson | None]:
    """What the learner's teacher thinks of each turn; None where it has no hint or the signal does not distil."""
    hinted = [hinted_prompt(turn, config, renderer) for turn in turns]
    rows = [(turn.prompt_ids, ids, turn.response_ids) for turn, ids in zip(turns, hinted, strict=True) if ids]
    lessons = iter(learner.teach(rows, reference=config.teacher == "reference") if rows else [])
    return [next(lessons) if ids else None for ids in hinted]


def _outcome(episode: Episode) -> float:
    return float("nan") if episode.outcome is None else episode.outcome

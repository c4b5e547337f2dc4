"""From accepted units to training sequences: looks up each signal's inputs and calls the pure function for it."""

from collections.abc import Sequence as Seq
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from claw_envs.core.episode import Episode, Status, Turn, Verdict
from trainers import advantages
from trainers.config import Config
from trainers.learner import Learner
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
    """
    Args:
        units: one batch.
        config: names the signal.
        learner: scores the responses under the prompts with the hint, where the signal distils.
        renderer: makes those prompts.
    """
    if config.grouped:
        return _grouped([episode for unit in units for episode in unit.episodes], config)
    turns = [turn for unit in units for episode in unit.episodes for turn in episode.turns]
    distilled = _distilled(turns, config, learner, renderer)
    sequences = []
    for turn, opd in zip(turns, distilled, strict=True):
        score = (turn.verdict.score if turn.verdict else None) or 0.0
        if config.signal == "binary":
            values = advantages.binary(score, len(turn.response_ids))
        elif config.signal == "opd":
            values = opd
        else:
            weights = config.weights
            values = advantages.combined(score, opd, binary_weight=weights.binary, opd_weight=weights.opd)
        sequences += build([turn], [values])
    return sequences


def _distilled(turns: list[Turn], config: Config, learner: Learner, renderer: Renderer) -> list[Floats]:
    """OPD advantages; zeros where a turn has no hint or the signal does not distil."""
    values = [np.zeros(len(turn.response_ids)) for turn in turns]
    if config.signal == "binary":
        return values
    hinted = [(i, turn, turn.verdict.hint) for i, turn in enumerate(turns) if turn.verdict and turn.verdict.hint]
    rows = [
        (turn.prompt_ids, renderer.prompt_ids(with_hint(turn.messages, hint), tools=turn.tools), turn.response_ids)
        for _, turn, hint in hinted
    ]
    lessons = learner.teach(rows, reference=config.teacher == "reference")
    for (i, turn, _), lesson in zip(hinted, lessons, strict=True):
        baseline = lesson.divergence if config.weights.opd_baseline else None
        clip = config.weights.opd_clip or None
        values[i] = advantages.opd(lesson.logprobs, turn.logprobs, divergence=baseline, clip=clip)
    return values


def _grouped(episodes: list[Episode], config: Config) -> list[Sequence]:
    episodes = [episode for episode in episodes if episode.status is not Status.ABORTED and episode.turns]
    groups = [episode.group_id for episode in episodes for _ in episode.turns]
    steps = [turn.step for episode in episodes for turn in episode.turns]
    if config.signal == "step_index":
        rewards = np.concatenate([_step_rewards(episode, config) for episode in episodes] or [np.zeros(0)])
        values = advantages.step_index(groups, steps, rewards)
    else:
        estimator = {
            "grpo": advantages.grpo,
            "rloo": advantages.rloo,
            "reinforce_baseline": advantages.reinforce_baseline,
        }[config.signal]
        outcomes = [_outcome(episode) for episode in episodes]
        whole = estimator([episode.group_id for episode in episodes], outcomes)
        values = advantages.spread(whole, [len(episode.turns) for episode in episodes])
    sequences, start = [], 0
    for episode in episodes:
        part = values[start : start + len(episode.turns)]
        start += len(episode.turns)
        tokens = [
            advantages.spread([value], [len(turn.response_ids)])
            for value, turn in zip(part, episode.turns, strict=True)
        ]
        sequences += build(episode.turns, tokens)
    return sequences


def _outcome(episode: Episode) -> float:
    return float("nan") if episode.outcome is None else episode.outcome


def process_reward(verdict: Verdict | None) -> float | None:
    """Mean of the votes that could be read; None for an abstention, NaN for a judge that could not be asked."""
    if verdict is None or verdict.status == "failed":
        return float("nan")
    votes = [vote for vote in verdict.votes if vote is not None]
    return fmean(votes) if votes else verdict.score


def _step_rewards(episode: Episode, config: Config) -> Floats:
    scores = [process_reward(turn.verdict) for turn in episode.turns]
    return advantages.step_rewards(_outcome(episode), scores, process_weight=config.judge.process_weight)

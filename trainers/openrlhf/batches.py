"""What is kept of each batch in the run directory: a row of figures, and where asked for the batch itself.

`batches.csv` has a row a batch, in order; a resumed run repeats the batches since its last checkpoint, which stand
there again. `batches/<n>.npz` holds what the advantages can be recomputed from, and the rows as handed to OpenRLHF.
"""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from claw_envs.core.episode import Status
from trainers.config import Config
from trainers.openrlhf.records import Record, reward_of
from trainers.openrlhf.rows import Owner, turns_of
from trainers.openrlhf.values import Values
from trainers.signals import process_reward


class BatchLog:
    """Written by the one experience maker of a run."""

    def __init__(self, run: Path, config: Config) -> None:
        """
        Args:
            run: directory of the run; made if missing.
            config: `cluster.dump` keeps the batches themselves.
        """
        self.config = config
        run.mkdir(parents=True, exist_ok=True)
        self._csv, self._dumps = run / "batches.csv", run / "batches"
        self.written = max(0, len(self._csv.read_text().splitlines()) - 1) if self._csv.exists() else 0
        """Batches so far, those before a restart included."""

    def figures(self, records: list[Record], values: Values, *, rows: int) -> dict[str, float]:
        """Of a batch. Aborted episodes are counted, and are in no other figure."""
        whole = [i for i, record in enumerate(records) if record.episode.status is not Status.ABORTED]
        tokens = [array for i in whole for array in values.advantages[i]]
        trained = sum(int(np.isfinite(array).sum()) for array in tokens)
        episodes = [records[i].episode for i in whole]
        outcomes = [episode.outcome for episode in episodes if episode.outcome is not None]
        turns = [turn for episode in episodes for turn in episode.turns]
        scores = [turn.verdict.score for turn in turns if turn.verdict and turn.verdict.score is not None]
        rewards = [
            reward for episode in episodes if (reward := reward_of(episode, grouped=self.config.grouped)) is not None
        ]
        return {
            "reward": float(np.mean(rewards)) if rewards else 0.0,
            "episodes": float(len(whole)),
            "aborted": float(len(records) - len(whole)),
            "outcome": float(np.mean(outcomes)) if outcomes else 0.0,
            "score": float(np.mean(scores)) if scores else 0.0,
            "turns": float(len(turns)),
            "rows": float(rows),
            "trained_tokens": float(trained),
            "dropped_tokens": float(sum(map(len, tokens)) - trained),
        }

    def write(
        self,
        figures: dict[str, float],
        experiences: list[Any],
        owners: list[Owner | None],
        records: list[Record],
        values: Values,
    ) -> None:
        """Append the figures; keep the batch where asked for."""
        begun = self._csv.exists()
        with self._csv.open("a", newline="") as file:
            writer = csv.writer(file)
            if not begun:
                writer.writerow(["batch", *figures])
            writer.writerow([self.written + 1, *(f"{figure:g}" for figure in figures.values())])
        self.written += 1
        if self.config.cluster.dump:
            self._dumps.mkdir(exist_ok=True)
            arrays = _of_turns(owners, records) | _of_rows(experiences)
            arrays["teacher_log_probs"] = _of_teacher(owners, records, values, arrays["advantages"].shape)
            np.savez_compressed(self._dumps / f"{self.written}.npz", **arrays)  # type: ignore[arg-type]


def _of_turns(owners: list[Owner | None], records: list[Record]) -> dict[str, NDArray[Any]]:
    """One entry a turn. A process reward is NaN where the judge could not be asked, and `abstained` tells the rest."""
    rows = [(row, owner) for row, owner in enumerate(owners) if owner is not None]
    turns = [
        (row, owner.record, start, turn, records[owner.record].episode)
        for row, owner in rows
        for _, turn, start in turns_of(records[owner.record], owner.sequence)
    ]
    process = [process_reward(turn.verdict) for _, _, _, turn, _ in turns]
    return {
        "turn_row": np.array([row for row, *_ in turns], np.int64),
        "turn_start": np.array([start for _, _, start, _, _ in turns], np.int64),
        "turn_tokens": np.array([len(turn.response_ids) for _, _, _, turn, _ in turns], np.int64),
        "turn_episode": np.array([record for _, record, *_ in turns], np.int64),
        "turn_group": np.array([episode.group_id for *_, episode in turns], np.str_),
        "turn_step": np.array([turn.step for _, _, _, turn, _ in turns], np.int64),
        "turn_outcome": np.array([episode.outcome for *_, episode in turns], np.float64),
        "turn_score": np.array([turn.verdict and turn.verdict.score for _, _, _, turn, _ in turns], np.float64),
        "turn_process": np.array(process, np.float64),
        "turn_abstained": np.array([reward is None for reward in process], np.bool_),
    }


def _of_rows(experiences: list[Any]) -> dict[str, NDArray[Any]]:
    """One line a row, in the order of `index`, padded with 0; column c of all but `sequences` is token c + 1."""
    order = np.argsort([index for experience in experiences for index in experience.index])
    width = max(experience.sequences.shape[1] for experience in experiences)
    tables = {}
    names = ("sequences", "action_mask", "advantages", "action_log_probs", "base_action_log_probs", "rollout_log_probs")
    for name in names:
        columns = width if name == "sequences" else width - 1
        parts = [getattr(experience, name) for experience in experiences]
        if parts[0] is None:  # a run without a reference, or without correction of stale tokens
            continue
        padded = [torch.nn.functional.pad(part, (0, columns - part.shape[1])) for part in parts]
        tables[name] = torch.cat(padded).numpy()[order]
    return tables


def _of_teacher(
    owners: list[Owner | None], records: list[Record], values: Values, shape: tuple[int, ...]
) -> NDArray[np.float32]:
    """The teacher's log-probs where it read, else NaN; columns as above."""
    table = np.full(shape, np.nan, np.float32)
    for row, owner in enumerate(owners):
        if owner is None:
            continue
        for number, turn, start in turns_of(records[owner.record], owner.sequence):
            if lesson := values.lessons.get((owner.record, number)):
                table[row, start - 1 : start - 1 + len(turn.response_ids)] = lesson.logprobs
    return table

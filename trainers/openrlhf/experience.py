"""Our experience maker in place of OpenRLHF's own: step-index, binary, distilled and combined advantages.

OpenRLHF's forward passes, padding and bookkeeping stay as they are. A run has no critic and no reward model, and
nothing is normalised besides what the signal says. OpenRLHF's rows are whole conversations, so where the loss is a mean
over sequences, a turn-level signal's sequence is the conversation and not the turn.
"""

from math import lcm
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from openrlhf.trainer.ppo_utils.experience_maker import RemoteExperienceMaker

from claw_envs.core.errors import UserError
from trainers.openrlhf.batches import BatchLog
from trainers.openrlhf.records import KEY, Record, unpack
from trainers.openrlhf.rows import Rows, make_rows
from trainers.openrlhf.settings import from_environment
from trainers.openrlhf.teachers import ask_engine, read_by, shards
from trainers.openrlhf.values import Reading, lay_on, remember_old, values_of
from trainers.openrlhf.vision import Pictures


class ClawExperienceMaker(RemoteExperienceMaker):  # type: ignore[misc]
    """From rollout samples to experiences; its three steps are called in turn, one batch at a time."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """
        Raises:
            UserError: in a process that `claw train` did not start.
        """
        super().__init__(*args, **kwargs)
        self.config, run = from_environment()
        self.log = BatchLog(run, self.config)
        self._records: list[Record] = []
        self._rows = Rows([], [])
        self._pictures = Pictures(self.tokenizer, [], [])

    def split_rollout_samples(self, rollout_samples: list[Any]) -> list[Any]:
        """Take the records off the samples, add rows for further sequences, and fill up the batch.

        Attempts at one task follow each other in `rollout_samples`, which is what makes a group.
        """
        size = self.args.rollout.n_samples_per_prompt
        self._records = [unpack(sample.info.pop(KEY)[0].tolist()) for sample in rollout_samples]
        for number, record in enumerate(self._records):
            record.episode.group_id, record.episode.sample_index = str(number // size), number % size
        self._pictures = Pictures(self.tokenizer, rollout_samples, self._records)
        self._rows = make_rows(rollout_samples, self._records, multiple=self._multiple())
        self._pictures.put_on(self._rows)
        return list(super().split_rollout_samples(self._rows.samples))

    @torch.no_grad()
    def compute_advantages_and_returns(self, experiences: list[Any]) -> list[Any]:
        """Put the signal's values on the tokens; what has none is left out of the action mask."""
        records, owners = self._records, self._rows.owners
        for experience in experiences:
            remember_old(experience, owners, records)
        firsts = [sample.sequences[0].tolist() for sample in self._rows.samples[: len(records)]]
        values = values_of(records, firsts, self.config, self._teach)
        figures = self.log.figures(records, values, rows=len(owners))
        for experience in experiences:
            lay_on(experience, owners, records, values)
            experience.kl = None
            rows = len(experience.index)
            experience.info["return"] = experience.rewards.float()
            experience.info |= {f"claw_{name}": torch.full((rows,), figure) for name, figure in figures.items()}
        self.log.write(figures, experiences, owners, records, values)
        self._pictures = Pictures(self.tokenizer, [], [])  # as large as the batch, which has its own by now
        return experiences

    def _teach(self, readings: list[Reading]) -> list[NDArray[np.float32] | None]:
        if self.config.cluster.teacher and self._pictures.given:
            raise UserError("cluster.teacher is shown no images: leave it empty, so that the model reads the hints")
        if self.config.cluster.teacher:
            return ask_engine(self.config.cluster.teacher, readings)
        group = self.initial_model_group if self.config.teacher == "reference" else self.actor_model_group
        return read_by(self, group, readings, self._pictures)

    def _multiple(self) -> int:
        """Rows are whole optimizer steps, and every process of a model computes as many micro-batches as the others."""
        groups = [group for group in (self.actor_model_group, self.initial_model_group) if group is not None]
        size = self.args.rollout.micro_batch_size
        return lcm(self.args.train.batch_size, *(size * shards(group) for group in groups))

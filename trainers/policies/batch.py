"""The computations of the embedded engine on its one model: prefill, one decode step, scoring. No threads here."""

import random
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch

from trainers.policies.base import Sampling
from trainers.policies.sampling import draw
from trainers.policies.slots import SlotCache


class Sampled(NamedTuple):
    """What one request got."""

    ids: list[int]
    logprobs: list[float]
    versions: list[int]
    finish_reason: str


@dataclass(eq=False)
class Row:
    """One request on its way through the batch."""

    prompt_ids: list[int]
    sampling: Sampling
    future: Future[Sampled]
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    versions: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.generator = random.Random(self.sampling.seed)

    @property
    def stored(self) -> int:
        """Positions whose keys and values are in the cache: all but the latest token's."""
        return len(self.prompt_ids) + len(self.ids) - 1


class ScoreItem(NamedTuple):
    """Ids, the last `scored` of which are to be scored."""

    ids: list[int]
    scored: int
    future: Future[list[float]]


class Batch:
    """The rows that are being decoded; a row leaves when it is finished or its future was cancelled."""

    def __init__(self, model: Any, *, end_ids: set[int], context: int) -> None:
        """
        Args:
            model: a transformers causal language model.
            end_ids: tokens that end a response.
            context: longest prompt and response together, in tokens.
        """
        self._model = model
        self._end_ids = end_ids
        self._context = context
        self._cache = SlotCache()
        self.rows: list[Row] = []

    def join(self, joining: Sequence[Row], version: int) -> None:
        """Prefill new rows, each distinct prompt once, and sample their first tokens."""
        prompts = list(dict.fromkeys(tuple(row.prompt_ids) for row in joining))
        lengths = [len(prompt) for prompt in prompts]
        ends = sorted({length - 1 for length in lengths})
        # Padding stands to the right, where causal attention never looks: no mask is needed.
        output = self._model(_padded(prompts, self._model.device), use_cache=True, logits_to_keep=_tensor(ends))
        logits = {p: output.logits[i, ends.index(len(p) - 1)] for i, p in enumerate(prompts)}
        cache = output.cache
        self._sample(joining, torch.stack([logits[tuple(row.prompt_ids)] for row in joining]), version)
        for row in joining:
            if reason := self._ended(row):
                _answer(row, reason)
            else:
                index = prompts.index(tuple(row.prompt_ids))
                self._cache.store(len(self.rows), cache, index, lengths[index])
                self.rows.append(row)

    def step(self, version: int) -> None:
        """One token for every row."""
        device = self._model.device
        positions = _tensor([row.stored for row in self.rows]).to(device)
        latest = _tensor([[row.ids[-1]] for row in self.rows]).to(device)
        mask = self._cache.place(positions)
        output = self._model(latest, position_ids=positions[:, None], attention_mask=mask, cache=self._cache)
        self._sample(self.rows, output.logits[:, -1], version)
        self.drop_finished()

    def drop_finished(self) -> None:
        """Answer finished rows and close the gaps that they and cancelled ones leave."""
        for slot in reversed(range(len(self.rows))):
            row = self.rows[slot]
            reason = self._ended(row)
            if not (reason or row.future.cancelled()):
                continue
            last = self.rows.pop()
            if last is not row:
                self._cache.move(len(self.rows), slot, last.stored)
                self.rows[slot] = last
            if reason:
                _answer(row, reason)

    def _sample(self, rows: Sequence[Row], logits: torch.Tensor, version: int) -> None:
        tokens, logprobs = draw(logits, [row.sampling for row in rows], [row.generator.random() for row in rows])
        for row, token, logprob in zip(rows, tokens, logprobs, strict=True):
            row.ids.append(token)
            row.logprobs.append(logprob)
            row.versions.append(version)

    def _ended(self, row: Row) -> str | None:
        if row.ids[-1] in self._end_ids:
            return "stop"
        full = len(row.ids) >= row.sampling.max_new_tokens or len(row.prompt_ids) + len(row.ids) >= self._context
        return "length" if full else None


def _answer(row: Row, reason: str) -> None:
    if row.future.set_running_or_notify_cancel():
        row.future.set_result(Sampled(row.ids, row.logprobs, row.versions, reason))


def score_items(model: Any, items: Sequence[ScoreItem]) -> list[list[float]]:
    """Natural-log probabilities of the last `scored` ids of every item; only their positions pass the output layer."""
    inputs = [item.ids[:-1] for item in items]  # nothing follows the last token
    wanted = [range(len(ids) - item.scored, len(ids)) for ids, item in zip(inputs, items, strict=True)]
    kept = sorted(set().union(*wanted))
    place = {position: i for i, position in enumerate(kept)}
    logits = model(_padded(inputs, model.device), logits_to_keep=_tensor(kept), use_cache=False).logits.float()
    results = []
    for row, (item, positions) in enumerate(zip(items, wanted, strict=True)):
        own = logits[row, [place[position] for position in positions]]
        targets = _tensor(item.ids[-item.scored :]).to(own.device)
        results.append((own.gather(-1, targets[:, None])[:, 0] - own.logsumexp(dim=-1)).tolist())
    return results


def _padded(sequences: Sequence[Sequence[int]], device: Any) -> torch.Tensor:
    longest = max(map(len, sequences))
    return _tensor([[*ids, *[0] * (longest - len(ids))] for ids in sequences]).to(device)


def _tensor(values: Any) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.long)

"""The running batch of the embedded engine: prefill, decode steps, weight installation. No threads here."""

import random
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from transformers import DynamicCache

from trainers.policies.base import Sampling
from trainers.policies.linear import serve_weights
from trainers.policies.prefixes import Layers, PrefixCache
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


class Batch:
    """The rows that are being decoded; a row leaves when it is finished or its future was cancelled."""

    def __init__(self, model: Any, *, end_ids: set[int], context: int, prefix_tokens: int) -> None:
        """
        Args:
            model: a transformers causal language model.
            end_ids: tokens that end a response.
            context: longest prompt and response together, in tokens.
            prefix_tokens: bound of the prefix cache.
        """
        self._model = model
        self._end_ids = end_ids
        self._context = context
        self._slots = SlotCache()
        self._prefixes = PrefixCache(tokens=prefix_tokens)
        self.rows: list[Row] = []

    def join(self, joining: Sequence[Row], version: int) -> None:
        """Prefill new rows, each distinct prompt once, and sample their first tokens."""
        prompts = dict.fromkeys(tuple(row.prompt_ids) for row in joining)
        computed = {prompt: self._prefill(prompt) for prompt in prompts}
        self._sample(joining, torch.stack([computed[tuple(row.prompt_ids)][1] for row in joining]), version)
        for row in joining:
            if reason := self._ended(row):
                _answer(row, reason)
            else:
                self._slots.store(len(self.rows), computed[tuple(row.prompt_ids)][0])
                self.rows.append(row)

    def step(self, version: int) -> None:
        """One token for every row."""
        device = self._model.device
        positions = torch.tensor([row.stored for row in self.rows], device=device)
        latest = torch.tensor([[row.ids[-1]] for row in self.rows], device=device)
        mask = self._slots.place(positions)
        output = self._model(latest, position_ids=positions[:, None], attention_mask=mask, cache=self._slots)
        self._sample(self.rows, output.logits[:, -1], version)
        self.drop_finished(version)

    def install(self, state: Mapping[str, Any]) -> None:
        """Put new weights into the model. Rows keep the keys and values that the old ones gave."""
        serve_weights(self._model, state)
        self._prefixes.clear()

    def drop_finished(self, version: int) -> None:
        """Answer finished rows and close the gaps that they and cancelled ones leave."""
        for slot in reversed(range(len(self.rows))):
            row = self.rows[slot]
            reason = self._ended(row)
            if not (reason or row.future.cancelled()):
                continue
            if row.versions[0] == version:
                self._prefixes.add((row.prompt_ids + row.ids)[:-1], self._slots.read(slot, row.stored))
            last = self.rows.pop()
            if last is not row:
                self._slots.move(len(self.rows), slot, last.stored)
                self.rows[slot] = last
            if reason:
                _answer(row, reason)

    def _prefill(self, prompt: Sequence[int]) -> tuple[Layers, torch.Tensor]:
        """Keys and values of a whole prompt, and the logits after it."""
        cache = DynamicCache(config=self._model.config)
        known = self._prefixes.match(prompt)
        for layer, (keys, values) in enumerate(known):
            cache.update(keys[None], values[None], layer)
        rest = torch.tensor([prompt[cache.get_seq_length() :]], device=self._model.device)
        output = self._model(rest, cache=cache, use_cache=True, logits_to_keep=1)
        filled: list[Any] = cache.layers
        layers: Layers = [(layer.keys[0], layer.values[0]) for layer in filled]
        self._prefixes.add(prompt, layers)
        return layers, output.logits[0, -1]

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

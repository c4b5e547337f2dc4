"""The learner: weights, optimizer, one update from a batch of sequences. Full or LoRA; torch, one machine.

It owns a copy of the weights apart from the policy that serves, so that serving goes on while it computes. The
reference (the initial weights) gives the KL term and, unless asked otherwise, reads the hints as the teacher.
"""

import copy
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from trainers.config import Config
from trainers.logprobs import divergence, token_logits, token_logprobs
from trainers.losses import importance_weight, policy_loss
from trainers.policies.gate import ComputeGate
from trainers.sequences import Sequence


class UpdateFigures(NamedTuple):
    """One update, each a mean over its trained tokens unless said otherwise."""

    loss: float
    kl: float
    entropy: float
    clip_fraction: float
    grad_norm: float
    """Before clipping, mean over the optimizer steps."""
    logprob_gap: float
    """Mean |trainer - sampler| log-prob of tokens sampled from the very weights being trained; NaN where none was."""
    tokens: int


class Lesson(NamedTuple):
    """What a teacher thinks of one response; arrays of shape (response tokens,)."""

    logprobs: NDArray[np.float32]
    """Of the sampled tokens."""
    divergence: NDArray[np.float32] | None = None
    """KL of the current policy from the teacher at each position, in nats; None from a teacher that does not tell."""


class Learner:
    """Not thread-safe: one thread at a time calls it. Every heavy operation takes the gate for itself."""

    def __init__(self, model: Any, config: Config, gate: ComputeGate) -> None:
        """
        Args:
            model: transformers causal LM in float32; trained in place.
            config: of the run.
            gate: shared with the policy of this process.
        """
        self.config = config
        self.gate = gate
        self.version = 0
        self.lora = config.lora.rank > 0
        self.reference = None if self.lora else copy.deepcopy(model).requires_grad_(False).eval()
        self.model = _with_lora(model, config) if self.lora else model
        self.model.eval()  # dropout would make the trainer's log-probs differ from the sampler's
        optim = config.optim
        self.optimizer = torch.optim.AdamW(
            [parameter for parameter in self.model.parameters() if parameter.requires_grad],
            lr=optim.lr,
            betas=(optim.beta1, optim.beta2),
            weight_decay=optim.weight_decay,
        )
        self.steps = 0

    def score(
        self, rows: list[tuple[list[int], list[int]]], *, reference: bool, temperature: float = 1.0
    ) -> list[NDArray[np.float32]]:
        """Log-probs of responses.

        Args:
            rows: (prompt ids, response ids) pairs.
            reference: under the reference, else under the current weights.

        Returns:
            One array of shape (response tokens,) a row.
        """
        rows_positions = [([*p, *r], range(len(p), len(p) + len(r))) for p, r in rows]
        return self._score(rows_positions, reference=reference, temperature=temperature)

    def teach(self, rows: list[tuple[list[int], list[int], list[int]]], *, reference: bool) -> list[Lesson]:
        """Have a teacher that sees more than the policy did read the policy's responses.

        Args:
            rows: (prompt ids, the teacher's prompt ids, response ids) triples.
            reference: the initial weights teach, else the current ones.
        """
        temperature = self.config.generation.temperature
        lessons: list[Lesson] = []
        for start in range(0, len(rows), self.config.optim.microbatch):
            prompts, hinted, responses = zip(*rows[start : start + self.config.optim.microbatch], strict=True)
            with self.gate.learn(), torch.inference_mode():
                own, ids = self._logits(prompts, responses, reference=False, temperature=temperature)
                theirs, _ = self._logits(hinted, responses, reference=reference, temperature=temperature)
                logprobs = theirs.gather(1, ids.unsqueeze(1)).squeeze(1) - torch.logsumexp(theirs, dim=-1)
                arrays = [each.cpu().numpy() for each in (logprobs, divergence(own, theirs))]
            ends = np.cumsum([len(response) for response in responses])[:-1]
            lessons += [Lesson(*parts) for parts in zip(*(np.split(each, ends) for each in arrays), strict=True)]
        return lessons

    def update(self, sequences: list[Sequence], *, version: int) -> UpdateFigures:
        """Train on `sequences` and become `version`. Sequences without a trainable token change nothing."""
        config, rng = self.config, np.random.default_rng([self.config.seed, version])
        sequences = [sequence for sequence in sequences if np.isfinite(sequence.advantages).any()]
        rows = [(list(sequence.ids), sequence.positions) for sequence in sequences]
        temperature = config.generation.temperature
        references = self._score(rows, reference=True, temperature=temperature) if config.loss.kl_coef else None
        proximal = None
        if config.loss.importance_cap is not None:
            proximal = self._score(rows, reference=False, temperature=temperature)
        micro: list[dict[str, float]] = []
        norms: list[float] = []
        for _ in range(config.optim.epochs):
            order = rng.permutation(len(sequences))
            for chosen in np.array_split(order, min(config.optim.minibatches, max(len(sequences), 1))):
                if len(chosen):
                    figures, norm = self._optimize(chosen, sequences, references, proximal)
                    micro += figures
                    norms.append(norm)
        self.version = version
        tokens = sum(int(np.isfinite(sequence.advantages).sum()) for sequence in sequences)
        return _summary(micro, norms, tokens)

    def state(self) -> dict[str, Tensor]:
        """The weights to serve, under the plain model's names; LoRA is merged into copies."""
        if not self.lora:
            return {name: tensor.detach() for name, tensor in self.model.state_dict().items()}
        return _merged(self.model)

    # --- one optimizer step -------------------------------------------------------------------------------------

    def _optimize(
        self,
        chosen: NDArray[np.intp],
        sequences: list[Sequence],
        references: list[NDArray[np.float32]] | None,
        proximal: list[NDArray[np.float32]] | None,
    ) -> tuple[list[dict[str, float]], float]:
        loss, optim = self.config.loss, self.config.optim
        trained = [sequences[i] for i in chosen]
        tokens = sum(int(np.isfinite(sequence.advantages).sum()) for sequence in trained)
        denominator = tokens if loss.aggregation == "token" else len(trained)
        figures = []
        self.optimizer.zero_grad(set_to_none=True)
        for rows in _by_length(chosen, sequences, optim.microbatch):
            with self.gate.learn():
                figures.append(self._backward(rows, sequences, references, proximal, denominator))
        with self.gate.learn():
            norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), optim.max_grad_norm)
            self.steps += 1
            warm = min(1.0, self.steps / optim.warmup_steps) if optim.warmup_steps else 1.0
            for group in self.optimizer.param_groups:
                group["lr"] = optim.lr * warm
            self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return figures, float(norm)

    def _backward(
        self,
        rows: list[int],
        sequences: list[Sequence],
        references: list[NDArray[np.float32]] | None,
        proximal: list[NDArray[np.float32]] | None,
        denominator: int,
    ) -> dict[str, float]:
        loss = self.config.loss
        batch = [sequences[i] for i in rows]
        scored = token_logprobs(
            self.model,
            [sequence.ids for sequence in batch],
            [sequence.positions.tolist() for sequence in batch],
            temperature=self.config.generation.temperature,
        )
        behaviour = self._flat([sequence.logprobs for sequence in batch])
        advantages = self._flat([sequence.advantages.astype(np.float32) for sequence in batch])
        index = self._flat([np.full(len(sequence.positions), i) for i, sequence in enumerate(batch)])
        near = self._flat([proximal[i] for i in rows]) if proximal is not None else None
        total, figures = policy_loss(
            scored.logprobs,
            behaviour if near is None else near,
            advantages,
            index,
            reference=self._flat([references[i] for i in rows]) if references is not None else None,
            kl_coef=loss.kl_coef,
            weight=None if near is None else importance_weight(near, behaviour, cap=cast(float, loss.importance_cap)),
            clip_low=loss.clip_low,
            clip_high=loss.clip_high,
            dual_clip=loss.dual_clip,
            aggregation=loss.aggregation,
            denominator=denominator,
        )
        torch.autograd.backward(total)
        fresh = self._flat([sequence.versions for sequence in batch]) == self.version
        gap = (scored.logprobs.detach() - behaviour).abs()[fresh]
        return figures._asdict() | {
            "loss": total.item(),
            "entropy": scored.entropy[torch.isfinite(advantages)].mean().item(),
            "gap": gap.mean().item() if len(gap) else float("nan"),
            "step": self.steps,
        }

    def _score(
        self, rows: list[tuple[list[int], Any]], *, reference: bool, temperature: float
    ) -> list[NDArray[np.float32]]:
        scored: list[NDArray[np.float32]] = [np.zeros(0, np.float32)] * len(rows)
        by_length = sorted(range(len(rows)), key=lambda i: len(rows[i][0]))
        size = 2 * self.config.optim.microbatch  # no activations are kept
        for start in range(0, len(rows), size):
            members = by_length[start : start + size]
            model, adapters = self._weights(reference)
            with self.gate.learn(), torch.inference_mode(), adapters:
                ids, positions = zip(*(rows[i] for i in members), strict=True)
                flat = token_logprobs(model, ids, [list(p) for p in positions], temperature=temperature).logprobs
            ends = np.cumsum([len(p) for p in positions])[:-1]
            for i, part in zip(members, np.split(flat.cpu().numpy(), ends), strict=True):
                scored[i] = part
        return scored

    def _logits(
        self, prompts: Iterable[list[int]], responses: Iterable[list[int]], *, reference: bool, temperature: float
    ) -> tuple[Tensor, Tensor]:
        pairs = list(zip(prompts, responses, strict=True))
        positions = [range(len(prompt), len(prompt) + len(response)) for prompt, response in pairs]
        model, adapters = self._weights(reference)
        with adapters:
            return token_logits(model, [[*p, *r] for p, r in pairs], positions, temperature=temperature)

    def _flat(self, arrays: list[NDArray[Any]]) -> Tensor:
        return torch.from_numpy(np.concatenate(arrays)).to(next(self.model.parameters()).device)

    def _weights(self, reference: bool) -> tuple[Any, AbstractContextManager[Any]]:
        if not reference:
            return self.model, nullcontext()
        return (self.model, self.model.disable_adapter()) if self.lora else (self.reference, nullcontext())


def _with_lora(model: Any, config: Config) -> Any:
    from peft import LoraConfig, get_peft_model

    settings = LoraConfig(
        r=config.lora.rank,
        lora_alpha=config.lora.alpha,
        target_modules=config.lora.targets,
        task_type="CAUSAL_LM",
    )
    return get_peft_model(model, settings)


def _merged(model: Any) -> dict[str, Tensor]:
    state = {}
    with torch.no_grad():
        for name, tensor in model.get_base_model().state_dict().items():
            if "lora_" in name:
                continue
            if ".base_layer." in name:
                layer = model.get_base_model().get_submodule(name.split(".base_layer.")[0])
                name = name.replace(".base_layer.", ".")
                tensor = tensor + layer.get_delta_weight("default") if name.endswith(".weight") else tensor
            state[name] = tensor
    return state


def _by_length(chosen: NDArray[np.intp], sequences: list[Sequence], size: int) -> Iterator[list[int]]:
    ordered = sorted((int(i) for i in chosen), key=lambda i: len(sequences[i].ids))
    for start in range(0, len(ordered), size):
        yield ordered[start : start + size]


def _summary(micro: list[dict[str, float]], norms: list[float], tokens: int) -> UpdateFigures:
    if not micro:
        return UpdateFigures(0.0, 0.0, 0.0, 0.0, 0.0, float("nan"), 0)
    weights = np.array([row["tokens"] for row in micro])
    gaps = np.array([row["gap"] for row in micro if row["step"] == micro[0]["step"]])

    def mean(name: str) -> float:
        return float(np.average([row[name] for row in micro], weights=weights))

    return UpdateFigures(
        loss=sum(row["loss"] for row in micro) / len(norms),
        kl=mean("kl"),
        entropy=mean("entropy"),
        clip_fraction=mean("clip_fraction"),
        grad_norm=float(np.mean(norms)),
        logprob_gap=float(np.nanmean(gaps)) if np.isfinite(gaps).any() else float("nan"),
        tokens=tokens,
    )

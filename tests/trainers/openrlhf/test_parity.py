"""The bundled trainer and OpenRLHF on the same recorded batch: the same advantages, losses and gradients.

Both make one update of two passes from the same weights: the first pass at ratio 1, the second after a step that the
test gives, the same one to both, so that ratios and the reference term are away from where they begin. On OpenRLHF's
side its own experience maker, replay buffer, training loop, actor, losses and normalisation compute; what DeepSpeed
does to a loss is one division.
"""

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pytest
import torch

from claw_envs.core.episode import Episode, Status, Turn, Verdict
from tests.trainers.openrlhf.parts import logprobs, maker_of, plain_class, taken
from trainers.config import Config
from trainers.learner import Learner
from trainers.openrlhf.executor import response_of
from trainers.policies.gate import ComputeGate
from trainers.policies.render import Renderer
from trainers.signals import to_sequences, trainable
from trainers.store import Unit

pytestmark = pytest.mark.usefixtures("cluster")
Configure = Callable[..., Config]
TOLERANCE = 1e-5
TEMPERATURE = 0.8
MICRO, ROWS = 2, 8
STEP = {"generation__temperature": TEMPERATURE, "optim__microbatch": MICRO, "optim__epochs": 2, "updates": 1}


class Computed(NamedTuple):
    """One update."""

    advantages: list[float]
    """Of the trained tokens, in order."""
    losses: list[float]
    """Of each pass."""
    gradients: list[dict[str, torch.Tensor]]


class Models(NamedTuple):
    """Plain transformers models in float32, whose weights differ."""

    policy: Any
    reference: Any


@pytest.fixture(scope="module")
def models(tiny_model: Path) -> Models:
    from transformers import AutoModelForCausalLM

    plain = AutoModelForCausalLM.from_pretrained(tiny_model, dtype=torch.float32)
    policy = _moved(plain, seed=1, by=0.2)
    return Models(policy, _moved(copy.deepcopy(policy), seed=2))


def _moved(model: Any, *, seed: int = 3, by: float = 0.02) -> Any:
    """The same step for whoever takes it."""
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=random), alpha=by)
    return model


def batch(models: Models, *, single: bool = False, stale: bool = False) -> list[Episode]:
    """Two groups of two: conversations, one with a rewritten history, one that ended early, one bucket constant.

    Args:
        single: no turn extends another.
        stale: sampled by other weights than those that train.
    """
    random = np.random.default_rng(0)
    scores = [(1.0, 1.0, 1.0), (1.0, -1.0), (-1.0, 0.0), (1.0,)]
    episodes = []
    for number, row in enumerate(scores):
        turns: list[Turn] = []
        for step, score in enumerate(row):
            new = random.integers(20, 400, 3 + step).tolist()
            anew = not turns or single or (number == 2 and step == 1)
            prompt = new if anew else [*turns[-1].prompt_ids, *turns[-1].response_ids, *new]
            response = random.integers(20, 400, 2 + (number + step) % 3).tolist()
            sampled = logprobs(models.policy, prompt + response, TEMPERATURE)[len(prompt) - 1 :].double().numpy()
            sampled = sampled + (random.normal(0.0, 0.5, len(sampled)) if stale else 0.0)
            turns.append(
                Turn(
                    episode_id=f"e{number}",
                    step=step,
                    messages=[{"role": "user", "content": f"Question {step}?"}],
                    response="",
                    prompt_ids=prompt,
                    response_ids=response,
                    logprobs=sampled.tolist(),
                    versions=[0] * len(response),
                    verdict=Verdict(score=score, hint="Shorter, please." if (number + step) % 2 else None),
                )
            )
        episodes.append(
            Episode(
                id=f"e{number}",
                task_id="t",
                family="chat",
                group_id=str(number // 2),
                turns=turns,
                outcome=(0.0, 0.0, 1.0, 0.0)[number],
                status=Status.COMPLETED,
            )
        )
    return episodes


def bundled(config: Config, episodes: Sequence[Episode], models: Models, renderer: Renderer) -> Computed:
    """By the bundled trainer: turn-level signals accept the turns that train, grouped ones whole groups."""
    learner = Learner(copy.deepcopy(models.reference), config, ComputeGate())
    learner.model.load_state_dict(models.policy.state_dict())
    if not config.grouped:
        turns = [turn for episode in episodes for turn in episode.turns if trainable(turn, config)]
        episodes = [Episode(id=turn.id, task_id="t", family="chat", turns=[turn]) for turn in turns]
    units = [Unit(id=episode.id, samples=1, episodes=[episode]) for episode in episodes]
    sequences = to_sequences(units, config, learner, renderer)
    losses: list[float] = []
    gradients: list[dict[str, torch.Tensor]] = []
    backward = learner._backward

    def counted(*args: Any) -> dict[str, float]:
        figures = backward(*args)
        losses.append(figures["loss"])
        return figures

    def step() -> None:
        gradients.append(_gradients(learner.model))
        losses[len(gradients) - 1 :] = [sum(losses[len(gradients) - 1 :])]
        _moved(learner.model)

    learner._backward, learner.optimizer.step = counted, step  # type: ignore[method-assign,assignment]
    learner.update(sequences, version=1)
    values = np.concatenate([sequence.advantages for sequence in sequences])
    return Computed(values[np.isfinite(values)].tolist(), losses, gradients)


class Strategy:
    """DeepSpeed on one process: each loss is divided by the micro-batches of a step, and gradients add up."""

    ring_attn_group = None

    def __init__(self, model: Any, accumulated: int) -> None:
        self.model, self.accumulated_gradient = model, accumulated
        self.losses: list[float] = []
        self.gradients: list[dict[str, torch.Tensor]] = []
        self._pending: list[float] = []

    def is_rank_0(self) -> bool:
        return False

    def all_reduce(self, status: Any) -> Any:
        return status

    def get_grad_norm(self, model: Any) -> float:
        return 0.0

    def backward(self, loss: torch.Tensor, model: Any, optimizer: Any) -> None:
        loss = loss / self.accumulated_gradient
        loss.backward()  # type: ignore[no-untyped-call]
        self._pending.append(loss.item())

    def optimizer_step(self, *args: Any, **options: Any) -> None:
        if len(self._pending) == self.accumulated_gradient:
            self.losses.append(sum(self._pending))
            self.gradients.append(_gradients(self.model))
            self._pending = []
            self.model.zero_grad()
            _moved(self.model)


def openrlhf(config: Config, episodes: Sequence[Episode], models: Models, tokenizer: Any) -> Computed:
    """By OpenRLHF, from what the executor hands it of the same episodes."""
    from openrlhf.models import Actor, PolicyLoss
    from openrlhf.trainer.ppo_utils import NaiveReplayBuffer
    from openrlhf.trainer.ray.ppo_actor import ActorPPOTrainer

    capped = config.loss.importance_cap is not None
    renderer = Renderer(tokenizer)
    samples = []
    for episode in episodes:
        turns = [
            turn if capped else msgspec.structs.replace(turn, logprobs=[]) for turn in episode.turns
        ]  # the engine is asked for them only where they are used
        recorded = msgspec.structs.replace(episode, turns=turns)
        samples.append(taken(response_of(recorded, config, renderer, logprobs=capped)))
    policy = copy.deepcopy(models.policy)
    reference = models.reference if config.loss.kl_coef else None
    maker = maker_of(config, (policy, tokenizer), reference=reference, train__batch_size=ROWS)
    experiences = maker.make_experience_batch(samples)

    args = maker.args
    trainer = object.__new__(plain_class(ActorPPOTrainer))
    trainer.args, trainer.max_epochs, trainer.dataloader_pin_memory = args, args.train.max_epochs, False
    trainer.strategy = Strategy(policy, ROWS // MICRO)
    trainer.actor = Actor(policy, temperature=args.rollout.temperature)
    trainer.actor.packing_samples = False
    trainer.actor_optim = trainer.ema_model = None
    trainer.actor_scheduler = SimpleNamespace(get_last_lr=lambda: [0.0])
    trainer.aux_loss = False
    trainer.actor_loss_fn = PolicyLoss(
        *args.actor.eps_clip_low_high,
        dual_clip=args.actor.dual_clip,
        token_level_loss=args.actor.loss_agg_mode == "token-mean",
        is_correction_level=args.algo.advantage.is_correction_level,
        is_correction_mode=args.algo.advantage.is_correction_mode,
        is_correction_threshold=args.algo.advantage.is_correction_threshold,
    )
    trainer.replay_buffer = NaiveReplayBuffer(MICRO, cpu_offload=False)
    for experience in experiences:
        trainer.replay_buffer.append(experience)
    assert len(trainer.replay_buffer) == ROWS
    trainer.ppo_train(kl_ctl=args.algo.kl.init_coef)
    items = trainer.replay_buffer.items
    values = [item.advantages[item.action_mask.bool()] for item in items]
    return Computed(torch.cat(values).tolist(), trainer.strategy.losses, trainer.strategy.gradients)


def _gradients(model: Any) -> dict[str, torch.Tensor]:
    return {name: parameter.grad.clone() for name, parameter in model.named_parameters()}


COMMON = {"weights__opd_baseline": "false", "weights__opd_clip": 3.0, "loss__kl_coef": 0.05}


@pytest.mark.parametrize(
    "settings",
    [
        {"signal": "step_index"},
        {"signal": "step_index", "loss__kl_coef": 0},
        {"signal": "step_index", "loss__dual_clip": 1.02, "loss__clip_low": 0.01, "loss__clip_high": 0.015},
        {"signal": "step_index", "loss__importance_cap": 1.1},
        {"signal": "step_index", "loss__aggregation": "sequence"},
        {"signal": "grpo", "loss__importance_cap": 0.9, "loss__aggregation": "sequence", "loss__kl_coef": 0},
        {"signal": "binary"},
        {"signal": "opd"},
        {"signal": "opd", "teacher": "current"},
        {"signal": "combined", "weights__binary": 0.5},
        {"signal": "combined", "loss__importance_cap": 1.1, "loss__dual_clip": 1.02, "loss__clip_low": 0.01},
        {"signal": "combined", "teacher": "current", "loss__aggregation": "sequence"},
    ],
    ids=lambda settings: "-".join(str(value) for value in settings.values()),
)
def test_both_trainers_compute_the_same(
    configure: Configure, tiny: tuple[Any, Any], models: Models, settings: dict[str, Any]
) -> None:
    given = STEP | COMMON | settings
    config = configure(batch_size=4, rollout__group_size=2, optim__max_grad_norm=1e9, **given)
    # where each turn is a sequence of its own, a turn-level signal's mean over sequences is one over turns
    single = config.loss.aggregation == "sequence" and not config.grouped
    episodes = batch(models, single=single, stale=config.loss.importance_cap is not None)
    ours = bundled(config, episodes, models, Renderer(tiny[1]))
    theirs = openrlhf(config, episodes, models, tiny[1])

    assert len(ours.advantages) > 4
    assert sorted(theirs.advantages) == pytest.approx(sorted(ours.advantages), abs=TOLERANCE)
    assert ours.losses[0] != pytest.approx(ours.losses[1], abs=1e-3)
    assert theirs.losses == pytest.approx(ours.losses, abs=TOLERANCE)
    for mine, other in zip(ours.gradients, theirs.gradients, strict=True):
        assert max(float(gradient.abs().max()) for gradient in mine.values()) > 1e-3
        for name, gradient in mine.items():
            torch.testing.assert_close(other[name], gradient, atol=TOLERANCE, rtol=0)


def test_a_batch_without_a_trained_token_moves_nothing(
    configure: Configure, tiny: tuple[Any, Any], models: Models
) -> None:
    config = configure(batch_size=4, rollout__group_size=2, signal="step_index", **STEP | COMMON)
    aborted = [Episode(id="e", task_id="t", family="chat", status=Status.ABORTED) for _ in range(4)]
    theirs = openrlhf(config, aborted, models, tiny[1])
    assert (theirs.advantages, theirs.losses) == ([], [0.0, 0.0])
    assert not any(gradient.any() for gradients in theirs.gradients for gradient in gradients.values())

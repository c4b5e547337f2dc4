"""What the tests of this folder are put together from: an engine in this process, and OpenRLHF's own classes."""

import asyncio
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch

from claw_envs.chat.env import ChatEnv
from claw_envs.core.env import Action, Step
from claw_envs.core.errors import InfrastructureError
from trainers.config import Config
from trainers.openrlhf.flags import flags_of

DEFAULTS = {
    "actor.aux_loss_coef": 0.0,
    "actor.dual_clip": None,
    "actor.entropy_coef": None,
    "actor.policy_loss_type": "ppo",
    "algo.advantage.is_correction_gating": "ratio",
    "algo.advantage.is_correction_level": "off",
    "algo.advantage.is_correction_mode": "mask",
    "algo.advantage.is_correction_threshold": [0.5, 5.0],
    "algo.kl.estimator": "k1",
    "algo.kl.unbiased_gradient": False,
    "algo.kl.use_loss": False,
    "ds.ring_attn_size": 1,
    "ds.tensor_parallel_size": 1,
    "train.colocate_actor_ref": False,
    "train.colocate_all": False,
    "train.dynamic_batch_enable": False,
}
"""Of OpenRLHF's parser."""

Says = Callable[[list[int]], str]


class Broken(ChatEnv):
    """Fails where it is told to, as often as it is told to."""

    def __init__(self, *, times: int = 99, error: type[Exception] = InfrastructureError, hangs: bool = False) -> None:
        super().__init__()
        self.times, self.error, self.hangs = times, error, hangs
        self.seeds: list[int | None] = []
        self.closed, self.hanging = False, asyncio.Event()

    async def areset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.seeds.append(seed)
        return await super().areset(seed=seed, options=options)

    async def _act(self, action: Action) -> Step:
        self.times -= 1
        if self.times >= 0:
            if self.hangs:
                self.hanging.set()
                await asyncio.Event().wait()
            raise self.error("it broke")
        return await super()._act(action)

    async def aclose(self) -> None:
        self.closed = True
        await super().aclose()


class LogProb(NamedTuple):
    """As vLLM gives one."""

    logprob: float


class LocalEngine:
    """Answers `generate` as OpenRLHF's vLLM actor does, by a real model: what it says is sampled, or given."""

    def __init__(self, model: Any, tokenizer: Any, *, says: Says | None = None) -> None:
        self.model, self.tokenizer, self.says = model, tokenizer, says
        self.fed: list[list[int]] = []
        self._random = torch.Generator().manual_seed(0)

    async def generate(self, ids: list[int], params: Any, multi_modal_data: Any = None) -> Any:
        self.fed.append(list(ids))
        sampled = self._given(ids) if self.says else self._sampled(ids, params)
        sampled = sampled[: params.max_tokens]
        table = logprobs(self.model, [*ids, *sampled], params.temperature)[len(ids) - 1 :]
        output = SimpleNamespace(
            token_ids=sampled,
            text=self.tokenizer.decode(sampled),
            finish_reason="stop" if sampled[-1] == self.tokenizer.eos_token_id else "length",
            logprobs=None
            if params.logprobs is None
            else [{token: LogProb(float(value))} for token, value in zip(sampled, table, strict=True)],
        )
        return SimpleNamespace(outputs=[output])

    def _given(self, ids: list[int]) -> list[int]:
        assert self.says is not None
        return [*self.tokenizer.encode(self.says(ids)), self.tokenizer.eos_token_id]

    def _sampled(self, ids: list[int], params: Any) -> list[int]:
        sampled: list[int] = []
        while len(sampled) < params.max_tokens and (not sampled or sampled[-1] != self.tokenizer.eos_token_id):
            with torch.inference_mode():
                logits = self.model(torch.tensor([[*ids, *sampled]])).logits[0, -1] / params.temperature
            sampled.append(int(torch.multinomial(logits.softmax(-1), 1, generator=self._random)))
        return sampled


def logprobs(model: Any, ids: Sequence[int], temperature: float = 1.0) -> torch.Tensor:
    """Of each token of `ids` after the first."""
    with torch.inference_mode():
        table = (model(torch.tensor([list(ids)])).logits[0] / temperature).log_softmax(-1)
    return table[:-1].gather(-1, torch.tensor(ids[1:])[:, None])[:, 0]


def sampling_params(*, logprobs: int | None = 1, temperature: float = 1.0) -> SimpleNamespace:
    """As OpenRLHF makes vLLM's."""
    return SimpleNamespace(
        temperature=temperature, top_p=1.0, top_k=-1, max_tokens=None, min_tokens=1, logprobs=logprobs
    )


async def execute(executor: Any, engine: LocalEngine, task: str, *, label: str = "1", **options: Any) -> dict[str, Any]:
    """One sample, as OpenRLHF's engine actor asks for it."""
    answer: dict[str, Any] = await executor.execute(
        prompt=task,
        label=label,
        sampling_params=options.pop("params", None) or sampling_params(**options.pop("sampling", {})),
        max_length=options.pop("max_length", 1024),
        hf_tokenizer=engine.tokenizer,
        llm_engine=engine,
        images=None,
    )
    return answer


def taken(response: dict[str, Any], *, max_len: int = 1024) -> Any:
    """What OpenRLHF's sample generator makes of a response."""
    from openrlhf.trainer.ppo_utils.samples_generator import SamplesGenerator

    response = {"prompt": "t", "label": "1"} | response
    return SamplesGenerator._process_response_into_experience(SimpleNamespace(), response, max_len=max_len)  # type: ignore[arg-type]


def arguments(config: Config, **flags: Any) -> Any:
    """OpenRLHF's own, as far as they are read here: what our flags say over what its parser would."""
    from openrlhf.utils.config import hierarchize

    own = flags_of(config, Path("run"), model="model", resume=False)
    return hierarchize(Namespace(**DEFAULTS | own | {name.replace("__", "."): value for name, value in flags.items()}))


def model_group(args: Any, model: Any, *, processes: int = 1) -> Any:
    """A group of OpenRLHF's model actors in this process: its own batching and its own forward pass."""
    from openrlhf.models import Actor
    from openrlhf.trainer.ray.launcher import RayActorGroup
    from openrlhf.trainer.ray.ppo_actor import PolicyModelActor

    worker = object.__new__(plain_class(PolicyModelActor))
    worker.actor = Actor(model, temperature=args.rollout.temperature)
    worker.actor.packing_samples = False
    worker.strategy = SimpleNamespace(ring_attn_group=None, is_rank_0=lambda: False)
    group = object.__new__(RayActorGroup)
    group.duplicate_actors = 1
    calls = {name: SimpleNamespace(remote=getattr(worker, name)) for name in ("execute_batch", "empty_cache")}
    group._actor_handlers = [SimpleNamespace(**calls)] * processes
    return group


def maker_of(config: Config, tiny: tuple[Any, Any], *, reference: Any = None, **flags: Any) -> Any:
    """Our experience maker among OpenRLHF's parts."""
    from trainers.openrlhf.experience import ClawExperienceMaker

    args = arguments(config, **flags)
    processes = args.actor.num_nodes * args.actor.num_gpus_per_node
    groups = [model and model_group(args, model, processes=processes) for model in (tiny[0], reference)]
    return ClawExperienceMaker(
        groups[0], None, None, groups[1], SimpleNamespace(value=0.0), SimpleNamespace(args=args), tiny[1]
    )


def plain_class(decorated: Any) -> Any:
    """The class behind `ray.remote`, where it is the real one."""
    meta = getattr(decorated, "__ray_metadata__", None)
    return meta.modified_class if meta else decorated

"""Episodes of our environments inside OpenRLHF's engine actors: run, judged, and handed back in OpenRLHF's form.

One executor serves one engine; all its episodes run on that actor's event loop, with its share of `rollout.parallel`
environments. An episode that fails for our reasons is tried again with another seed, then comes back as ABORTED, which
trains nothing; so does one that a bug ended, since an exception here would end the whole run. A user's mistake does.
"""

import asyncio
from collections import defaultdict
from typing import Any
from zlib import crc32

import numpy as np
from openrlhf.utils.agent import AgentExecutorBase
from openrlhf.utils.logging_utils import init_logger

from claw_envs.core.episode import Episode, Status, Turn
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import Task
from trainers.collector import HOPELESS
from trainers.config import Config
from trainers.openrlhf.flags import share
from trainers.openrlhf.policy import EnginePolicy
from trainers.openrlhf.pool import EnvironmentPool
from trainers.openrlhf.records import BLANK, KEY, pack, record_of, reward_of
from trainers.openrlhf.settings import from_environment
from trainers.openrlhf.vision import gathered
from trainers.plugins import make_judge
from trainers.policies.base import Sampling
from trainers.policies.render import Renderer
from trainers.policies.vision import renderer_for
from trainers.ray.environments import make_env
from trainers.rollout import run_episode

RESET_SECONDS = 1800.0
"""Until an episode's first turn: an image may have to be built first."""

logger = init_logger(__name__)


class EpisodeExecutor(AgentExecutorBase):  # type: ignore[misc]
    """OpenRLHF makes it without arguments: the settings come from the environment variables of the run."""

    def __init__(self) -> None:
        """
        Raises:
            UserError: in a process that `claw train` did not start.
        """
        self.config, _ = from_environment()
        self.judge = make_judge(self.config.judge)
        self.parallel = share(self.config.rollout.parallel, self.config)
        self.pool = EnvironmentPool(lambda like: make_env(self.config, like=like), size=self.parallel)
        self._judging = asyncio.Semaphore(share(self.config.judge.workers, self.config))
        self._renderer: Renderer | None = None
        self._samples: dict[tuple[str, str], int] = defaultdict(int)
        self._aborted_in_a_row = 0

    async def execute(
        self,
        prompt: str,
        label: str,
        sampling_params: Any,
        max_length: int,
        hf_tokenizer: Any,
        llm_engine: Any,
        images: Any = None,
    ) -> dict[str, Any]:
        """One sample.

        Args:
            prompt: id of a task.
            label: tells apart the places of that task in the run's order.
            sampling_params: vLLM's.
            max_length: most tokens of a sequence.
            hf_tokenizer: of the model; its processor where it sees.
            llm_engine: the actor that this runs in.
            images: unused: screenshots come from the environment, and go on in this column.

        Returns:
            What OpenRLHF makes an `Experience` of; the record is in `extra_logs`.

        Raises:
            UserError: for a prompt that is no task, and for settings that cannot work.
            InfrastructureError: if nothing but aborted episodes comes back.
        """
        renderer = self._renderer = self._renderer or renderer_for(hf_tokenizer)
        policy = EnginePolicy(llm_engine, renderer, params=sampling_params, context=max_length)
        number = self._samples[prompt, str(label)]
        self._samples[prompt, str(label)] += 1
        origin = [self.config.seed, crc32(f"{label}:{prompt}".encode()), number]
        for attempt in range(self.config.rollout.abort_retries + 1):
            seed = int(np.random.default_rng([*origin, attempt]).integers(2**31))
            episode = await self._attempt(policy, prompt, seed, f"{label or prompt}.{number}.{attempt}")
            self._note(episode)
            if episode.status is not Status.ABORTED:
                break
        else:
            episode.turns = []
        logprobs = sampling_params.logprobs is not None
        # prompts with hints are made and images read there, which would hold up the engine on its loop
        response = await asyncio.to_thread(response_of, episode, self.config, renderer, logprobs=logprobs)
        return response | {"prompt": prompt, "label": label}

    async def _attempt(self, policy: EnginePolicy, task: str, seed: int, name: str) -> Episode:
        """Run and judge one episode."""
        episode = Episode(id=name, task_id=task, family=self.config.family, status=Status.ABORTED)
        try:
            episode = await self._judged(policy, task, seed, name)
        except* UserError as group:
            raise _first(group) from None
        except* Exception as group:
            logger.exception(f"episode {name} was aborted")
            episode.error = repr(_first(group))
        return episode

    async def _judged(self, policy: EnginePolicy, task: str, seed: int, name: str) -> Episode:
        generation = self.config.generation
        async with asyncio.TaskGroup() as judging, self.pool.lease() as env:

            async def hand_over(turn: Turn, history: list[Turn]) -> None:
                judging.create_task(self._judge(turn, history, env.task))

            async with asyncio.timeout(RESET_SECONDS) as begun:

                async def before_turn() -> None:
                    begun.reschedule(None)  # from here on engine and environment have limits of their own

                return await run_episode(
                    env,
                    policy,
                    sampling=Sampling(generation.max_new_tokens, generation.temperature),
                    task=task,
                    seed=seed,
                    episode_id=name,
                    before_turn=before_turn,
                    on_turn=hand_over,
                )

    async def _judge(self, turn: Turn, history: list[Turn], task: Task) -> None:
        async with self._judging:
            turn.verdict = await self.judge.judge(turn, history, task)

    def _note(self, episode: Episode) -> None:
        """Give up where nothing works."""
        if episode.status is not Status.ABORTED:
            self._aborted_in_a_row = 0
            return
        self._aborted_in_a_row += 1
        logger.warning(f"episode {episode.id} was aborted: {episode.error}")
        if self._aborted_in_a_row > HOPELESS * self.parallel:
            raise InfrastructureError(
                f"{self._aborted_in_a_row} episodes in a row were aborted, the last one with: {episode.error}"
            )


def response_of(episode: Episode, config: Config, renderer: Renderer, *, logprobs: bool) -> dict[str, Any]:
    """An ended, judged episode as OpenRLHF's sample generator takes it, but for the prompt and the label.

    Its first sequence is OpenRLHF's own; two tokens that train nothing stand where there is none. Where there is no
    reward or score it is None, so that OpenRLHF filters no task by it; the experience maker puts means there.

    Args:
        config: of the run.
        renderer: of the model.
        logprobs: whether the engine kept log-probs.
    """
    record, ids = record_of(episode, config, renderer)
    files, record.images = gathered(episode.turns, record.places)
    turns = record.episode.turns
    placed = [(turn, place.start) for turn, place in zip(turns, record.places, strict=True) if place and not place[0]]
    sampled = [0.0] * max(len(ids), len(BLANK))
    for turn, start in placed if logprobs else []:
        sampled[start : start + len(turn.response_ids)] = turn.logprobs
    return {
        "images": files or None,
        "mm_train_inputs": None,
        "reward": reward_of(episode, grouped=config.grouped),
        "scores": reward_of(episode, grouped=True),
        "observation_tokens": ids or BLANK,
        "action_ranges": [(start, start + len(turn.response_ids)) for turn, start in placed],
        "rollout_log_probs": sampled if logprobs else None,
        "truncated": bool(turns) and turns[-1].finish_reason == "length",
        "extra_logs": {KEY: pack(record)},
    }


def _first(group: BaseException) -> BaseException:
    while isinstance(group, BaseExceptionGroup):
        group = group.exceptions[0]
    return group

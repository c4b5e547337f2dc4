"""One episode: a policy acts in an environment until it ends. Token-exact, any family, used by training and evals."""

import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import Any

from claw_envs.core.env import ClawEnv
from claw_envs.core.episode import Episode, Message, Status, Turn
from claw_envs.core.errors import ContextFull, InfrastructureError
from trainers.meters import BusyMeter
from trainers.policies.base import Completion, Policy, Prompt, Sampling
from trainers.policies.render import Renderer


async def run_episode(
    env: ClawEnv,
    policy: Policy,
    *,
    sampling: Sampling,
    task: str | None = None,
    seed: int | None = None,
    episode_id: str,
    group_id: str = "",
    sample_index: int = 0,
    stepping: BusyMeter | None = None,
    before_turn: Callable[[], Awaitable[None]] | None = None,
    on_turn: Callable[[Turn, list[Turn]], Awaitable[None]] | None = None,
) -> Episode:
    """Run one episode.

    Args:
        env: stays open; its family's system prompt, where it has one, opens the conversation.
        policy: where it has a `renderer`, later prompts extend the ids already fed and sampled.
        task: id of the task, None to draw one by `seed`.
        stepping: counts the time spent in the environment.
        before_turn: awaited before each response is sampled (pacing).
        on_turn: awaited with each finished turn and those before it (judging); must not wait for the verdict.

    A conversation that fills the policy's context ends the episode as truncated, and scored.

    Returns:
        The episode; infrastructure failures come back as `Status.ABORTED` with the turns made so far.
    """
    episode = Episode(
        id=episode_id, task_id=task or "", family=env.family, group_id=group_id, sample_index=sample_index, seed=seed
    )
    try:
        _, info = await env.areset(seed=seed, options={"task": task} if task else None)
        episode.task_id = info["task_id"]
        messages = env.last_observation.messages()
        if info["system_prompt"]:
            messages.insert(0, {"role": "system", "content": info["system_prompt"]})
        while episode.status is Status.RUNNING:
            prompt = _prompt(policy, episode, messages, info["tools"])
            if before_turn is not None:
                await before_turn()
            turn = await _respond(policy, episode, messages, prompt, sampling)
            with stepping.busy() if stepping else nullcontext():
                info = await _step(env, turn, episode)
            if info["status"] == Status.ABORTED:
                break
            history = list(episode.turns)
            episode.turns.append(turn)
            messages = [*messages, {"role": "assistant", "content": turn.response}, *env.last_observation.messages()]
            if on_turn is not None:
                await on_turn(turn, history)
    except ContextFull:
        _note(episode, await env.atruncate())
    except InfrastructureError as error:
        episode.status, episode.error = Status.ABORTED, str(error)
    return episode


async def _respond(
    policy: Policy, episode: Episode, messages: list[Message], prompt: Prompt, sampling: Sampling
) -> Turn:
    started = time.perf_counter()
    seed = None if sampling.seed is None else sampling.seed + 7919 * len(episode.turns)
    completion: Completion = await policy.generate(prompt, sampling._replace(seed=seed))
    return Turn(
        episode_id=episode.id,
        step=len(episode.turns),
        messages=messages,
        response=completion.text,
        prompt_ids=completion.prompt_ids,
        response_ids=completion.response_ids,
        logprobs=completion.logprobs,
        versions=completion.versions,
        finish_reason=completion.finish_reason,
        timings={"generate": time.perf_counter() - started},
    )


def _prompt(policy: Policy, episode: Episode, messages: list[Message], tools: list[dict[str, Any]]) -> Prompt:
    renderer: Renderer | None = getattr(policy, "renderer", None)
    if renderer is None:
        return messages
    if episode.turns:
        last = episode.turns[-1]
        ids = renderer.extend(
            last.prompt_ids + last.response_ids,
            finish_reason=last.finish_reason,
            messages_before=last.messages,
            response=last.response,
            new_messages=messages[len(last.messages) + 1 :],
            tools=tools or None,
        )
        if ids is not None:
            return ids
    return renderer.prompt_ids(messages, tools=tools or None)


async def _step(env: ClawEnv, turn: Turn, episode: Episode) -> dict[str, Any]:
    _, turn.reward, _, _, info = await env.astep(turn.response)
    turn.observation = env.last_observation
    turn.timings |= dict(info["timings"])
    _note(episode, info)
    return info


def _note(episode: Episode, info: dict[str, Any]) -> None:
    episode.status = Status(info["status"])
    episode.outcome = info.get("outcome")
    episode.report = info.get("report", {})
    episode.error = info.get("error")

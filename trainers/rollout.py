"""One episode: a policy acts in an environment until it ends. Token-exact, any family, used by training and evals."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import Any

from claw_envs.core.env import ClawEnv
from claw_envs.core.episode import Episode, Message, Observation, Status, Turn
from claw_envs.core.errors import ContextFull, InfrastructureError
from claw_envs.core.images import Screenshots
from claw_envs.wire.calls import Malformed
from claw_envs.wire.read import openai_call
from trainers.meters import BusyMeter
from trainers.policies.base import Completion, Policy, Prompt, Sampling
from trainers.policies.render import Renderer
from trainers.policies.vision import images_of


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
        env: stays open; its system prompt and worked examples, where it has any, open the conversation. Where its
            tools are native, the policy shows them.
        policy: where it has a `renderer`, later prompts extend the ids already fed and sampled. Unless that renderer
            does not see, it is shown the last screenshots, where the environment says so.
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
        episode.task_id, opening = info["task_id"], env.last_observation
        messages = _opening(env, info)
        renderer: Renderer | None = getattr(policy, "renderer", None)
        sees = renderer is not None and renderer.sees
        screens = Screenshots(info.get("images", 0) if renderer is None or sees else 0)
        tools: list[dict[str, Any]] | None = None
        while episode.status is Status.RUNNING:
            before, tools = tools, info["tools"] if info.get("native_tools") else None
            await screens.add(len(messages) - 1, env.last_observation)
            shown = screens.shown(messages)
            prompt = await _prompt(renderer, episode, shown, tools, anew=tools != before)
            if before_turn is not None:
                await before_turn()
            turn = await _respond(policy, episode, messages, shown if sees else [], prompt, sampling, tools)
            turn.examples = len(info.get("few_shot", []))
            turn.opening = opening if turn.step == 0 and opening.is_screen else None
            with stepping.busy() if stepping else nullcontext():
                info = await _step(env, turn, episode)
            if info["status"] == Status.ABORTED:
                break
            episode.turns.append(turn)
            messages = [*messages, _said(turn), *_answered(policy, turn, env.last_observation)]
            if on_turn is not None:
                await on_turn(turn, episode.turns[:-1])
    except ContextFull:
        _note(episode, await env.atruncate())
    except InfrastructureError as error:
        episode.status, episode.error = Status.ABORTED, str(error)
    return episode


def _opening(env: ClawEnv, info: dict[str, Any]) -> list[Message]:
    system = [{"role": "system", "content": info["system_prompt"]}] if info["system_prompt"] else []
    return [*system, *info.get("few_shot", []), *env.last_observation.messages()]


async def _respond(
    policy: Policy,
    episode: Episode,
    messages: list[Message],
    shown: list[Message],
    prompt: Prompt,
    sampling: Sampling,
    tools: list[dict[str, Any]] | None,
) -> Turn:
    started = time.perf_counter()
    seed = None if sampling.seed is None else sampling.seed + 7919 * len(episode.turns)
    beside: dict[str, Any] = ({"tools": tools} if tools else {}) | ({"images": images_of(shown)} if shown else {})
    completion: Completion = await policy.generate(prompt, sampling._replace(seed=seed), **beside)
    return Turn(
        episode_id=episode.id,
        step=len(episode.turns),
        messages=messages,
        shown=shown,
        tools=tools or [],
        response=completion.text,
        tool_calls=list(completion.tool_calls),
        prompt_ids=completion.prompt_ids,
        response_ids=completion.response_ids,
        logprobs=completion.logprobs,
        versions=completion.versions,
        prompt_tokens=completion.prompt_tokens or len(completion.prompt_ids),
        response_tokens=completion.response_tokens or len(completion.response_ids),
        finish_reason=completion.finish_reason,
        timings={"generate": time.perf_counter() - started},
    )


async def _prompt(
    renderer: Renderer | None,
    episode: Episode,
    messages: list[Message],
    tools: list[dict[str, Any]] | None,
    *,
    anew: bool,
) -> Prompt:
    """Ids for a policy with a renderer, else the messages."""
    if renderer is None:
        return messages
    if renderer.sees:  # counting an image's tokens takes time
        return await asyncio.to_thread(_ids, renderer, episode, messages, tools, anew=anew)
    return _ids(renderer, episode, messages, tools, anew=anew)


def _ids(
    renderer: Renderer,
    episode: Episode,
    messages: list[Message],
    tools: list[dict[str, Any]] | None,
    *,
    anew: bool,
) -> list[int]:
    """Ids that extend those of the turn before, where there is one, nothing it showed has changed since, and `anew` is
    not asked for; else those of the whole conversation.
    """
    last = episode.turns[-1] if episode.turns and not anew else None
    before = (last.shown or last.messages) if last else []
    if last and messages[: len(before)] == before:
        ids = renderer.extend(
            last.prompt_ids + last.response_ids,
            finish_reason=last.finish_reason,
            messages_before=before,
            response=last.response,
            new_messages=messages[len(before) + 1 :],
            tools=tools,
        )
        if ids is not None:
            return ids
    return renderer.prompt_ids(messages, tools=tools)


def _said(turn: Turn) -> Message:
    """The agent's message as the next prompt shows it.

    Servers refuse a conversation with arguments that are no JSON object; those are shown as the text that they are.
    """
    message = {"role": "assistant", "content": turn.response}
    if not turn.tool_calls:
        return message
    return message | {"tool_calls": [_readable(call) for call in turn.tool_calls]}


def _answered(policy: Policy, turn: Turn, observation: Observation) -> list[Message]:
    """What came after `turn` as the next prompt shows it.

    A server takes answers only to the calls that it gave: not to those that it left in the text.
    """
    if observation.answers and not turn.tool_calls and getattr(policy, "renderer", None) is None:
        return [{"role": "user", "content": observation.text}]
    return observation.messages()


def _readable(call: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(openai_call(call), Malformed):
        return call
    function = call["function"]
    return {**call, "function": {**function, "arguments": json.dumps({"unreadable": function["arguments"]})}}


async def _step(env: ClawEnv, turn: Turn, episode: Episode) -> dict[str, Any]:
    calls = {"tool_calls": turn.tool_calls} if turn.tool_calls else {}
    _, turn.reward, _, _, info = await env.astep({"content": turn.response, **calls} if calls else turn.response)
    turn.observation = env.last_observation
    turn.timings |= dict(info["timings"])
    _note(episode, info)
    return info


def _note(episode: Episode, info: dict[str, Any]) -> None:
    episode.status = Status(info["status"])
    episode.outcome = info.get("outcome")
    episode.report = info.get("report", {})
    episode.error = info.get("error")

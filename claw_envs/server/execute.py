"""One call of a client, executed on its environment."""

import asyncio
import logging
from typing import Any, NamedTuple

import gymnasium as gym
import msgspec

from claw_envs.core.env import GUARD, ClawEnv
from claw_envs.core.episode import Status
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import Task
from claw_envs.server import wire
from claw_envs.server.offer import public

log = logging.getLogger("claw_envs.server")


class Executed(NamedTuple):
    """A call's encoded reply."""

    reply: bytes
    aborted: bool = False
    """The call ended its episode as `Status.ABORTED`."""


async def execute(env: ClawEnv, call: wire.Call) -> Executed:
    """Execute `call`. A bug goes to the log: it must reach the client as an answer, not as silence."""
    try:
        result = await _outcome(env, call)
        aborted = result.info["status"] == Status.ABORTED
        if result.last.screenshot is None:
            return Executed(wire.encode(result), aborted)
        return Executed(await asyncio.to_thread(wire.encode, result), aborted)  # compressing takes some 10 ms
    except (UserError, InfrastructureError, gym.error.ResetNeeded) as error:
        return Executed(wire.encode(wire.fault(error, key=call.key)))
    except Exception as error:
        log.exception("a %s of %s failed", type(call).__name__.lower(), env.family)
        return Executed(wire.encode(wire.fault(error, key=call.key)))


async def _outcome(env: ClawEnv, call: wire.Call) -> wire.Result:
    match call:
        case wire.Reset():
            observation, info = await env.areset(seed=call.seed, options=call.options)
            return _result(env, call.key, observation, info=info, task=_told(env))
        case wire.Act():
            observation, reward, terminated, truncated, info = await env.astep(wire.action_of(call))
            ended = {"reward": reward, "terminated": terminated, "truncated": truncated}
            return _result(env, call.key, observation, info=info, **ended)
        case wire.Truncate():
            info = await env.atruncate()
            return _result(env, call.key, env._observe(env.last_observation), info=info)


def _told(env: ClawEnv) -> Task:
    """The episode's task for the client, with the time that verifying it may take here: runs again included."""
    task = public(env.task)
    verifier = msgspec.structs.replace(task.verifier, timeout=env._verify_limit() - GUARD)
    return msgspec.structs.replace(task, verifier=verifier)


def _result(env: ClawEnv, key: int, observation: dict[str, Any], **rest: Any) -> wire.Result:
    last = env.last_observation
    other = {name: value for name, value in observation.items() if value is not getattr(last, name, None)}
    return wire.Result(key=key, last=last, observation=other, **rest)

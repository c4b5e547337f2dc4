"""A small real environment family for testing the base classes: no sandbox, no model, awkward text."""

import asyncio
from typing import Any

from claw_envs.core.env import Action, ClawEnv, Outcome, Step, text_of
from claw_envs.core.episode import Observation, Status
from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import Limits, Task, VerifierSpec
from claw_envs.core.vector import ClawVectorEnv

RICH = "naïve 中文 🙂👩‍👩‍👧\n\ttab \\n \x00 \u2028 end "


def echo_task(name: str, **limits: Any) -> Task:
    return Task(
        id=name,
        family="echo",
        instruction=f"{RICH} {name}",
        verifier=VerifierSpec(kind="simulator"),
        limits=Limits(**{"max_steps": 4, **limits}),
    )


class EchoEnv(ClawEnv):
    """Repeats the action and a seeded number; `done`, `fail`, `crash`, `bug`, `hang`, `bad verifier` do as they say."""

    family = "echo"
    verified = 0

    async def _start(self, task: Task) -> Observation:
        self._verifier_works = True
        return Observation(role="user", text=task.instruction)

    async def _act(self, action: Action) -> Step:
        text = text_of(action)
        await asyncio.sleep(0)
        match text:
            case "crash":
                raise InfrastructureError("the machine is gone")
            case "bug":
                raise KeyError("a bug")
            case "hang":
                await asyncio.Event().wait()
            case "bad verifier":
                self._verifier_works = False
        end = {"done": Status.COMPLETED, "bad verifier": Status.COMPLETED, "fail": Status.FAILED}.get(text)
        return Step(Observation(role="tool", text=f"{text}|{self.np_random.integers(10**9)}"), end)

    async def _verify(self) -> Outcome:
        self.verified += 1
        if not self._verifier_works:
            raise InfrastructureError("the verifier is broken")
        return Outcome(0.5, {"why": RICH})


class EchoVectorEnv(ClawVectorEnv):
    env_class = EchoEnv

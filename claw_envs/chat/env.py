"""`claw/chat-v0`: a conversation with a simulated user, whose reactions are the next states.

The episode ends when the user is content or drops the subject, or at the step limit. The outcome is 1.0 if the user was
content with the last reply, else 0.0.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from claw_envs.chat.personas import student, teacher
from claw_envs.chat.phrases import phrases
from claw_envs.chat.scripted import Mix, ScriptedUser, make_mix
from claw_envs.chat.simulator import Reaction, Simulator
from claw_envs.core.env import Action, ClawEnv, Outcome, Step, text_of, tool_calls_of
from claw_envs.core.episode import Observation, Status
from claw_envs.core.task import Task
from claw_envs.core.vector import ClawVectorEnv

_NO_TOOLS = "There are no tools in this conversation. Answer the user in plain text."


def scripted_user(task: Task, mix: Mix | None = None) -> Simulator:
    """The scripted simulator of the persona that `task` names."""
    if task.metadata["persona"] == "teacher":
        return ScriptedUser(teacher.opinion, phrases().teacher, mix=mix)
    return ScriptedUser(student.opinion, phrases().student, mix=mix)


class ChatEnv(ClawEnv):
    """Chat with a simulated user who never states its preference up front."""

    family: ClassVar[str] = "chat"

    def __init__(
        self,
        tasks: Any = None,
        *,
        mix: dict[str, float] | None = None,
        simulator: Callable[[Task], Simulator] | None = None,
        **kwargs: Any,
    ) -> None:
        """
        Args:
            tasks: tasks, or where to load them from; see `claw_envs.chat.problems`.
            mix: how often the scripted user reacts in which way; see `claw_envs.chat.scripted.Mix`.
            simulator: makes the user for a task, in place of the scripted one.
            **kwargs: see `ClawEnv`.

        Raises:
            UserError: if the mix names no way to react, or is not made of shares of 1.
        """
        super().__init__(tasks, **kwargs)
        reactions = make_mix(mix or {})
        self._make_user = simulator or (lambda task: scripted_user(task, reactions))
        self._user: Simulator | None = None
        self._reactions: list[Reaction] = []

    async def _start(self, task: Task) -> Observation:
        await self._stop()
        self._user, self._reactions = self._make_user(task), []
        return Observation(role="user", text=await self._user.open(task, rng=self.np_random))

    async def _act(self, action: Action) -> Step:
        assert self._user is not None
        if tool_calls_of(action) and not text_of(action).strip():
            return Step(Observation(role="environment", text=_NO_TOOLS))
        reaction = await self._user.react(text_of(action))
        self._reactions.append(reaction)
        return Step(Observation(role="user", text=reaction.text), end=Status.COMPLETED if reaction.done else None)

    async def _verify(self) -> Outcome:
        content = [reaction.content for reaction in self._reactions]
        report = {
            "reactions": [reaction.kind for reaction in self._reactions],
            "content_at_once": content[:1] == [True],
        }
        return Outcome(1.0 if content[-1:] == [True] else 0.0, report)

    async def _stop(self) -> None:
        if self._user is not None:
            await self._user.aclose()
            self._user = None


class ChatVectorEnv(ClawVectorEnv):
    """Many conversations on one event loop."""

    env_class = ChatEnv

"""`claw/chat-v0`: a conversation with a simulated user, whose reactions are the next states.

The episode ends when the user is content or drops the subject, or at the step limit. The outcome is 1.0 if the user was
content with the last reply, else 0.0.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from claw_envs.chat.llm import LlmUser
from claw_envs.chat.personas import student, teacher
from claw_envs.chat.phrases import phrases
from claw_envs.chat.scripted import Mix, ScriptedUser, make_mix
from claw_envs.chat.simulator import Reaction, Simulator
from claw_envs.core.endpoints import api_key
from claw_envs.core.env import Action, ClawEnv, Outcome, Step, text_of, tool_calls_of
from claw_envs.core.episode import Observation, Status
from claw_envs.core.errors import UserError
from claw_envs.core.llm import ChatClient
from claw_envs.core.task import Task
from claw_envs.core.vector import ClawVectorEnv

_NO_TOOLS = "There are no tools in this conversation. Answer the user in plain text."


def scripted_user(task: Task, mix: Mix | None = None) -> Simulator:
    """The scripted simulator of the persona that `task` names."""
    if task.metadata["persona"] == "teacher":
        return ScriptedUser(teacher.opinion, phrases().teacher, mix=mix)
    return ScriptedUser(student.opinion, phrases().student, mix=mix)


def llm_user(task: Task, client: ChatClient) -> Simulator:
    """The persona that `task` names, played by `client`'s model."""
    return LlmUser(client, teacher.BRIEF if task.metadata["persona"] == "teacher" else student.BRIEF)


class ChatEnv(ClawEnv):
    """Chat with a simulated user who never states its preference up front."""

    family: ClassVar[str] = "chat"

    def __init__(
        self,
        tasks: Any = None,
        *,
        mix: dict[str, float] | None = None,
        simulator: str | Callable[[Task], Simulator] = "scripted",
        base_url: str = "",
        model: str = "",
        **kwargs: Any,
    ) -> None:
        """
        Args:
            tasks: tasks, or where to load them from; see `claw_envs.chat.problems`.
            mix: how often the scripted user reacts in which way; see `claw_envs.chat.scripted.Mix`.
            simulator: `scripted`, `llm` for a user that the model `model` at `base_url` plays, or what makes the user
                for a task.
            base_url: of an OpenAI-compatible endpoint, e.g. `http://localhost:8000/v1`; its key is read from
                `OPENAI_API_KEY`.
            model: the name the endpoint knows it by.
            **kwargs: see `ClawEnv`.

        Raises:
            UserError: if the mix names no way to react, or is not made of shares of 1; if there is no such simulator,
                or endpoint and simulator do not go together.
        """
        super().__init__(tasks, **kwargs)
        reactions = make_mix(mix or {})
        self._client: ChatClient | None = None
        if simulator != "llm" and (base_url or model):
            raise UserError("base_url and model are for a simulated user that a model plays: add simulator=llm")
        if callable(simulator):
            self._make_user = simulator
        elif simulator == "scripted":
            self._make_user = lambda task: scripted_user(task, reactions)
        elif simulator == "llm":
            self._make_user = self._played_by(base_url, model)
        else:
            raise UserError(f"no simulator {simulator!r}; there are: scripted, llm")
        self._user: Simulator | None = None
        self._reactions: list[Reaction] = []

    async def aclose(self) -> None:
        """See `ClawEnv.aclose`."""
        await super().aclose()
        if self._client is not None:
            await self._client.aclose()

    def _played_by(self, base_url: str, model: str) -> Callable[[Task], Simulator]:
        if not base_url or not model:
            raise UserError("simulator=llm needs the base_url of an endpoint and the name of its model")
        client = self._client = ChatClient(base_url, model, api_key=api_key())
        return lambda task: llm_user(task, client)

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

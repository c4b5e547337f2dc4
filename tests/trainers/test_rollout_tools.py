"""Calls of tools in an episode: who shows the schemas, what the environment is given, what the next prompt holds."""

import asyncio
import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from claw_envs.chat.env import ChatEnv
from claw_envs.core.env import Action, Step, tool_calls_of
from claw_envs.core.episode import Answer, Episode, Observation
from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from evals.results import transcript
from trainers.policies.base import Completion, Prompt, Sampling
from trainers.policies.render import Renderer
from trainers.rollout import run_episode

TOOLS = ({"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {}}}},)
EXAMPLE = ({"role": "user", "content": "1 + 1?"}, {"role": "assistant", "content": "2"})
SHOWS_TOOLS = """{% for tool in tools or [] %}<|im_start|>tool
{{ tool | tojson }}<|im_end|>
{% endfor %}{% for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


def call(call_id: str, arguments: str = '{"a": 1}') -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "add", "arguments": arguments}}


class Tooled(ChatEnv):
    """Answers each call by its id, and takes note of the agent's messages."""

    tools = TOOLS
    few_shot = EXAMPLE

    def __init__(self, *, native: bool) -> None:
        super().__init__(max_steps=3)
        self.native_tools = native
        self.actions: list[Action] = []

    async def _start(self, task: Task) -> Observation:
        self.system_prompt = f"Solve {task.id}."
        return await super()._start(task)

    async def _act(self, action: Action) -> Step:
        self.actions.append(action)
        calls = tool_calls_of(action)
        answers = [Answer(each["id"], f"answer {i}") for i, each in enumerate(calls)]
        return Step(Observation(role="tool", text="\n".join(answer.text for answer in answers) or "?", answers=answers))


class Caller:
    """Says what it is given in turn, and keeps what it was asked with."""

    version = 0

    def __init__(self, *turns: tuple[str, list[dict[str, Any]]], renderer: Renderer | None = None) -> None:
        self._turns = iter(turns)
        self.prompts: list[Prompt] = []
        self.tools: list[Any] = []
        if renderer is not None:
            self.renderer = renderer

    async def generate(
        self, prompt: Prompt, sampling: Sampling, *, tools: Sequence[dict[str, Any]] | None = None
    ) -> Completion:
        self.prompts.append(prompt)
        self.tools.append(tools)
        text, calls = next(self._turns)
        if not hasattr(self, "renderer"):
            return Completion([], [], [], [], "tool_calls" if calls else "stop", text, calls)
        said = self.renderer.tokenizer.encode(text + "<|im_end|>")
        return Completion([int(i) for i in prompt], said, [0.0] * len(said), [0] * len(said), "stop", text)  # type: ignore[arg-type]

    async def score(self, prompt: Prompt, response_ids: Sequence[int]) -> list[float]:
        raise NotImplementedError

    async def update_weights(self, state: Mapping[str, Any], version: int) -> None:
        raise NotImplementedError

    async def aclose(self) -> None:
        """Nothing to release."""


def run(env: Tooled, policy: Caller) -> Episode:
    return asyncio.run(
        run_episode(env, policy, sampling=Sampling(seed=1), task="student-wp-002", seed=7, episode_id="e")
    )


TURNS: list[tuple[str, list[dict[str, Any]]]] = [
    ("I add.", [call("x"), call("y", "{}")]),
    ("", [call("z", "{broken")]),
    ("It is 2.", []),
]


def test_an_endpoint_s_calls_go_to_the_environment_and_into_the_conversation() -> None:
    env, policy = Tooled(native=True), Caller(*TURNS)
    episode = run(env, policy)
    assert env.actions == [
        {"content": "I add.", "tool_calls": [call("x"), call("y", "{}")]},
        {"content": "", "tool_calls": [call("z", "{broken")]},
        "It is 2.",
    ]
    assert [turn.tool_calls for turn in episode.turns] == [calls for _, calls in TURNS]
    assert policy.tools == [list(TOOLS)] * 3
    assert [(turn.tools, turn.examples) for turn in episode.turns] == [(list(TOOLS), len(EXAMPLE))] * 3
    opening, second, third = policy.prompts
    assert [message["content"] for message in opening[:3]] == ["Solve student-wp-002.", "1 + 1?", "2"]  # type: ignore[index]
    assert second == [
        *opening,
        {"role": "assistant", "content": "I add.", "tool_calls": [call("x"), call("y", "{}")]},
        {"role": "tool", "tool_call_id": "x", "content": "answer 0"},
        {"role": "tool", "tool_call_id": "y", "content": "answer 1"},
    ]
    assert third == [
        *second,
        {"role": "assistant", "content": "", "tool_calls": [call("z", json.dumps({"unreadable": "{broken"}))]},
        {"role": "tool", "tool_call_id": "z", "content": "answer 0"},
    ]


def test_calls_that_a_server_left_in_the_text_are_answered_by_a_user_message() -> None:
    class Reads(Tooled):
        async def _act(self, action: Action) -> Step:
            return Step(Observation(role="tool", text="[ok]\n2", answers=[Answer("", "[ok]\n2")]))

    policy = Caller(*[("<tool_call>{}</tool_call>", [])] * 3)
    run(Reads(native=True), policy)
    assert [message["role"] for message in policy.prompts[-1][-4:]] == ["assistant", "user"] * 2  # type: ignore[index]
    assert policy.prompts[-1][-1] == {"role": "user", "content": "[ok]\n2"}


def test_the_transcript_holds_calls_as_they_came() -> None:
    messages = transcript(run(Tooled(native=True), Caller(*TURNS)))
    said = [message for message in messages if message["role"] == "assistant"][1:]
    assert [message.get("tool_calls", []) for message in said] == [calls for _, calls in TURNS]
    answered = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    assert answered == ["x", "y", "z"]


def test_tools_that_the_system_prompt_explains_are_shown_by_nobody_else(policy: Any) -> None:
    caller = Caller(*[("text", [])] * 3)
    run(Tooled(native=False), caller)
    assert caller.tools == [None] * 3
    renderer = shows_tools(policy)
    episode = run(Tooled(native=False), Caller(*[("text", [])] * 3, renderer=renderer))
    assert '"add"' not in renderer.decode(episode.turns[0].prompt_ids)


def shows_tools(policy: Any) -> Renderer:
    tokenizer = copy.deepcopy(policy.tokenizer)
    tokenizer.chat_template = SHOWS_TOOLS
    return Renderer(tokenizer)


def test_an_embedded_model_sees_native_tools_and_its_own_text(policy: Any) -> None:
    renderer = shows_tools(policy)
    text = '<tool_call>{"name":"add","arguments":{}}</tool_call>'
    env, caller = Tooled(native=True), Caller(*[(text, [])] * 3, renderer=renderer)
    episode = run(env, caller)
    assert env.actions == [text] * 3
    assert all(turn.tool_calls == [] for turn in episode.turns)
    for before, after in zip(episode.turns, episode.turns[1:], strict=False):
        so_far = before.prompt_ids + before.response_ids
        assert after.prompt_ids[: len(so_far)] == so_far
    shown = renderer.decode(episode.turns[-1].prompt_ids, keep_special=True)
    assert shown.count('{"type": "function"') == 1
    assert shown.count(text) == 2


def test_native_tools_need_a_template_that_shows_them(policy: Any) -> None:
    with pytest.raises(UserError, match="shows no tools"):
        run(Tooled(native=True), Caller(renderer=policy.renderer))

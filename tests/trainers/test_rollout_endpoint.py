"""An episode of function calling against an OpenAI-compatible server that refuses what OpenAI's refuses."""

import asyncio
import json
from typing import Any

from aiohttp import web

from claw_envs.core.episode import Episode, Status
from claw_envs.core.task import Limits, Task, VerifierSpec
from claw_envs.toolcall.env import ToolCallEnv
from trainers.policies import Sampling, make_policy
from trainers.rollout import run_episode

Body = dict[str, Any]
TASK = Task(
    id="sum",
    family="toolcall",
    instruction="What is 40 + 2?",
    verifier=VerifierSpec(kind="answer", options={"answer": "42", "kind": "numeric"}),
    limits=Limits(max_steps=8),
)


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def calls(*arguments: str) -> Body:
    entries = [
        {"id": f"{i}-{each}", "type": "function", "function": {"name": "add", "arguments": each}}
        for i, each in enumerate(arguments)
    ]
    return {"content": None, "tool_calls": entries}


def refusal(body: Body) -> str | None:
    """Why OpenAI's server, or the chat template behind another, would refuse the request."""
    waiting: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return "a tool message must answer a call of the message before"
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            return f"calls without an answer: {waiting}"
        for call in message.get("tool_calls", []):
            if not isinstance(json.loads(call["function"]["arguments"]), dict):
                return "arguments must be an object"
            waiting.append(call["id"])
    return f"calls without an answer: {waiting}" if waiting else None


def played(*replies: Body) -> tuple[Episode, list[Body]]:
    """The episode in which the server gives `replies`, and its requests."""
    requests: list[Body] = []

    async def answer(request: web.Request) -> web.Response:
        requests.append(await request.json())
        if why := refusal(requests[-1]):
            return web.json_response({"error": {"message": why}}, status=400)
        message = {"role": "assistant"} | replies[len(requests) - 1]
        usage = {"prompt_tokens": 10 * len(requests), "completion_tokens": 3}
        return web.json_response({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage})

    async def run() -> Episode:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        policy = make_policy(f"http://127.0.0.1:{runner.addresses[0][1]}/v1#model")
        env = ToolCallEnv([TASK], tools=[add], form="openai")
        try:
            return await run_episode(env, policy, sampling=Sampling(), task="sum", episode_id="e")
        finally:
            await env.aclose()
            await policy.aclose()
            await runner.cleanup()

    return asyncio.run(run()), requests


def test_every_request_is_one_that_the_server_takes() -> None:
    episode, requests = played(
        calls('{"a": 40, "b": 2}', '{"a": 1, "b": 1}'),
        calls('{"a": 40', "[1]", '{"a": "x", "b": 2}'),
        {"content": '<tool_call>{"name": "add", "arguments": {"a": 20, "b": 22}}</tool_call>'},
        {"content": ""},
        {"content": "It is 42."},
    )
    assert (episode.status, episode.error, episode.outcome) == (Status.COMPLETED, None, 1.0)
    assert [tool["function"]["name"] for tool in requests[0]["tools"]] == ["add"]
    said = [(message["role"], (message["content"] + "\n").splitlines()[0]) for message in requests[-1]["messages"][1:]]
    assert said[:4] == [("user", "What is 40 + 2?"), ("assistant", ""), ("tool", "[ok]"), ("tool", "[ok]")]
    assert [role for role, _ in said[4:]] == [
        "assistant",
        "tool",
        "tool",
        "tool",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert said[-3][1] == "[ok]"
    assert [(turn.prompt_tokens, turn.response_tokens) for turn in episode.turns] == [(10 * i, 3) for i in range(1, 6)]

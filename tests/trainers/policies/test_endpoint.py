"""The endpoint policy against a real HTTP server."""

import asyncio
from typing import Any

import pytest
from aiohttp import web

from claw_envs.core.errors import ContextFull, UserError
from trainers.policies import Completion, Sampling, make_policy

ASKED = [{"role": "user", "content": "2 + 3?"}]


async def _served(handler: Any) -> tuple[web.AppRunner, str]:
    app = web.Application()
    app.router.add_post("/v1/chat/completions", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    return runner, f"http://127.0.0.1:{runner.addresses[0][1]}/v1"


def test_text_comes_back_and_the_sampling_arrives() -> None:
    received: list[dict[str, Any]] = []

    async def handler(request: web.Request) -> web.Response:
        received.append(await request.json())
        usage = {"prompt_tokens": 11, "completion_tokens": 7}
        return web.json_response(
            {"choices": [{"message": {"content": "5"}, "finish_reason": "length"}], "usage": usage}
        )

    async def run() -> Completion:
        runner, url = await _served(handler)
        policy = make_policy(f"{url}#small")
        try:
            return await policy.generate(ASKED, Sampling(max_new_tokens=7, temperature=0.5, seed=3))
        finally:
            await policy.aclose()
            await runner.cleanup()

    completion = asyncio.run(run())
    assert completion == Completion([], [], [], [], "length", "5", prompt_tokens=11, response_tokens=7)
    assert received == [{"model": "small", "messages": ASKED, "temperature": 0.5, "max_tokens": 7, "seed": 3}]


def test_tools_are_the_api_s_business() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    received: list[dict[str, Any]] = []

    async def handler(request: web.Request) -> web.Response:
        received.append(await request.json())
        message = {"content": "I add.", "tool_calls": [call]}
        return web.json_response({"choices": [{"message": message, "finish_reason": "tool_calls"}]})

    async def run() -> Completion:
        runner, url = await _served(handler)
        policy = make_policy(f"{url}#small")
        try:
            return await policy.generate(ASKED, Sampling(), tools=[{"type": "function", "function": {"name": "add"}}])
        finally:
            await policy.aclose()
            await runner.cleanup()

    assert asyncio.run(run()) == Completion([], [], [], [], "tool_calls", "I add.", (call,))
    assert received[0]["tools"] == [{"type": "function", "function": {"name": "add"}}]


def test_what_an_endpoint_cannot_do_is_said() -> None:
    async def run() -> None:
        policy = make_policy("http://127.0.0.1:1/v1#small")
        for call in (
            policy.generate([1, 2], Sampling()),
            policy.generate(ASKED, Sampling(top_p=0.5)),
            policy.score(ASKED, [1]),
            policy.update_weights({}, 1),
        ):
            with pytest.raises(UserError):
                await call
        await policy.aclose()

    asyncio.run(run())
    with pytest.raises(UserError, match="URL#MODEL"):
        make_policy("http://127.0.0.1:1/v1")


def test_a_full_context_is_passed_on() -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.json_response({"error": {"code": "context_length_exceeded"}}, status=400)

    async def run() -> None:
        runner, url = await _served(handler)
        policy = make_policy(f"{url}#small")
        try:
            with pytest.raises(ContextFull):
                await policy.generate(ASKED, Sampling())
        finally:
            await policy.aclose()
            await runner.cleanup()

    asyncio.run(run())

"""A server that says yes to all that vLLM's client asks, for faults and the order of calls."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from trainers.policies.engines.vllm import VLLMEngine

GENERATE = "/inference/v1/generate"
Handler = Callable[[web.Request], Awaitable[web.Response]]


class Server:
    """Says yes to every call, keeps the tag of the weights, and gives two tokens; `handlers` answer in its place."""

    def __init__(self, **handlers: Handler) -> None:
        self.handlers = {f"/{name}": handler for name, handler in handlers.items()}
        self.missing: set[str] = set()
        self.tag = "default"
        self.asked: list[tuple[str, Any]] = []

    @property
    def changes(self) -> list[str]:
        """Calls that change something, tags with what they say."""
        shown = {"/update_weight_version": lambda body: body["new_version"]}
        return [
            f"{path} {shown[path](body)}" if path in shown else path
            for path, body in self.asked
            if path not in ("/weight_info", GENERATE)
        ]

    async def answer(self, request: web.Request) -> web.Response:
        body = await request.json() if request.can_read_body else dict(request.query)
        self.asked.append((request.path, body))
        if request.path in self.missing:
            return web.Response(text='{"detail":"Not Found"}', status=404)
        handler = self.handlers.get(request.path.replace("/v1/", "/").replace("/inference/", "/"))
        if handler is not None:
            return await handler(request)
        if request.path == "/update_weight_version":
            self.tag = body["new_version"]
        if request.path == GENERATE:
            return tokens()
        return web.json_response({"weight_version": self.tag})


def tokens(**choice: Any) -> web.Response:
    """A response of two tokens."""
    content = [{"token": f"token_id:{token}", "logprob": -0.5} for token in (7, 8)]
    choice = {"token_ids": [7, 8], "finish_reason": "stop", "logprobs": {"content": content}} | choice
    return web.json_response({"choices": [choice]})


def failing(status: int, message: str) -> Handler:
    """Answers as vLLM does where it refuses or fails."""

    async def handler(request: web.Request) -> web.Response:
        return web.json_response({"error": {"message": message, "code": status}}, status=status)

    return handler


def run_with(server: Server, call: Callable[[VLLMEngine], Awaitable[Any]], **options: Any) -> Any:
    """What `call` gives for a client of `server`."""

    async def run() -> Any:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", server.answer)
        runner = web.AppRunner(app, handler_cancellation=True)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        engine = VLLMEngine(f"http://127.0.0.1:{runner.addresses[0][1]}", **{"retries": 0} | options)
        try:
            async with asyncio.timeout(60):
                return await call(engine)
        finally:
            await engine.aclose()
            await runner.cleanup()

    return asyncio.run(run())

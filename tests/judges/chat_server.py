"""A real OpenAI-compatible HTTP server on loopback whose answers, and faults, the test decides."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, Self

from aiohttp import web

from claw_envs.core.episode import content_of

Body = dict[str, Any]


class Fault(NamedTuple):
    """An answer that is not a completion."""

    status: int = 500
    headers: dict[str, str] = {}
    text: str = "scripted fault"


class Cut(NamedTuple):
    """A completion that ran into the token limit."""

    text: str


DROP = object()
"""The server closes the connection without an answer."""

HANG = object()
"""The server never answers."""

Answer = Callable[[Body], Any] | Callable[[Body], Awaitable[Any]]


class ChatServer:
    """`async with ChatServer(answer) as server`: answers are text, `Cut`, `Fault`, `DROP` or `HANG`.

    Attributes:
        requests: bodies in order of arrival.
        most_in_flight: the largest number of requests that were open at once.
    """

    def __init__(self, answer: Answer) -> None:
        self.requests: list[Body] = []
        self.authorizations: list[str | None] = []
        self.in_flight = self.most_in_flight = 0
        self._answer = answer
        self._stopped = asyncio.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._complete)
        self._runner = web.AppRunner(app, shutdown_timeout=1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stopped.set()
        await self._runner.cleanup()

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        self.authorizations.append(request.headers.get("Authorization"))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            answer = self._answer(body)
            answer = await answer if asyncio.iscoroutine(answer) else answer
            if answer is HANG:
                await self._stopped.wait()
        finally:
            self.in_flight -= 1
        if answer is DROP and request.transport is not None:
            request.transport.close()
        if isinstance(answer, Fault):
            return web.Response(status=answer.status, headers=answer.headers, text=answer.text)
        return web.json_response(completion(body, answer))


def completion(body: Body, answer: Any) -> Body:
    """The protocol's answer; tokens are counted as words."""
    cut = isinstance(answer, Cut)
    text = answer.text if isinstance(answer, Cut) else str(answer)
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "length" if cut else "stop"}
    prompt = sum(len(content_of(message).split()) for message in body["messages"])
    n = body.get("n", 1)
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": body["model"],
        "choices": [{"index": i} | choice for i in range(n)],
        "usage": {"prompt_tokens": prompt, "completion_tokens": n * len(text.split())},
    }


def in_turn(*answers: Any) -> Answer:
    """The k-th request gets the k-th answer."""
    left = iter(answers)
    return lambda _: next(left)

"""A conversation with a vLLM server, and what a real one answered: recorded through a proxy, played by a server.

What differs from run to run is left out of the requests that are compared: directories but for their names, and salts.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import ClientSession, web

from claw_envs.core.errors import ContextFull
from trainers.policies import Sampling
from trainers.policies.engines.base import EngineRefusedError
from trainers.policies.engines.vllm import VLLMEngine

PROMPT = [1, 4093, 198, 3137, 2, 198, 1, 520]


class Exchange(msgspec.Struct, omit_defaults=True):
    """One request and its answer."""

    method: str
    path: str
    query: dict[str, str]
    status: int
    answer: str
    body: Any = None

    def asks(self, other: "Exchange") -> bool:
        """Whether both have the same request."""
        return (self.method, self.path, self.query, self.body) == (other.method, other.path, other.query, other.body)


class Tape(msgspec.Struct):
    """A recording: what passed over the wire, and what the client made of it."""

    version: str
    results: dict[str, Any]
    exchanges: list[Exchange]


def save(tape: Tape, file: Path, root: Path) -> None:
    """Write `tape`, an exchange a line, without the place `root` of the models."""
    version, results = (msgspec.json.encode(value).decode() for value in (tape.version, tape.results))
    exchanges = ",\n".join(msgspec.json.encode(exchange).decode() for exchange in tape.exchanges)
    text = f'{{"version":{version},\n"results":{results},\n"exchanges":[\n{exchanges}\n]}}\n'
    file.write_text(text.replace(str(root), "/models"))


async def conversation(engine: VLLMEngine, other: str, adapter: str) -> dict[str, Any]:
    """Everything that a CPU server can do.

    Args:
        engine: its server has version 0.
        other: directory of weights that are not the server's.
        adapter: directory of an adapter.
    """
    results: dict[str, Any] = {"version": await engine.refresh(), "workers": await engine.workers()}
    results["greedy"] = await engine.generate(PROMPT, Sampling(6, temperature=0))
    results["sampled"] = await engine.generate(PROMPT, Sampling(6, temperature=0.7, top_p=0.9, seed=5), stop_ids=[7])
    results["score"] = await engine.score(PROMPT, 3)
    results["full"] = await _error(engine.generate([5] * 600, Sampling(4)))
    await engine.update_from_disk(other, 3)
    results["updated"] = await engine.generate(PROMPT, Sampling(6, temperature=0))
    await engine.load_lora("style", adapter)
    await engine.load_lora("style", adapter)
    results["adapted"] = await engine.generate(PROMPT, Sampling(6, temperature=0), lora="style")
    await engine.unload_lora("style")
    results["unknown"] = await _error(engine.generate(PROMPT, Sampling(6), lora="style"))
    await engine.pause("wait")
    await engine.resume()
    await engine.abort()
    results["health"], results["refreshed"] = await engine.health(), await engine.refresh()
    return msgspec.json.decode(msgspec.json.encode(results))  # type: ignore[no-any-return]


async def _error(call: Awaitable[Any]) -> str:
    try:
        await call
    except (ContextFull, EngineRefusedError) as error:
        return type(error).__name__
    return "none"


class TapeServer:
    """A server on a free port of the loopback, for one `async with`."""

    def __init__(self, answer: Callable[[Exchange], Awaitable[Exchange]]) -> None:
        self._answer = answer
        self.exchanges: list[Exchange] = []

    async def __aenter__(self) -> str:
        app = web.Application(client_max_size=2**24)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.Response:
        raw = await request.read()
        body = msgspec.json.decode(raw) if raw else None
        asked = Exchange(request.method, request.path, dict(request.query), 0, "", body)
        answered = await self._answer(asked)
        self.exchanges.append(answered)
        return web.Response(status=answered.status, text=answered.answer, content_type="application/json")


def forward(upstream: str, session: ClientSession, hidden: str = "") -> Callable[[Exchange], Awaitable[Exchange]]:
    """Ask a real server; `hidden` is a path that it is taken not to have."""

    async def answer(asked: Exchange) -> Exchange:
        if asked.path == hidden:
            return msgspec.structs.replace(_plain(asked), status=404, answer='{"detail":"Not Found"}')
        data = None if asked.body is None else msgspec.json.encode(asked.body)
        headers = {"Content-Type": "application/json"}
        url = upstream + asked.path
        async with session.request(asked.method, url, data=data, params=asked.query, headers=headers) as response:
            return msgspec.structs.replace(_plain(asked), status=response.status, answer=await response.text())

    return answer


def play(tape: Tape) -> Callable[[Exchange], Awaitable[Exchange]]:
    """Answer each recorded request once, in the recorded order where the same comes again."""
    rest = list(tape.exchanges)

    async def answer(asked: Exchange) -> Exchange:
        asked = _plain(asked)
        for i, exchange in enumerate(rest):
            if exchange.asks(asked):
                return rest.pop(i)
        return msgspec.structs.replace(asked, status=400, answer="this was not asked when the tape was recorded")

    return answer


async def converse(
    answer: Callable[[Exchange], Awaitable[Exchange]], other: str, adapter: str
) -> tuple[dict[str, Any], list[Exchange]]:
    """The conversation with a server that answers so: its results and what passed over the wire."""
    server = TapeServer(answer)
    async with server as url, asyncio.timeout(300):
        engine = VLLMEngine(url, retries=0)
        try:
            return await conversation(engine, other, adapter), server.exchanges
        finally:
            await engine.aclose()


def _plain(asked: Exchange) -> Exchange:
    return msgspec.structs.replace(asked, body=_without_chance(asked.body))


def _without_chance(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    plain = {key: _without_chance(item) for key, item in value.items()}
    plain |= {key: Path(plain[key]).name for key in ("weights_path", "lora_path") if key in plain}
    return plain | ({"cache_salt": "salt"} if "cache_salt" in plain else {})

"""What servers may do instead of answering, and stand-ins with a model that takes no time."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

from aiohttp import web

from tests.trainers.policies.engines.standin import StandIn
from trainers.policies import Sampling
from trainers.policies.engines.replicas import Replicas
from trainers.policies.engines.sglang import SGLangEngine

PROMPT = [3, 4, 5]
FEW = Sampling(max_new_tokens=4, seed=1)
MANY = Sampling(max_new_tokens=40, seed=1)


def mini(seed: int = 0) -> Any:
    """A tiny model in memory."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=64,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        eos_token_id=None,
    )
    model: Any = LlamaForCausalLM(config)
    return model.eval()


async def broken(request: web.Request) -> web.Response:
    """A server that fails."""
    return web.Response(status=500, text="CUDA out of memory")


async def not_ready(request: web.Request) -> web.Response:
    """A server that starts."""
    return web.Response(status=503)


async def half(request: web.Request) -> web.StreamResponse:
    """An answer that breaks off."""
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b'{"text": "", "output_ids": [1')
    assert request.transport is not None
    request.transport.abort()
    return response


async def nonsense(request: web.Request) -> web.Response:
    """JSON of another kind."""
    return web.json_response({"meta_info": [1, 2]})


async def no_json(request: web.Request) -> web.Response:
    """What a proxy says."""
    return web.Response(text="<html>proxy</html>")


async def wrong_tokens(request: web.Request) -> web.Response:
    """Log-probs of other tokens."""
    meta = {"finish_reason": {"type": "stop"}, "output_token_logprobs": [[-1.0, 7, None]], "weight_version": "0"}
    return web.json_response({"output_ids": [8], "meta_info": meta})


async def hangs(request: web.Request) -> web.Response:
    """No answer."""
    await asyncio.Event().wait()
    raise AssertionError


FAULTS = [broken, half, nonsense, no_json, wrong_tokens]


def run_with(count: int, ask: Callable[..., Awaitable[Any]], *, retries: int = 0, **options: Any) -> Any:
    """What `ask(engine, servers)` gives: for one server its client, for several, or with options, `Replicas`."""

    async def run() -> Any:
        async with AsyncExitStack() as stack:
            servers = [await stack.enter_async_context(StandIn(mini()).serve()) for _ in range(count)]
            clients = [SGLangEngine(server.url, retries=retries, timeout=60) for server in servers]
            engine: Any = Replicas(clients, backoff=0.01, **options) if count > 1 or options else clients[0]
            try:
                return await asyncio.wait_for(ask(engine, servers), 120)
            finally:
                await engine.aclose()

    return asyncio.run(run())

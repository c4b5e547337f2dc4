"""What goes wrong with servers, and how requests come through: one server, then several."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from claw_envs.core.errors import ContextFull, UserError
from tests.trainers.policies.engines.servers import free_port
from tests.trainers.policies.engines.standin import Fault, StandIn
from trainers.policies import Sampling
from trainers.policies.engines.base import EngineDownError, EngineRefusedError
from trainers.policies.engines.replicas import Replicas
from trainers.policies.engines.sglang import SGLangEngine

PROMPT = [3, 4, 5]
FEW = Sampling(max_new_tokens=4, seed=1)
MANY = Sampling(max_new_tokens=40, seed=1)


def _mini(seed: int = 0) -> Any:
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
    return LlamaForCausalLM(config).eval()


@pytest.fixture
def saved(tmp_path: Path) -> str:
    """A directory with other weights."""
    _mini(1).save_pretrained(tmp_path)
    return str(tmp_path)


async def _broken(request: web.Request) -> web.Response:
    return web.Response(status=500, text="CUDA out of memory")


async def _not_ready(request: web.Request) -> web.Response:
    return web.Response(status=503)


async def _half(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b'{"text": "", "output_ids": [1')
    assert request.transport is not None
    request.transport.abort()
    return response


async def _nonsense(request: web.Request) -> web.Response:
    return web.json_response({"meta_info": [1, 2]})


async def _no_json(request: web.Request) -> web.Response:
    return web.Response(text="<html>proxy</html>")


async def _wrong_tokens(request: web.Request) -> web.Response:
    meta = {"finish_reason": {"type": "stop"}, "output_token_logprobs": [[-1.0, 7, None]], "weight_version": "0"}
    return web.json_response({"output_ids": [8], "meta_info": meta})


async def _hangs(request: web.Request) -> web.Response:
    await asyncio.Event().wait()
    raise AssertionError


FAULTS = [_broken, _half, _nonsense, _no_json, _wrong_tokens]


def _run(count: int, ask: Callable[..., Awaitable[Any]], *, retries: int = 0, **options: Any) -> Any:
    """What `ask(engine, servers)` gives: for one server its client, for several, or with options, `Replicas`."""

    async def run() -> Any:
        async with AsyncExitStack() as stack:
            servers = [await stack.enter_async_context(StandIn(_mini()).serve()) for _ in range(count)]
            clients = [SGLangEngine(server.url, retries=retries, timeout=60) for server in servers]
            engine: Any = Replicas(clients, backoff=0.01, **options) if count > 1 or options else clients[0]
            try:
                return await asyncio.wait_for(ask(engine, servers), 120)
            finally:
                await engine.aclose()

    return asyncio.run(run())


# --- one server ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_and_a_retry_gets_over_it(fault: Fault) -> None:
    async def told(engine: SGLangEngine, servers: list[StandIn]) -> None:
        servers[0].faults.append(fault)
        with pytest.raises(EngineDownError):
            await engine.generate(PROMPT, FEW)
        assert len((await engine.generate(PROMPT, FEW)).ids) == 4

    _run(1, told)


@pytest.mark.parametrize("fault", [_broken, _half, _nonsense, _no_json])
def test_a_client_asks_again(fault: Fault) -> None:
    async def again(engine: SGLangEngine, servers: list[StandIn]) -> Any:
        servers[0].faults.extend([fault, fault])
        sampled = await engine.generate(PROMPT, FEW)
        assert len({body["rid"] for path, body in servers[0].asked if path == "/generate"}) == 3
        return sampled

    assert len(_run(1, again, retries=2).ids) == 4


def test_a_server_that_is_not_ready_is_waited_for() -> None:
    async def waits(engine: SGLangEngine, servers: list[StandIn]) -> Any:
        servers[0].faults.extend([_not_ready] * 3)
        return await engine.generate(PROMPT, FEW)

    assert len(_run(1, waits, retries=1).ids) == 4


def test_no_call_takes_longer_than_its_deadline() -> None:
    async def hangs(_: SGLangEngine, servers: list[StandIn]) -> None:
        servers[0].faults.append(_hangs)
        engine = SGLangEngine(servers[0].url, timeout=0.2)
        with pytest.raises(EngineDownError, match=r"no answer within 0\.2 s"):
            await engine.generate(PROMPT, FEW)
        await engine.aclose()
        assert servers[0].paths()[-1] == "/abort_request"

    _run(1, hangs)


def test_refusals_are_not_asked_again() -> None:
    async def full(request: web.Request) -> web.Response:
        said = "The input (9 tokens) is longer than the model's context length (8 tokens)."
        return web.json_response({"error": {"message": said}}, status=400)

    async def no(request: web.Request) -> web.Response:
        return web.json_response({"error": {"message": "no such adapter"}}, status=400)

    async def locked(request: web.Request) -> web.Response:
        return web.Response(status=401)

    async def refused(engine: SGLangEngine, servers: list[StandIn]) -> None:
        for fault, error in ((full, ContextFull), (no, EngineRefusedError), (locked, UserError)):
            servers[0].faults.append(fault)
            with pytest.raises(error):
                await engine.generate(PROMPT, FEW)
        assert servers[0].paths().count("/generate") == 3

    _run(1, refused, retries=3)


def test_a_cancelled_request_is_ended_at_the_server() -> None:
    async def cancels(engine: SGLangEngine, servers: list[StandIn]) -> None:
        await engine.pause("keep")
        request = asyncio.create_task(engine.generate(PROMPT, MANY))
        await servers[0].until_asked()
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        rid = next(body["rid"] for path, body in servers[0].asked if path == "/generate")
        assert ("/abort_request", {"rid": rid}) in servers[0].asked

    _run(1, cancels)


def test_weights_that_go_backwards_are_a_restart(saved: str) -> None:
    async def restarts(engine: SGLangEngine, servers: list[StandIn]) -> None:
        await engine.update_from_disk(saved, 3)
        assert set((await engine.generate(PROMPT, FEW)).versions) == {3}
        servers[0].tag = "default"
        with pytest.raises(EngineDownError, match="it was restarted"):
            await engine.generate(PROMPT, FEW)
        with pytest.raises(EngineDownError, match="it was restarted"):
            await engine.score(PROMPT, 1)

    _run(1, restarts)


def test_the_server_goes_on_after_an_update_that_fails(saved: str) -> None:
    async def fails(engine: SGLangEngine, servers: list[StandIn]) -> None:
        with pytest.raises(EngineRefusedError, match="no weights in"):
            await engine.update_from_disk("/nowhere", 1)
        assert set((await engine.generate(PROMPT, FEW)).versions) == {0}
        await engine.update_from_disk(saved, 1)
        assert set((await engine.generate(PROMPT, FEW)).versions) == {1}
        assert servers[0].paths().count("/continue_generation") == 2

    _run(1, fails)


def test_half_loaded_weights_are_not_sampled_from() -> None:
    async def mixed(engine: SGLangEngine, servers: list[StandIn]) -> None:
        good = _mini(1).state_dict()
        servers[0].breaks = True
        with pytest.raises(EngineRefusedError, match="partially updated"):
            await engine.update_from_tensors(good, 1)
        with pytest.raises(EngineDownError, match="its weights are mixed"):
            await engine.generate(PROMPT, FEW)
        assert not await engine.health()
        servers[0].breaks = False
        await engine.update_from_tensors(good, 1)
        assert set((await engine.generate(PROMPT, FEW)).versions) == {1}

    _run(1, mixed)


def test_an_adapter_is_loaded_again_and_used_by_its_name() -> None:
    async def loads(engine: SGLangEngine, servers: list[StandIn]) -> None:
        await engine.load_lora("mine", "/a/1")
        await engine.load_lora("mine", "/a/2")
        await engine.generate(PROMPT, FEW, lora="mine")
        assert servers[0].adapters == {"mine": "/a/2"}
        assert servers[0].asked[-1][1]["lora_path"] == "mine"
        await engine.unload_lora("mine")
        with pytest.raises(EngineRefusedError, match="not loaded"):
            await engine.unload_lora("mine")

    _run(1, loads)


# --- several ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [*FAULTS, _not_ready])
def test_a_request_moves_to_another_server(fault: Fault) -> None:
    async def moves(engine: Replicas, servers: list[StandIn]) -> None:
        servers[0].faults.append(fault)
        servers[1].faults.append(fault)
        responses = await asyncio.gather(*(engine.generate(PROMPT, FEW) for _ in range(6)))
        assert [len(response.ids) for response in responses] == [4] * 6

    _run(3, moves)


def test_a_request_that_breaks_every_server_does_not_break_them_for_ever() -> None:
    async def breaks(engine: Replicas, servers: list[StandIn]) -> None:
        for server in servers:
            server.faults.extend([_broken] * 2)
        with pytest.raises(EngineDownError, match="CUDA out of memory"):
            await engine.generate(PROMPT, FEW)
        assert len((await engine.generate(PROMPT, FEW)).ids) == 4

    _run(2, breaks, attempts=4)


def test_a_dead_server_is_taken_out_and_its_requests_move() -> None:
    async def run() -> None:
        async with StandIn(_mini()).serve() as alive:
            dead = StandIn(_mini())
            clients: list[SGLangEngine] = []
            async with dead.serve():
                clients = [SGLangEngine(dead.url, retries=0), SGLangEngine(alive.url, retries=0)]
                engine = Replicas(clients, backoff=0.01)
                await engine.pause("keep")
                requests = [asyncio.create_task(engine.generate(PROMPT, MANY)) for _ in range(6)]
                await asyncio.gather(dead.until_asked(3), alive.until_asked(3))
            await clients[1].resume()
            responses = await asyncio.gather(*requests)
            assert [len(response.ids) for response in responses] == [40] * 6
            assert engine.states == {dead.url: "down", alive.url: "up"}
            await engine.aclose()

    asyncio.run(asyncio.wait_for(run(), 120))


def test_where_none_is_up_a_request_fails_after_its_patience() -> None:
    async def run() -> None:
        engine = Replicas([SGLangEngine(f"http://127.0.0.1:{free_port()}", retries=0)], patience=0.2, backoff=0.01)
        with pytest.raises(EngineDownError, match=r"no engine was up for 0\.2 s: http.*cannot be reached"):
            await engine.generate(PROMPT, FEW)
        await engine.aclose()

    asyncio.run(asyncio.wait_for(run(), 120))


def test_a_restarted_server_gets_the_weights_of_the_others(saved: str) -> None:
    async def restarts(engine: Replicas, servers: list[StandIn]) -> None:
        await engine.update_from_disk(saved, 3)
        for server in servers:
            server.tag, server.model = "default", _mini()
        responses = await asyncio.gather(*(engine.generate(PROMPT, FEW) for _ in range(4)))
        assert {version for response in responses for version in response.versions} == {3}
        assert "3" in {server.tag for server in servers}

    _run(2, restarts)


def test_a_restarted_server_waits_where_its_weights_are_not_on_disk() -> None:
    async def restarts(engine: Replicas, servers: list[StandIn]) -> None:
        state = _mini(1).state_dict()
        await engine.update_from_tensors(state, 1)
        servers[0].tag = "default"
        responses = await asyncio.gather(*(engine.generate(PROMPT, FEW) for _ in range(4)))
        assert {version for response in responses for version in response.versions} == {1}
        assert engine.states[servers[0].url] == "down"
        await engine.update_from_tensors(state, 2)
        assert engine.states[servers[0].url] == "up"

    _run(2, restarts)


def test_requests_of_a_server_that_hangs_move() -> None:
    async def hangs(engine: Replicas, servers: list[StandIn]) -> None:
        servers[0].faults.append(_hangs)
        servers[0].healthy = False
        responses = await asyncio.gather(*(engine.generate(PROMPT, FEW) for _ in range(2)))
        assert [len(response.ids) for response in responses] == [4, 4]
        assert engine.states[servers[0].url] == "down"

    _run(2, hangs, check_every=0.05)


def test_a_slow_server_gets_less() -> None:
    async def slow(engine: Replicas, servers: list[StandIn]) -> None:
        first = SGLangEngine(servers[0].url)
        await first.pause("keep")
        held = asyncio.create_task(engine.generate(PROMPT, FEW))
        await servers[0].until_asked()
        for _ in range(5):
            await engine.generate(PROMPT, FEW)
        assert [server.paths().count("/generate") for server in servers] == [1, 5]
        await first.resume()
        await first.aclose()
        assert len((await held).ids) == 4

    _run(2, slow)


def test_what_a_server_cut_off_is_gone_on_with() -> None:
    async def cut(engine: Replicas, servers: list[StandIn]) -> None:
        whole = await engine.generate(PROMPT, Sampling(max_new_tokens=40, temperature=0.0))

        def end(count: int) -> None:
            if count == 15:
                servers[0].on_token = lambda count: None
                next(iter(servers[0].running.values())).set()

        servers[0].on_token = end
        again = await engine.generate(PROMPT, Sampling(max_new_tokens=40, temperature=0.0))
        assert again.ids == whole.ids
        assert again.logprobs == pytest.approx(whole.logprobs)
        assert again.finish_reason == "length"
        bodies = [body for path, body in servers[0].asked if path == "/generate"]
        assert bodies[-1]["input_ids"] == [*PROMPT, *whole.ids[:15]]
        assert bodies[-1]["sampling_params"]["max_new_tokens"] == 25

    _run(1, cut, attempts=2)


def test_a_server_is_drained_while_the_others_serve(saved: str) -> None:
    async def rolls(engine: Replicas, servers: list[StandIn]) -> None:
        requests = [asyncio.create_task(engine.generate(PROMPT, MANY)) for _ in range(6)]
        for server in servers:
            await server.until(lambda server=server: bool(server.running))
        await engine.update_from_disk(saved, 1)
        responses = await asyncio.gather(*requests)
        assert [response.versions for response in responses] == [[0] * 40] * 6
        assert {server.tag for server in servers} == {"1"}
        assert set(engine.states.values()) == {"up"}
        assert engine.version == 1

    _run(2, rolls, rolling=True)


@pytest.mark.parametrize("rolling", [False, True])
def test_an_update_refuses_nothing(saved: str, rolling: bool) -> None:
    async def updates(engine: Replicas, servers: list[StandIn]) -> None:
        stop = asyncio.Event()

        async def client() -> list[list[int]]:
            seen = []
            while not stop.is_set():
                seen.append((await engine.generate(PROMPT, MANY)).versions)
            return seen

        clients = [asyncio.create_task(client()) for _ in range(4)]
        for version in range(1, 4):
            await engine.update_from_disk(saved, version)
        stop.set()
        versions = [version for seen in await asyncio.gather(*clients) for version in seen]
        assert all(one == sorted(one) and len(one) == 40 for one in versions)
        assert set((await engine.generate(PROMPT, FEW)).versions) == {3}

    _run(2, updates, rolling=rolling)


def test_a_server_that_cannot_take_the_weights_is_taken_out(saved: str) -> None:
    async def fails(engine: Replicas, servers: list[StandIn]) -> None:
        servers[0].breaks = True
        await engine.update_from_disk(saved, 1)
        assert engine.version == 1
        assert engine.states[servers[0].url] == "down"
        assert set((await engine.generate(PROMPT, FEW)).versions) == {1}
        servers[1].breaks = True
        with pytest.raises(EngineRefusedError, match="partially updated"):
            await engine.update_from_disk(saved, 2)

    _run(2, fails)


def test_cancelling_a_request_among_several_ends_it_at_its_server() -> None:
    async def cancels(engine: Replicas, servers: list[StandIn]) -> None:
        await engine.pause("keep")
        request = asyncio.create_task(engine.generate(PROMPT, MANY))
        await servers[0].until_asked()
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        assert ["/abort_request" in server.paths() for server in servers] == [True, False]

    _run(2, cancels)


def test_a_broadcast_wants_every_server() -> None:
    async def wants(engine: Replicas, servers: list[StandIn]) -> None:
        servers[0].healthy = False
        servers[0].faults.append(_broken)
        await engine.generate(PROMPT, FEW)
        await engine.generate(PROMPT, FEW)
        with pytest.raises(EngineDownError, match="to all servers or none"):
            await engine.update_distributed([], 1, lambda: asyncio.sleep(0))

    _run(2, wants)

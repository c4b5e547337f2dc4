"""What goes wrong with a server, and how requests come through."""

import asyncio
from typing import Any

import pytest
from aiohttp import web

from claw_envs.core.errors import ContextFull, UserError
from tests.trainers.policies.engines.faults import (
    FAULTS,
    FEW,
    MANY,
    PROMPT,
    broken,
    half,
    hangs,
    mini,
    no_json,
    nonsense,
    not_ready,
    run_with,
)
from tests.trainers.policies.engines.standin import Fault, StandIn
from trainers.policies.engines.base import EngineDownError, EngineRefusedError
from trainers.policies.engines.sglang import SGLangEngine


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_and_a_retry_gets_over_it(fault: Fault) -> None:
    async def told(engine: SGLangEngine, servers: list[StandIn]) -> None:
        servers[0].faults.append(fault)
        with pytest.raises(EngineDownError):
            await engine.generate(PROMPT, FEW)
        assert len((await engine.generate(PROMPT, FEW)).ids) == 4

    run_with(1, told)


@pytest.mark.parametrize("fault", [broken, half, nonsense, no_json])
def test_a_client_asks_again(fault: Fault) -> None:
    async def again(engine: SGLangEngine, servers: list[StandIn]) -> Any:
        servers[0].faults.extend([fault, fault])
        sampled = await engine.generate(PROMPT, FEW)
        assert len({body["rid"] for path, body in servers[0].asked if path == "/generate"}) == 3
        return sampled

    assert len(run_with(1, again, retries=2).ids) == 4


def test_a_server_that_is_not_ready_is_waited_for() -> None:
    async def waits(engine: SGLangEngine, servers: list[StandIn]) -> Any:
        servers[0].faults.extend([not_ready] * 3)
        return await engine.generate(PROMPT, FEW)

    assert len(run_with(1, waits, retries=1).ids) == 4


def test_no_call_takes_longer_than_its_deadline() -> None:
    async def waits(_: SGLangEngine, servers: list[StandIn]) -> None:
        servers[0].faults.append(hangs)
        engine = SGLangEngine(servers[0].url, timeout=0.2)
        with pytest.raises(EngineDownError, match=r"no answer within 0\.2 s"):
            await engine.generate(PROMPT, FEW)
        await engine.aclose()
        assert servers[0].paths()[-1] == "/abort_request"

    run_with(1, waits)


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

    run_with(1, refused, retries=3)


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

    run_with(1, cancels)


def test_weights_that_go_backwards_are_a_restart(saved: str) -> None:
    async def restarts(engine: SGLangEngine, servers: list[StandIn]) -> None:
        await engine.update_from_disk(saved, 3)
        assert set((await engine.generate(PROMPT, FEW)).versions) == {3}
        servers[0].tag = "default"
        with pytest.raises(EngineDownError, match="it was restarted"):
            await engine.generate(PROMPT, FEW)
        with pytest.raises(EngineDownError, match="it was restarted"):
            await engine.score(PROMPT, 1)

    run_with(1, restarts)


def test_the_server_goes_on_after_an_update_that_fails(saved: str) -> None:
    async def fails(engine: SGLangEngine, servers: list[StandIn]) -> None:
        with pytest.raises(EngineRefusedError, match="no weights in"):
            await engine.update_from_disk("/nowhere", 1)
        assert set((await engine.generate(PROMPT, FEW)).versions) == {0}
        await engine.update_from_disk(saved, 1)
        assert set((await engine.generate(PROMPT, FEW)).versions) == {1}
        assert servers[0].paths().count("/continue_generation") == 2

    run_with(1, fails)


def test_half_loaded_weights_are_not_sampled_from() -> None:
    async def mixed(engine: SGLangEngine, servers: list[StandIn]) -> None:
        good = mini(1).state_dict()
        servers[0].breaks = True
        with pytest.raises(EngineRefusedError, match="partially updated"):
            await engine.update_from_tensors(good, 1)
        with pytest.raises(EngineDownError, match="its weights are mixed"):
            await engine.generate(PROMPT, FEW)
        assert await engine.refresh() == -1
        servers[0].breaks = False
        await engine.update_from_tensors(good, 1)
        assert set((await engine.generate(PROMPT, FEW)).versions) == {1}

    run_with(1, mixed)


def test_a_directory_that_broke_off_leaves_mixed_weights(saved: str) -> None:
    async def mixed(engine: SGLangEngine, servers: list[StandIn]) -> None:
        servers[0].breaks = True
        with pytest.raises(EngineRefusedError, match="partially updated"):
            await engine.update_from_disk(saved, 1)
        with pytest.raises(EngineDownError, match="its weights are mixed"):
            await engine.generate(PROMPT, FEW)
        servers[0].breaks = False
        with pytest.raises(EngineRefusedError, match="no weights in"):
            await engine.update_from_disk("/nowhere", 1)
        with pytest.raises(EngineDownError, match="its weights are mixed"):
            await engine.generate(PROMPT, FEW)
        await engine.update_from_disk(saved, 2)
        assert set((await engine.generate(PROMPT, FEW)).versions) == {2}

    run_with(1, mixed)


def test_a_request_during_an_update_waits_for_its_end() -> None:
    async def waits(engine: SGLangEngine, servers: list[StandIn]) -> None:
        loading, asked = asyncio.Event(), asyncio.Event()

        async def load() -> None:
            loading.set()
            await asked.wait()

        servers[0].on_load = load
        update = asyncio.create_task(engine.update_from_tensors(mini(1).state_dict(), 1))
        await loading.wait()
        request = asyncio.create_task(engine.generate(PROMPT, FEW))
        await servers[0].until_asked()
        asked.set()
        assert set((await request).versions) == {1}
        await update

    run_with(1, waits)


def test_a_server_that_stays_paused_is_told(saved: str) -> None:
    async def stays(engine: SGLangEngine, servers: list[StandIn]) -> None:
        servers[0].statuses["/continue_generation"].append(500)
        await engine.update_from_disk(saved, 1)  # it is asked again, whatever `retries` says
        assert set((await engine.generate(PROMPT, FEW)).versions) == {1}
        servers[0].statuses["/continue_generation"].extend([500] * 4)
        with pytest.raises(EngineDownError, match="stays paused"):
            await engine.update_from_disk(saved, 2)

    run_with(1, stays)


def test_a_closed_client_opens_no_connection() -> None:
    async def closes(engine: SGLangEngine, servers: list[StandIn]) -> None:
        await engine.aclose()
        with pytest.raises(EngineDownError, match="was closed"):
            await engine.generate(PROMPT, FEW)
        assert servers[0].asked == []

    run_with(1, closes)


def test_log_probs_must_be_numbers() -> None:
    async def no_number(request: web.Request) -> web.Response:
        meta = {"output_token_logprobs": [[None, 7, None]], "weight_version": "0"}
        return web.json_response({"output_ids": [7], "meta_info": meta})

    async def refuses(engine: SGLangEngine, servers: list[StandIn]) -> None:
        servers[0].faults.append(no_number)
        with pytest.raises(EngineDownError, match="log-probs that are not"):
            await engine.generate(PROMPT, FEW)

    run_with(1, refuses)


def test_a_url_with_a_password_is_not_taken_and_not_shown() -> None:
    with pytest.raises(UserError, match="pass api_key") as refused:
        SGLangEngine("http://me:secret@localhost:1")
    assert "secret" not in str(refused.value)


def test_an_adapter_is_replaced_under_way() -> None:
    async def replaces(engine: SGLangEngine, servers: list[StandIn]) -> None:
        server, begun = servers[0], asyncio.Event()
        await engine.load_lora("mine", "/a/1")
        server.on_token = lambda count: begun.set()
        running = asyncio.create_task(engine.generate(PROMPT, MANY, lora="mine"))
        await begun.wait()
        await engine.pause("keep")
        await engine.load_lora("mine", "/a/2")  # while requests of the old one are in flight
        later = asyncio.create_task(engine.generate(PROMPT, FEW, lora="mine"))
        await server.until_asked(2)
        await engine.resume()
        assert (len((await running).ids), len((await later).ids)) == (40, 4)
        old, new = (body["lora_path"] for path, body in server.asked if path == "/generate")
        await server.until(lambda: ("/unload_lora_adapter", {"lora_name": old}) in server.asked)
        assert server.adapters == {new: "/a/2"}

    run_with(1, replaces)


def test_an_adapter_is_unloaded() -> None:
    async def loads(engine: SGLangEngine, servers: list[StandIn]) -> None:
        await engine.load_lora("mine", "/a/1")
        await engine.unload_lora("mine")
        assert servers[0].adapters == {}
        with pytest.raises(EngineRefusedError, match="not loaded"):
            await engine.unload_lora("mine")

    run_with(1, loads)

"""vLLM's client against a small server: new weights, adapters, and what a server was not started for."""

import asyncio
import importlib.util
from pathlib import Path
from typing import Any

import pytest
import torch
from aiohttp import web
from safetensors.torch import load_file

from claw_envs.core.errors import UserError
from trainers.policies import Sampling
from trainers.policies.engines.base import EngineDownError, EngineRefusedError, TensorSpec, WeightGroup
from trainers.policies.engines.vllm import VLLMEngine
from trainers.policies.engines.vllm_transfer import NcclSender

from .vllm_server import GENERATE, Server, failing, run_with, tokens
from .vllm_tape import PROMPT

GROUP = WeightGroup("localhost", 1234, 1, 2)


@pytest.fixture
def weights(tmp_path: Path) -> str:
    (tmp_path / "model.safetensors").touch()
    return str(tmp_path)


def test_an_update_holds_requests_and_tags_the_weights(weights: str) -> None:
    async def check(engine: VLLMEngine) -> None:
        await engine.update_from_disk(weights, 3)
        assert engine.version == await engine.refresh() == 3

    server = Server()
    run_with(server, check)
    assert server.changes == [
        "/pause",
        "/update_weight_version unfinished",
        "/collective_rpc",
        "/update_weight_version 3",
        "/resume",
    ]
    assert server.asked[0][1] == {"mode": "keep", "clear_cache": "true"}
    assert server.asked[2][1] == {"method": "reload_weights", "kwargs": {"weights_path": weights}}


def test_a_request_during_an_update_waits_for_its_end(weights: str) -> None:
    loading, asked = asyncio.Event(), asyncio.Event()

    async def load(request: web.Request) -> web.Response:
        loading.set()
        await asked.wait()
        return web.json_response({"results": [None]})

    async def sample(request: web.Request) -> web.Response:
        asked.set()
        return tokens()

    async def check(engine: VLLMEngine) -> None:
        update = asyncio.create_task(engine.update_from_disk(weights, 3))
        await loading.wait()
        assert (await engine.generate(PROMPT, Sampling(2))).ids == [7, 8]
        await update

    run_with(Server(collective_rpc=load, generate=sample), check)


def test_a_failed_update_leaves_it_paused_until_the_next(weights: str) -> None:
    async def check(engine: VLLMEngine) -> None:
        with pytest.raises(EngineDownError, match="shapes differ"):
            await engine.update_from_disk(weights, 3)
        assert server.changes[-1] == "/abort_requests"
        assert "/resume" not in server.changes
        for call in (engine.generate(PROMPT, Sampling(2)), engine.score(PROMPT, 1)):
            with pytest.raises(EngineDownError, match="mixed"):
                await call
        assert (await engine.refresh(), engine.version) == (-1, 0)
        server.handlers.clear()
        await engine.update_from_disk(weights, 4)
        assert server.changes[-1] == "/resume"
        assert (await engine.generate(PROMPT, Sampling(2))).versions == [4, 4]

    server = Server(collective_rpc=failing(500, "shapes differ"))
    run_with(server, check)


def test_a_cancelled_update_is_a_failed_one(weights: str) -> None:
    reached = asyncio.Event()

    async def hang(request: web.Request) -> web.Response:
        reached.set()
        await asyncio.Event().wait()
        raise AssertionError

    async def check(engine: VLLMEngine) -> None:
        task = asyncio.create_task(engine.update_from_disk(weights, 3))
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert server.changes[-1] == "/abort_requests"
        assert await engine.refresh() == -1

    server = Server(collective_rpc=hang)
    run_with(server, check)


def test_weights_that_are_not_there_are_never_asked_for(tmp_path: Path) -> None:
    async def check(engine: VLLMEngine) -> None:
        with pytest.raises(UserError, match="no weights in"):
            await engine.update_from_disk(str(tmp_path / "typo"), 3)

    server = Server()
    run_with(server, check)
    assert server.asked == []


def test_tensors_pass_through_a_directory_that_is_gone_afterwards() -> None:
    seen: dict[str, Any] = {}

    async def reload(request: web.Request) -> web.Response:
        directory = Path((await request.json())["kwargs"]["weights_path"])
        seen.update(load_file(directory / "model.safetensors"), directory=directory)
        return web.json_response({"results": [None]})

    shared = torch.arange(6.0).reshape(2, 3)
    state = {"embed": shared, "head": shared, "transposed": shared.T}
    run_with(Server(collective_rpc=reload), lambda engine: engine.update_from_tensors(state, 2))
    assert not seen.pop("directory").exists()
    assert seen.keys() == state.keys()
    assert all(torch.equal(seen[name], tensor) for name, tensor in state.items())


def test_a_broadcast_runs_beside_the_server_s_receiving() -> None:
    sent = asyncio.Event()

    async def receive(request: web.Request) -> web.Response:
        await sent.wait()
        return web.json_response({})

    async def send() -> None:
        sent.set()

    async def check(engine: VLLMEngine) -> None:
        await engine.join(GROUP)
        await engine.update_distributed([TensorSpec("a", "float32", (2, 3))], 6, send)
        assert engine.version == 6
        await engine.leave()
        await engine.leave()

    server = Server(update_weights=receive)
    run_with(server, check)
    assert server.changes == [
        "/init_weight_transfer_engine",
        "/pause",
        "/start_weight_update",
        "/update_weight_version unfinished",
        "/update_weights",
        "/finish_weight_update",
        "/update_weight_version 6",
        "/resume",
        "/shutdown_weight_transfer_engine",
    ]
    bodies = dict(server.asked)
    assert bodies["/init_weight_transfer_engine"]["init_info"] == {
        "master_address": "localhost",
        "master_port": 1234,
        "rank_offset": 1,
        "world_size": 2,
        "packed": False,
    }
    info = {"names": ["a"], "dtype_names": ["float32"], "shapes": [[2, 3]]}
    assert bodies["/update_weights"] == {"update_info": info}


def test_a_broadcast_that_fails_ends_the_server_s_session() -> None:
    async def receive(request: web.Request) -> web.Response:
        await asyncio.Event().wait()
        raise AssertionError

    async def send() -> None:
        raise EngineDownError("a member is gone")

    async def check(engine: VLLMEngine) -> None:
        await engine.join(GROUP)
        with pytest.raises(EngineDownError, match="a member is gone"):
            await engine.update_distributed([], 6, send)
        assert server.changes[-2:] == ["/finish_weight_update", "/abort_requests"]

    server = Server(update_weights=receive)
    run_with(server, check)


@pytest.mark.skipif(importlib.util.find_spec("vllm") is not None, reason="vllm is installed here")
def test_a_trainer_that_broadcasts_needs_vllm_itself() -> None:
    async def check(engine: VLLMEngine) -> None:
        with pytest.raises(UserError, match="pip install vllm"):
            await NcclSender(GROUP).open(engine)

    run_with(Server(), check)


def test_a_transfer_that_the_server_was_not_started_for_changes_nothing() -> None:
    async def check(engine: VLLMEngine) -> None:
        with pytest.raises(UserError, match="nccl, not gloo"):
            await engine.join(GROUP._replace(backend="gloo"))
        await engine.join(GROUP)
        with pytest.raises(EngineDownError, match="not configured"):
            await engine.update_distributed([], 6, asyncio.Event().wait)  # type: ignore[arg-type]
        assert server.changes[-1] == "/resume"
        assert len((await engine.generate(PROMPT, Sampling(2))).ids) == 2

    server = Server(start_weight_update=failing(500, "Weight transfer not configured"))
    run_with(server, check)


def test_a_server_outside_development_mode_samples_and_says_what_it_lacks(weights: str) -> None:
    async def check(engine: VLLMEngine) -> None:
        assert (await engine.generate(PROMPT, Sampling(2))).versions == [0, 0]
        assert await engine.refresh() == 0
        for call in (engine.update_from_disk(weights, 1), engine.pause(), engine.workers()):
            with pytest.raises(UserError, match="VLLM_SERVER_DEV_MODE=1"):
                await call

    server = Server()
    server.missing = {"/weight_info", "/pause", "/resume", "/get_world_size"}
    run_with(server, check)


def test_a_server_without_adapters_says_how_to_start_it() -> None:
    async def check(engine: VLLMEngine) -> None:
        with pytest.raises(UserError, match="--enable-lora"):
            await engine.load_lora("style", "/adapter")

    server = Server()
    server.missing = {"/v1/load_lora_adapter", "/v1/unload_lora_adapter"}
    run_with(server, check)


def test_a_request_that_meets_its_adapter_being_swapped_is_asked_again() -> None:
    loading, met = asyncio.Event(), asyncio.Event()

    async def load(request: web.Request) -> web.Response:
        loading.set()
        await met.wait()
        return web.json_response("loaded")

    async def refuse(request: web.Request) -> web.Response:
        met.set()
        del server.handlers["/generate"]
        return await failing(404, "The model `style` does not exist.")(request)

    async def check(engine: VLLMEngine) -> None:
        swap = asyncio.create_task(engine.load_lora("style", "/adapter"))
        await loading.wait()
        assert (await engine.generate(PROMPT, Sampling(2), lora="style")).ids == [7, 8]
        await swap
        server.handlers["/generate"] = failing(404, "The model `style` does not exist.")
        with pytest.raises(EngineRefusedError):
            await engine.generate(PROMPT, Sampling(2), lora="style")

    server = Server(load_lora_adapter=load, generate=refuse)
    run_with(server, check)


def test_each_load_of_an_adapter_has_its_own_cache() -> None:
    async def check(engine: VLLMEngine) -> None:
        for _ in range(2):
            await engine.load_lora("style", "/adapter")
            await engine.generate(PROMPT, Sampling(2), lora="style")
        await engine.generate(PROMPT, Sampling(2))

    server = Server()
    run_with(server, check)
    bodies = [body for path, body in server.asked if path == GENERATE]
    assert len({body.get("cache_salt") for body in bodies}) == 3
    assert [body.get("model") for body in bodies] == ["style", "style", None]


def test_a_server_that_was_restarted_is_found_out(weights: str) -> None:
    async def check(engine: VLLMEngine) -> None:
        await engine.update_from_disk(weights, 3)
        server.tag = "default"
        with pytest.raises(EngineDownError, match="restarted"):
            await engine.generate(PROMPT, Sampling(2))
        assert await engine.refresh() == 0

    server = Server()
    run_with(server, check)

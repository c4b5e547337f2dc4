"""vLLM's client against a real server's recorded answers, and against a small server for faults and order of calls.

The recordings were made by `test_vllm_real.py`, which runs the same conversation with a real server where there is one.
"""

import asyncio
import importlib.util
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from aiohttp import web
from safetensors.torch import load_file

from claw_envs.core.errors import ContextFull, UserError
from trainers.policies import Sampling
from trainers.policies.engines.base import EngineDownError, EngineRefusedError, TensorSpec, WeightGroup
from trainers.policies.engines.vllm import VLLMEngine
from trainers.policies.engines.vllm_transfer import NcclSender

from .vllm_tape import PROMPT, Tape, converse, play

RECORDINGS = sorted(Path(__file__).parent.glob("vllm_*.json"))
GROUP = WeightGroup("localhost", 1234, 1, 2)
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


def _with(server: Server, call: Callable[[VLLMEngine], Awaitable[Any]], **options: Any) -> Any:
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


@pytest.fixture
def weights(tmp_path: Path) -> str:
    (tmp_path / "model.safetensors").touch()
    return str(tmp_path)


@pytest.mark.parametrize("file", RECORDINGS, ids=[file.stem for file in RECORDINGS])
def test_what_a_real_server_answered_is_understood(file: Path, tmp_path: Path) -> None:
    tape = msgspec.json.decode(file.read_bytes(), type=Tape)
    other, adapter = tmp_path / "other", tmp_path / "adapter1"
    other.mkdir()
    (other / "model.safetensors").touch()
    results, exchanges = asyncio.run(converse(play(tape), str(other), str(adapter)))
    assert results == tape.results
    assert len(exchanges) == len(tape.exchanges)
    assert results["full"] == "ContextFull"
    assert results["updated"][2] == [3] * 6


def test_there_is_a_recording_of_each_way() -> None:
    assert {file.stem for file in RECORDINGS} == {
        "vllm_0.29_generate",
        "vllm_0.29_completions",
        "vllm_0.32_generate",
        "vllm_0.32_completions",
    }


def test_tagged_tokens_carry_their_own_version() -> None:
    spans = [{"version": "default", "start": 0, "end": 1}, {"version": "4", "start": 1, "end": 2}]

    async def handler(request: web.Request) -> web.Response:
        return tokens(weight_versions=spans)

    async def check(engine: VLLMEngine) -> None:
        assert (await engine.generate(PROMPT, Sampling(2))).versions == [0, 4]
        assert engine.version == 4
        spans[0]["version"] = "4"
        assert (await engine.generate(PROMPT, Sampling(2))).versions == [4, 4]

    server = Server(generate=handler)
    _with(server, check)
    assert [path for path, _ in server.asked] == ["/weight_info", GENERATE, GENERATE]


def test_without_tags_a_response_across_an_update_carries_the_older_version() -> None:
    async def handler(request: web.Request) -> web.Response:
        server.tag = "5"
        return tokens()

    async def check(engine: VLLMEngine) -> None:
        assert (await engine.generate(PROMPT, Sampling(2))).versions == [2, 2]
        assert (await engine.generate(PROMPT, Sampling(2))).versions == [5, 5]

    server = Server(generate=handler)
    server.tag = "2"
    _with(server, check)


def test_a_server_that_was_restarted_is_found_out(weights: str) -> None:
    async def check(engine: VLLMEngine) -> None:
        await engine.update_from_disk(weights, 3)
        server.tag = "default"
        with pytest.raises(EngineDownError, match="restarted"):
            await engine.generate(PROMPT, Sampling(2))
        assert await engine.refresh() == 0

    server = Server()
    _with(server, check)


def test_an_update_holds_requests_and_tags_the_weights(weights: str) -> None:
    async def check(engine: VLLMEngine) -> None:
        await engine.update_from_disk(weights, 3)
        assert engine.version == await engine.refresh() == 3

    server = Server()
    _with(server, check)
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

    _with(Server(collective_rpc=load, generate=sample), check)


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
    _with(server, check)


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
    _with(server, check)


def test_weights_that_are_not_there_are_never_asked_for(tmp_path: Path) -> None:
    async def check(engine: VLLMEngine) -> None:
        with pytest.raises(UserError, match="no weights in"):
            await engine.update_from_disk(str(tmp_path / "typo"), 3)

    server = Server()
    _with(server, check)
    assert server.asked == []


def test_tensors_pass_through_a_directory_that_is_gone_afterwards() -> None:
    seen: dict[str, Any] = {}

    async def reload(request: web.Request) -> web.Response:
        directory = Path((await request.json())["kwargs"]["weights_path"])
        seen.update(load_file(directory / "model.safetensors"), directory=directory)
        return web.json_response({"results": [None]})

    shared = torch.arange(6.0).reshape(2, 3)
    state = {"embed": shared, "head": shared, "transposed": shared.T}
    _with(Server(collective_rpc=reload), lambda engine: engine.update_from_tensors(state, 2))
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
    _with(server, check)
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
    _with(server, check)


@pytest.mark.skipif(importlib.util.find_spec("vllm") is not None, reason="vllm is installed here")
def test_a_trainer_that_broadcasts_needs_vllm_itself() -> None:
    async def check(engine: VLLMEngine) -> None:
        with pytest.raises(UserError, match="pip install vllm"):
            await NcclSender(GROUP).open(engine)

    _with(Server(), check)


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
    _with(server, check)


def test_a_server_outside_development_mode_samples_and_says_what_it_lacks(weights: str) -> None:
    async def check(engine: VLLMEngine) -> None:
        assert (await engine.generate(PROMPT, Sampling(2))).versions == [0, 0]
        assert await engine.refresh() == 0
        for call in (engine.update_from_disk(weights, 1), engine.pause(), engine.flush(), engine.workers()):
            with pytest.raises(UserError, match="VLLM_SERVER_DEV_MODE=1"):
                await call

    server = Server()
    server.missing = {"/weight_info", "/pause", "/resume", "/reset_prefix_cache", "/get_world_size"}
    _with(server, check)


def test_a_server_without_adapters_says_how_to_start_it() -> None:
    async def check(engine: VLLMEngine) -> None:
        with pytest.raises(UserError, match="--enable-lora"):
            await engine.load_lora("style", "/adapter")

    server = Server()
    server.missing = {"/v1/load_lora_adapter", "/v1/unload_lora_adapter"}
    _with(server, check)


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
    _with(server, check)


def test_each_load_of_an_adapter_has_its_own_cache() -> None:
    async def check(engine: VLLMEngine) -> None:
        for _ in range(2):
            await engine.load_lora("style", "/adapter")
            await engine.generate(PROMPT, Sampling(2), lora="style")
        await engine.generate(PROMPT, Sampling(2))

    server = Server()
    _with(server, check)
    bodies = [body for path, body in server.asked if path == GENERATE]
    assert len({body.get("cache_salt") for body in bodies}) == 3
    assert [body.get("model") for body in bodies] == ["style", "style", None]


def test_log_probs_before_the_temperature_are_not_taken_for_those_after_it() -> None:
    async def check(engine: VLLMEngine) -> None:
        assert len((await engine.generate(PROMPT, Sampling(2, temperature=0))).ids) == 2
        for sampling in (Sampling(2, temperature=0.7), Sampling(2, top_p=0.9)):
            with pytest.raises(UserError, match="processed_logprobs"):
                await engine.generate(PROMPT, sampling)

    _with(Server(), check)


def test_a_cancelled_call_closes_its_connection() -> None:
    reached, closed = asyncio.Event(), asyncio.Event()

    async def hang(request: web.Request) -> web.Response:
        reached.set()
        try:
            await asyncio.Event().wait()
        finally:
            closed.set()
        raise AssertionError

    async def check(engine: VLLMEngine) -> None:
        task = asyncio.create_task(engine.generate(PROMPT, Sampling(2)))
        await reached.wait()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await closed.wait()

    _with(Server(generate=hang), check)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ([], "0 choices"),
        ([{"token_ids": None}], "without token ids"),
        ([{"token_ids": [7]}], "log-probs that are not"),
        ([{"token_ids": [7], "logprobs": {"content": [{"token": "token_id:8", "logprob": 0.0}]}}], "log-probs that"),
    ],
)
def test_an_answer_that_does_not_add_up_is_no_answer(choices: list[Any], message: str) -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.json_response({"choices": choices})

    async def check(engine: VLLMEngine) -> None:
        with pytest.raises(EngineDownError, match=message):
            await engine.generate(PROMPT, Sampling(2))

    _with(Server(generate=handler), check)


def test_scores_of_other_tokens_are_no_scores() -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.json_response({"choices": [{"token_ids": [1]}], "prompt_logprobs": [None, {"5": {"logprob": -1.0}}]})

    async def check(engine: VLLMEngine) -> None:
        assert await engine.score([4, 5], 1) == [-1.0]
        assert await engine.score([4, 5], 2) == []
        for ids in ([4, 6], [4, 5, 5]):
            with pytest.raises(EngineDownError, match="scores that are not"):
                await engine.score(ids, 1)

    _with(Server(generate=handler), check)


def test_a_full_context_is_told_apart() -> None:
    said = "The decoder prompt (length 2048) plus the number of requested output tokens (at least 1) is longer than "
    server = Server(generate=failing(400, said + "the maximum model length of 2048."))

    async def check(engine: VLLMEngine) -> None:
        with pytest.raises(ContextFull):
            await engine.generate(PROMPT, Sampling(2))

    _with(server, check)


def test_arguments_that_make_no_sense() -> None:
    with pytest.raises(UserError, match="pauses by"):
        VLLMEngine("http://localhost:1", pause_mode="never")  # type: ignore[arg-type]
    with pytest.raises(UserError, match="URL"):
        VLLMEngine("localhost:1")

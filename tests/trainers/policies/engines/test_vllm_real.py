"""The client against a real vLLM server on the CPU: `CLAW_TEST_VLLM_PYTHON` names a Python that has vllm.

With `CLAW_TEST_VLLM_RECORD` set, what the server answers is written to the recordings that `test_vllm.py` plays.
"""

import asyncio
import base64
import itertools
import json
import os
import pickle
import re
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.llm import ChatClient
from trainers.policies import Sampling, make_policy
from trainers.policies.engines import ServedPolicy
from trainers.policies.engines.base import EngineDownError, Sampled, TensorSpec, WeightGroup
from trainers.policies.engines.vllm import VLLMEngine
from trainers.policies.engines.vllm_transfer import described, membership

from .vllm_models import Reference
from .vllm_real import Served, serve
from .vllm_tape import PROMPT, Tape, converse, forward, save

PYTHON = os.environ.get("CLAW_TEST_VLLM_PYTHON", "")
pytestmark = pytest.mark.skipif(not PYTHON, reason="CLAW_TEST_VLLM_PYTHON names no Python with vllm")
LONG = Sampling(400, temperature=1.0, seed=3)
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def served(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve(PYTHON, tiny_model, tmp_path_factory.mktemp("vllm")) as server:
        yield server


@asynccontextmanager
async def _engine(served: Served, **options: Any) -> AsyncIterator[VLLMEngine]:
    """A client of the server with its first weights, as of a new version."""
    engine = VLLMEngine(served.url, **options)
    try:
        async with asyncio.timeout(240):
            await engine.update_from_disk(str(served.first), next(_numbers))
            yield engine
    finally:
        await engine.aclose()


async def _metric(served: Served, name: str) -> float:
    async with aiohttp.ClientSession() as session, session.get(f"{served.url}/metrics") as response:
        text = await response.text()
    return sum(float(value) for value in re.findall(rf"^vllm:{name}(?:{{.*}})? (\S+)$", text, re.MULTILINE))


async def _until_sampling(served: Served, before: float) -> None:
    """Returns once the server has sampled more than `before` tokens in its life."""
    while await _metric(served, "generation_tokens_total") <= before + 20:
        pass


async def _long(served: Served, engine: VLLMEngine, **options: Any) -> asyncio.Task[Sampled]:
    """A long response that is under way."""
    before = await _metric(served, "generation_tokens_total")
    task = asyncio.create_task(engine.generate(PROMPT, LONG, **options))
    await _until_sampling(served, before)
    return task


def _run(call: Callable[[VLLMEngine], Awaitable[None]], served: Served, **options: Any) -> None:
    async def run() -> None:
        async with _engine(served, **options) as engine:
            await call(engine)

    asyncio.run(run())


# The recordings come first: they need a server that has the version it was started with.


@pytest.mark.parametrize("route", ["generate", "completions"])
def test_the_recorded_answers_are_those_of_this_server(served: Served, route: str) -> None:
    file = Path(__file__).with_name(f"vllm_{'.'.join(served.version.split('.')[:2])}_{route}.json")
    hidden = "/inference/v1/generate" if route == "completions" else ""

    async def run() -> Tape:
        async with aiohttp.ClientSession() as session:
            answer = forward(served.url, session, hidden)
            results, exchanges = await converse(answer, str(served.other), str(served.adapters[0]))
            await session.post(
                f"{served.url}/collective_rpc",
                json={"method": "reload_weights", "kwargs": {"weights_path": str(served.first)}},
            )
            await session.post(f"{served.url}/update_weight_version", json={"new_version": "default"})
            return Tape(served.version, results, exchanges)

    tape = asyncio.run(run())
    if os.environ.get("CLAW_TEST_VLLM_RECORD"):
        save(tape, file, served.first.parent)
    recorded = msgspec.json.decode(file.read_bytes(), type=Tape)
    assert [(e.method, e.path, e.query, e.body, e.status) for e in tape.exchanges] == [
        (e.method, e.path, e.query, e.body, e.status) for e in recorded.exchanges
    ]
    for name in ("greedy", "sampled", "updated", "adapted"):
        ids, logprobs, *rest = tape.results[name]
        assert [ids, *rest] == [recorded.results[name][0], *recorded.results[name][2:]], name
        assert logprobs == pytest.approx(recorded.results[name][1], abs=1e-3)


def test_it_samples_and_scores_as_transformers_does(served: Served) -> None:
    reference = Reference(served.first)

    async def check(engine: VLLMEngine) -> None:
        sampled = await engine.generate(PROMPT, Sampling(12, temperature=0))
        assert sampled.ids == reference.greedy(PROMPT, 12)
        assert sampled.finish_reason == "length"
        whole = [*PROMPT, *sampled.ids]
        assert sampled.logprobs == pytest.approx(reference.logprobs(whole, len(PROMPT)), abs=1e-3)
        assert await engine.score(whole, 1) == pytest.approx(reference.logprobs(whole, 1), abs=1e-3)
        assert await engine.score(whole, len(PROMPT)) == pytest.approx(sampled.logprobs, abs=1e-3)
        assert sampled.versions == [engine.version] * 12

    _run(check, served)


def test_log_probs_are_those_of_the_temperature(served: Served) -> None:
    reference = Reference(served.first)

    async def check(engine: VLLMEngine) -> None:
        sampling = Sampling(10, temperature=0.6, seed=11)
        sampled, again = await asyncio.gather(engine.generate(PROMPT, sampling), engine.generate(PROMPT, sampling))
        assert sampled.ids == again.ids
        expected = reference.logprobs([*PROMPT, *sampled.ids], len(PROMPT), temperature=0.6)
        assert sampled.logprobs == pytest.approx(expected, abs=1e-3)

    _run(check, served)


def test_a_stop_token_ends_the_response_and_is_in_it(served: Served) -> None:
    expected = Reference(served.first).greedy(PROMPT, 3)

    async def check(engine: VLLMEngine) -> None:
        sampled = await engine.generate(PROMPT, Sampling(12, temperature=0), stop_ids=[expected[0]])
        assert (sampled.ids, sampled.finish_reason, len(sampled.logprobs)) == (expected[:1], "stop", 1)

    _run(check, served)


@pytest.mark.parametrize("mode", ["recompute", "keep", "wait"])
def test_an_update_in_mid_request_refuses_nothing(served: Served, mode: Any) -> None:
    reference = Reference(served.other)

    async def check(engine: VLLMEngine) -> None:
        old, new = engine.version, next(_numbers)
        task = await _long(served, engine)
        await engine.update_from_disk(str(served.other), new)
        later = await engine.generate(PROMPT, Sampling(8, temperature=0))
        sampled = await task
        assert (len(sampled.ids), len(sampled.logprobs), sampled.finish_reason) == (400, 400, "length")
        assert later.versions == [new] * 8
        assert later.ids == reference.greedy(PROMPT, 8)
        assert await engine.score([*PROMPT, 17, 18], 3) == pytest.approx(
            reference.logprobs([*PROMPT, 17, 18], 3), abs=1e-3
        )
        if served.version.startswith("0.29") or mode == "wait":
            assert sampled.versions == [old] * 400
            return
        assert sampled.versions == sorted(sampled.versions)
        assert set(sampled.versions) == {old, new}
        start = len(PROMPT) + sampled.versions.index(new)
        if mode == "recompute":  # what came after is the new policy's, given all before it
            after = reference.logprobs([*PROMPT, *sampled.ids], start)
            assert sampled.logprobs[start - len(PROMPT) :] == pytest.approx(after, abs=1e-3)

    _run(check, served, pause_mode=mode)


def test_cached_prefixes_go_with_their_weights(served: Served) -> None:
    prompt = PROMPT * 20

    async def check(engine: VLLMEngine) -> None:
        await engine.generate(prompt, Sampling(4, temperature=0))
        await engine.update_from_disk(str(served.other), next(_numbers))
        sampled = await engine.generate(prompt, Sampling(4, temperature=0))
        assert sampled.ids == Reference(served.other).greedy(prompt, 4)

    _run(check, served)


def test_weights_from_tensors(served: Served) -> None:
    reference = Reference(served.other)

    async def check(engine: VLLMEngine) -> None:
        await engine.update_from_tensors(reference.model.state_dict(), next(_numbers))
        sampled = await engine.generate(PROMPT, Sampling(8, temperature=0))
        assert (sampled.ids, set(sampled.versions)) == (reference.greedy(PROMPT, 8), {engine.version})

    _run(check, served)


def test_requests_wait_while_it_is_paused(served: Served) -> None:
    async def check(engine: VLLMEngine) -> None:
        running = await _long(served, engine)
        await engine.pause()
        waiting = asyncio.create_task(engine.generate(PROMPT, Sampling(4, temperature=0)))
        count = await _metric(served, "generation_tokens_total")
        assert await engine.is_paused()
        assert await engine.health()
        assert await _metric(served, "generation_tokens_total") == count
        assert not running.done()
        assert not waiting.done()
        await engine.resume()
        assert not await engine.is_paused()
        assert len((await running).ids) == 400
        assert len((await waiting).ids) == 4

    _run(check, served)


def test_a_cancelled_request_ends_on_the_server(served: Served) -> None:
    async def check(engine: VLLMEngine) -> None:
        before = await _metric(served, "generation_tokens_total")
        task = await _long(served, engine)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await engine.pause("wait")  # until nothing is in flight
        assert await _metric(served, "generation_tokens_total") < before + 400
        await engine.resume()

    _run(check, served)


def test_an_abort_gives_what_there_is(served: Served) -> None:
    async def check(engine: VLLMEngine) -> None:
        task = await _long(served, engine)
        await engine.abort()
        sampled = await task
        assert sampled.finish_reason == "abort"
        assert 0 < len(sampled.ids) == len(sampled.logprobs) == len(sampled.versions) < 400

    _run(check, served)


def test_a_failed_update_breaks_nothing_that_the_next_one_does_not_mend(served: Served, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"no weights")

    async def check(engine: VLLMEngine) -> None:
        running = await _long(served, engine)
        with pytest.raises(EngineDownError):
            await engine.update_from_disk(str(tmp_path), next(_numbers))
        with pytest.raises(EngineDownError, match="mixed"):
            await running
        assert await engine.is_paused()
        with pytest.raises(EngineDownError, match="mixed"):
            await engine.generate(PROMPT, Sampling(4))
        assert await engine.refresh() == -1
        await engine.update_from_disk(str(served.other), next(_numbers))
        sampled = await engine.generate(PROMPT, Sampling(8, temperature=0))
        assert sampled.ids == Reference(served.other).greedy(PROMPT, 8)

    _run(check, served)


def test_an_adapter_is_loaded_and_loaded_again(served: Served) -> None:
    prompt = PROMPT * 8
    plain, *adapted = (Reference(served.first, adapter) for adapter in (None, *served.adapters))
    greedy = Sampling(6, temperature=0)

    async def check(engine: VLLMEngine) -> None:
        for adapter, reference in zip(served.adapters, adapted, strict=True):
            await engine.load_lora("style", str(adapter))
            sampled = await engine.generate(prompt, greedy, lora="style")
            assert sampled.ids == reference.greedy(prompt, 6)
            scores = await engine.score([*prompt, 17], 1, lora="style")
            assert scores == pytest.approx(reference.logprobs([*prompt, 17], 1), abs=1e-3)
        running = await _long(served, engine, lora="style")
        await engine.load_lora("style", str(served.adapters[0]))
        assert (await engine.generate(prompt, greedy, lora="style")).ids == adapted[0].greedy(prompt, 6)
        assert len((await running).ids) == 400  # vLLM's CPU kernels adapt plain requests too that share its batch
        assert (await engine.generate(prompt, greedy)).ids == plain.greedy(prompt, 6)
        await engine.unload_lora("style")

    _run(check, served)


def test_a_policy_over_it_samples_scores_and_is_updated(served: Served) -> None:
    first, other = Reference(served.first), Reference(served.other)
    messages: list[dict[str, Any]] = [{"role": "user", "content": "2 + 3?"}]

    async def check(engine: VLLMEngine) -> None:
        policy = make_policy(f"vllm+{served.url}#{served.first}")
        assert isinstance(policy, ServedPolicy)
        try:
            await policy.engine.refresh()
            for reference in (first, other):
                completion = await policy.generate(messages, Sampling(6, temperature=0))
                assert completion.response_ids == reference.greedy(completion.prompt_ids, 6)
                assert set(completion.versions) == {policy.version}
                scores = await policy.score(messages, completion.response_ids)
                whole = [*completion.prompt_ids, *completion.response_ids]
                assert scores == pytest.approx(reference.logprobs(whole, len(completion.prompt_ids)), abs=1e-3)
                await policy.update_weights(other.model.state_dict(), next(_numbers))
        finally:
            await policy.aclose()

    _run(check, served)


def test_what_this_server_was_not_started_for_is_said(served: Served, tmp_path: Path) -> None:
    async def check(engine: VLLMEngine) -> None:
        with pytest.raises(UserError, match="no weights"):
            await engine.update_from_disk(str(tmp_path), 99)
        with pytest.raises(UserError, match="join"):
            await engine.update_distributed([], 99, _nothing)
        assert len((await engine.generate(PROMPT, Sampling(4))).ids) == 4

    _run(check, served)


FITS = """
import inspect, json, os, sys
os.environ["VLLM_ALLOW_INSECURE_SERIALIZATION"] = "1"
from vllm.distributed.weight_transfer import clients, ipc_engine, nccl_common, nccl_engine

membership, described, handles = json.loads(sys.argv[1])
info = nccl_common.NCCLWeightTransferInitInfo(**membership)
assert (info.master_port, info.rank_offset, info.world_size, info.packed) == (1234, 1, 2, False)
update = nccl_engine.NCCLWeightTransferUpdateInfo(**described)
assert (update.names, update.dtype_names, update.shapes) == (["a"], ["float32"], [[2, 3]])
by_ipc = ipc_engine.IPCWeightTransferUpdateInfo(**described, ipc_handles_pickled=handles)
assert by_ipc.ipc_handles == [{"GPU-1": ("args",)}]
ipc_engine.IPCWeightTransferInitInfo(packed=False)
inspect.signature(nccl_common.trainer_init).bind(membership)
routes = inspect.getsource(clients.HTTPVLLMWeightSyncClient)
for route in ("init_weight_transfer_engine", "start_weight_update", "update_weights", "finish_weight_update"):
    assert f'"{route}"' in routes, route
print("fits")
"""


def test_the_payloads_fit_this_version_s_own_classes() -> None:
    """Weights by NCCL and CUDA IPC need GPUs: what we send is at least what the installed package takes."""
    handles = base64.b64encode(pickle.dumps([{"GPU-1": ("args",)}])).decode()
    group = membership(WeightGroup("localhost", 1234, 1, 2))
    payloads = json.dumps([group, described([TensorSpec("a", "float32", (2, 3))]), handles])
    done = subprocess.run([PYTHON, "-c", FITS, payloads], capture_output=True, text=True, timeout=240)
    assert done.stdout.split()[-1:] == ["fits"], done.stderr


def test_judges_reach_it_through_the_openai_endpoint(served: Served) -> None:
    async def run() -> None:
        client = ChatClient(f"{served.url}/v1", "tiny", timeout=120)
        try:
            replies = await client.complete([{"role": "user", "content": "2 + 3?"}], temperature=1.0, max_tokens=5, n=3)
        finally:
            await client.aclose()
        assert len(replies) == 3
        assert {reply.finish_reason for reply in replies} <= {"length", "stop"}
        assert sum(reply.completion_tokens for reply in replies) == 15
        assert all(reply.text for reply in replies)

    asyncio.run(run())


async def _nothing() -> None:
    pass

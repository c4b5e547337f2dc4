"""vLLM's client against a real server's recorded answers, and against a small server for faults and order of calls.

The recordings were made by `test_vllm_real.py`, which runs the same conversation with a real server where there is one.
"""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web

from claw_envs.core.errors import ContextFull, UserError
from trainers.policies import Sampling
from trainers.policies.engines.base import EngineDownError
from trainers.policies.engines.vllm import VLLMEngine

from .vllm_server import GENERATE, Server, failing, run_with, tokens
from .vllm_tape import PROMPT, Tape, converse, play

RECORDINGS = sorted(Path(__file__).parent.glob("vllm_*.json"))


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
    run_with(server, check)
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
    run_with(server, check)


def test_log_probs_before_the_temperature_are_not_taken_for_those_after_it() -> None:
    async def check(engine: VLLMEngine) -> None:
        assert len((await engine.generate(PROMPT, Sampling(2, temperature=0))).ids) == 2
        for sampling in (Sampling(2, temperature=0.7), Sampling(2, top_p=0.9)):
            with pytest.raises(UserError, match="processed_logprobs"):
                await engine.generate(PROMPT, sampling)

    run_with(Server(), check)


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

    run_with(Server(generate=hang), check)


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

    run_with(Server(generate=handler), check)


def test_scores_of_other_tokens_are_no_scores() -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.json_response({"choices": [{"token_ids": [1]}], "prompt_logprobs": [None, {"5": {"logprob": -1.0}}]})

    async def check(engine: VLLMEngine) -> None:
        assert await engine.score([4, 5], 1) == [-1.0]
        assert await engine.score([4, 5], 2) == []
        for ids in ([4, 6], [4, 5, 5]):
            with pytest.raises(EngineDownError, match="log-probs that are not"):
                await engine.score(ids, 1)

    run_with(Server(generate=handler), check)


def test_a_full_context_is_told_apart() -> None:
    said = "The decoder prompt (length 2048) plus the number of requested output tokens (at least 1) is longer than "
    server = Server(generate=failing(400, said + "the maximum model length of 2048."))

    async def check(engine: VLLMEngine) -> None:
        with pytest.raises(ContextFull):
            await engine.generate(PROMPT, Sampling(2))

    run_with(server, check)


def test_arguments_that_make_no_sense() -> None:
    with pytest.raises(UserError, match="pauses by"):
        VLLMEngine("http://localhost:1", pause_mode="never")  # type: ignore[arg-type]
    with pytest.raises(UserError, match="URL"):
        VLLMEngine("localhost:1")

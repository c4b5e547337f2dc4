"""The SGLang client: the same tests against the stand-in and, where it is installed, SGLang itself."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from tests.trainers.policies.engines.servers import free_port, stand_in
from trainers.policies import Sampling
from trainers.policies.embedded import EmbeddedPolicy
from trainers.policies.engines.base import EngineDownError, EngineRefusedError, PauseMode, WeightGroup
from trainers.policies.engines.replicas import Replicas
from trainers.policies.engines.sglang import SGLangEngine
from trainers.policies.engines.transfer import WeightSender

PROMPT = [3, 40, 500, 6000, 70, 8]
GREEDY = Sampling(max_new_tokens=12, temperature=0.0)
LONG = Sampling(max_new_tokens=300, temperature=1.0, seed=5)
NOTHING_STOPS = Sampling(max_new_tokens=24, temperature=1.0, seed=3)


def _asked(server: str, model: Path, ask: Callable[[SGLangEngine], Awaitable[Any]], **options: Any) -> Any:
    """What `ask` gives for an engine that has the weights of `model` as its version 0."""

    async def run() -> Any:
        engine = SGLangEngine(server, **options)
        try:
            await engine.update_from_disk(str(model), 0)
            return await asyncio.wait_for(ask(engine), 240)
        finally:
            await engine.aclose()

    return asyncio.run(run())


def _expected(model: Path, ids: list[int], response: list[int]) -> list[float]:
    async def run() -> list[float]:
        policy = EmbeddedPolicy.load(str(model))
        try:
            return await policy.score(ids, response)
        finally:
            await policy.aclose()

    return asyncio.run(run())


def test_log_probs_are_the_model_s_of_the_ids_sampled(server: str, tiny_model: Path) -> None:
    sampled = _asked(server, tiny_model, lambda engine: engine.generate(PROMPT, NOTHING_STOPS))
    assert 0 < len(sampled.ids) <= 24
    assert sampled.versions == [0] * len(sampled.ids)
    assert sampled.finish_reason == ("length" if len(sampled.ids) == 24 else "stop")
    assert sampled.logprobs == pytest.approx(_expected(tiny_model, PROMPT, sampled.ids), abs=1e-3)


def test_a_temperature_scales_the_log_probs(server: str, tiny_model: Path) -> None:
    hot = Sampling(max_new_tokens=1, temperature=2.0, seed=1)
    sampled = _asked(server, tiny_model, lambda engine: engine.generate(PROMPT, hot))
    assert sampled.logprobs != pytest.approx(_expected(tiny_model, PROMPT, sampled.ids), abs=1e-3)
    policy_says = _at_temperature(tiny_model, PROMPT, 2.0)[sampled.ids[0]]
    assert sampled.logprobs == pytest.approx([policy_says], abs=1e-3)


def _at_temperature(model: Path, ids: list[int], temperature: float) -> list[float]:
    import torch
    from transformers import LlamaForCausalLM

    with torch.no_grad():
        logits = LlamaForCausalLM.from_pretrained(model)(torch.tensor([ids])).logits[0, -1]
    return [float(value) for value in torch.log_softmax(logits / temperature, -1)]


def test_the_token_that_stops_is_part_of_the_response(server: str, tiny_model: Path) -> None:
    async def ask(engine: SGLangEngine) -> tuple[list[int], Any]:
        whole = await engine.generate(PROMPT, GREEDY)
        stop = whole.ids[0]
        return whole.ids, await engine.generate(PROMPT, GREEDY, stop_ids=[stop])

    whole, stopped = _asked(server, tiny_model, ask)
    assert len(whole) == 12
    assert (stopped.ids, stopped.finish_reason) == (whole[:1], "stop")


def test_scores_are_the_model_s(server: str, tiny_model: Path) -> None:
    ids = [*PROMPT, 9, 10, 11]
    scores = _asked(server, tiny_model, lambda engine: engine.score(ids, len(PROMPT)))
    assert scores == pytest.approx(_expected(tiny_model, PROMPT, [9, 10, 11]), abs=1e-3)
    assert _asked(server, tiny_model, lambda engine: engine.score(ids, len(ids))) == []


@pytest.mark.parametrize("mode", ["keep", "recompute"])
def test_an_update_from_disk_refuses_no_request(
    server: str, tiny_model: Path, other_model: Path, mode: PauseMode
) -> None:
    async def ask(engine: SGLangEngine) -> Any:
        running = asyncio.create_task(engine.generate(PROMPT, LONG))
        await engine.generate(PROMPT, Sampling(max_new_tokens=3))  # by then the long one has begun
        await engine.update_from_disk(str(other_model), 1)
        later = await engine.generate(PROMPT, GREEDY)
        return await running, later, await engine.score([*PROMPT, 9], len(PROMPT)), await engine.refresh()

    running, later, score, version = _asked(server, tiny_model, ask, pause_mode=mode)
    assert running.finish_reason in ("length", "stop")
    assert running.versions == sorted(running.versions)
    assert running.versions[0] == 0
    assert len(running.logprobs) == len(running.ids) == len(running.versions)
    assert set(later.versions) == {1}
    assert version == 1
    if mode == "recompute":  # else the prompt's cache is still that of the old weights
        assert score == pytest.approx(_expected(other_model, PROMPT, [9]), abs=1e-3)


def test_an_update_from_tensors(server: str, tiny_model: Path, other_model: Path) -> None:
    state = _state(other_model)

    async def ask(engine: SGLangEngine) -> tuple[list[float], int]:
        await engine.update_from_tensors(state, 4)
        return await engine.score([*PROMPT, 9], len(PROMPT)), await engine.refresh()

    score, version = _asked(server, tiny_model, ask)
    assert score == pytest.approx(_expected(other_model, PROMPT, [9]), abs=1e-3)
    assert version == 4


def _state(model: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return load_file(model / "model.safetensors")


def test_weights_are_broadcast_over_a_group(server: str, tiny_model: Path, other_model: Path) -> None:
    state, original = _state(other_model), _state(tiny_model)
    group = WeightGroup("127.0.0.1", free_port(), rank=1, size=2, name="claw-test", backend="gloo")

    async def ask(engine: SGLangEngine) -> list[list[float]]:
        sender = WeightSender(group, timeout=60)
        try:
            await sender.open(engine)
            running = asyncio.create_task(engine.generate(PROMPT, LONG))
            await sender.send(engine, state, 1)
            first = await engine.score([*PROMPT, 9], len(PROMPT))
            await sender.send(engine, original, 2)
            second = await engine.score([*PROMPT, 9], len(PROMPT))
            assert len((await running).ids) > 0
            assert engine.version == 2
            return [first, second]
        finally:
            await engine.leave()
            sender.close()

    first, second = _asked(server, tiny_model, ask)
    assert first == pytest.approx(_expected(other_model, PROMPT, [9]), abs=1e-3)
    assert second == pytest.approx(_expected(tiny_model, PROMPT, [9]), abs=1e-3)


def test_one_broadcast_reaches_all_replicas(stand_in_server: str, tiny_model: Path, other_model: Path) -> None:
    group = WeightGroup("127.0.0.1", free_port(), rank=1, size=3, name="claw-all", backend="gloo")
    expected = _expected(other_model, PROMPT, [9])

    async def run(second: str) -> None:
        engines = [SGLangEngine(url, retries=0) for url in (stand_in_server, second)]
        replicas, sender = Replicas(engines), WeightSender(group, timeout=60)
        try:
            await replicas.update_from_disk(str(tiny_model), 0)
            assert await replicas.workers() == 2
            await sender.open(replicas)
            await sender.send(replicas, _state(other_model), 1)
            for engine in engines:
                assert await engine.refresh() == 1
                assert await engine.score([*PROMPT, 9], len(PROMPT)) == pytest.approx(expected, abs=1e-3)
            assert replicas.version == 1
        finally:
            await replicas.leave()
            sender.close()
            await replicas.aclose()

    with stand_in(tiny_model) as url:
        asyncio.run(asyncio.wait_for(run(url), 120))


class _Unsendable:
    """A weight that breaks the broadcast."""

    dtype, shape = "torch.float32", (4,)

    def detach(self) -> Any:
        raise RuntimeError("the device is lost")


def test_a_broadcast_that_breaks_off_ends_the_server_s_wait(server: str, tiny_model: Path) -> None:
    group = WeightGroup("127.0.0.1", free_port(), rank=1, size=2, name="claw-breaks", backend="gloo")

    async def ask(engine: SGLangEngine) -> Any:
        sender = WeightSender(group, timeout=60)
        await sender.open(engine)
        with pytest.raises(EngineDownError, match="the device is lost"):
            await sender.send(engine, {"model.norm.weight": _Unsendable()}, 1)
        with pytest.raises(EngineDownError, match="its weights are mixed"):
            await engine.generate(PROMPT, GREEDY)
        await engine.leave()
        await engine.update_from_disk(str(tiny_model), 2)
        return await engine.generate(PROMPT, GREEDY)

    assert _asked(server, tiny_model, ask).versions == [2] * 12


def test_an_update_that_a_dead_trainer_left_open_is_closed(server: str, tiny_model: Path, other_model: Path) -> None:
    async def ask(engine: SGLangEngine) -> int:
        await engine._control("/begin_weight_update", {})
        await engine.update_from_tensors(_state(other_model), 2)
        return await engine.refresh()

    assert _asked(server, tiny_model, ask) == 2


def test_weights_that_are_not_there_leave_the_engine_as_it_was(server: str, tiny_model: Path, tmp_path: Path) -> None:
    async def ask(engine: SGLangEngine) -> Any:
        with pytest.raises(EngineRefusedError):
            await engine.update_from_disk(str(tmp_path / "nowhere"), 7)
        return await engine.generate(PROMPT, GREEDY)

    sampled = _asked(server, tiny_model, ask)
    assert sampled.versions == [0] * 12


@pytest.mark.parametrize("mode", ["keep", "recompute"])
def test_a_request_waits_while_the_server_is_paused(server: str, tiny_model: Path, mode: PauseMode) -> None:
    async def ask(engine: SGLangEngine) -> Any:
        await engine.pause(mode)
        waiting = asyncio.create_task(engine.generate(PROMPT, GREEDY))
        await engine.refresh()  # an answer of the server's after the request was sent
        assert not waiting.done()
        await engine.resume()
        return await waiting

    assert len(_asked(server, tiny_model, ask).ids) == 12


def test_aborting_ends_what_is_in_flight_with_what_it_has(server: str, tiny_model: Path) -> None:
    async def ask(engine: SGLangEngine) -> Any:
        running = asyncio.create_task(engine.generate(PROMPT, LONG, stop_ids=[]))
        await engine.generate(PROMPT, Sampling(max_new_tokens=3))
        await engine.abort()
        return await running

    sampled = _asked(server, tiny_model, ask)
    assert len(sampled.ids) == len(sampled.logprobs) == len(sampled.versions) <= 300
    assert sampled.finish_reason in ("abort", "stop")


def test_health_and_workers(server: str, tiny_model: Path) -> None:
    async def ask(engine: SGLangEngine) -> bool:
        assert await engine.workers() == 1
        return await engine.health()

    assert _asked(server, tiny_model, ask) is True


def test_what_sglang_cannot_do_is_said(server: str, tiny_model: Path) -> None:
    async def ask(engine: SGLangEngine) -> None:
        with pytest.raises(UserError, match="top_p"):
            await engine.generate(PROMPT, Sampling(top_p=0.9))
        with pytest.raises(UserError, match="not 'wait'"):
            await engine.pause("wait")

    _asked(server, tiny_model, ask)


def test_a_server_that_is_not_there_is_down() -> None:
    async def run() -> bool:
        engine = SGLangEngine(f"http://127.0.0.1:{free_port()}", retries=1)
        with pytest.raises(EngineDownError, match="attempts: 2"):
            await engine.generate(PROMPT, GREEDY)
        return await engine.health()

    assert asyncio.run(run()) is False

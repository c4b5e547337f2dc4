"""What goes wrong with some servers of several, and how requests come through."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tests.trainers.policies.engines.faults import (
    FAULTS,
    FEW,
    MANY,
    PROMPT,
    broken,
    half,
    hangs,
    mini,
    not_ready,
    run_with,
)
from tests.trainers.policies.engines.servers import free_port
from tests.trainers.policies.engines.standin import Fault, StandIn
from trainers.policies import Sampling
from trainers.policies.engines.base import EngineDownError, EngineLostError, EngineRefusedError, EngineSlowError
from trainers.policies.engines.replicas import Replicas
from trainers.policies.engines.sglang import SGLangEngine


@pytest.mark.parametrize("fault", [*FAULTS, not_ready])
def test_a_request_moves_to_another_server(fault: Fault) -> None:
    async def moves(engine: Replicas, servers: list[StandIn]) -> None:
        servers[0].faults.append(fault)
        servers[1].faults.append(fault)
        responses = await asyncio.gather(*(engine.generate(PROMPT, FEW) for _ in range(6)))
        assert [len(response.ids) for response in responses] == [4] * 6

    run_with(3, moves)


def test_a_request_that_breaks_every_server_does_not_break_them_for_ever() -> None:
    async def breaks(engine: Replicas, servers: list[StandIn]) -> None:
        for server in servers:
            server.faults.extend([broken] * 2)
        with pytest.raises(EngineDownError, match="CUDA out of memory"):
            await engine.generate(PROMPT, FEW)
        assert len((await engine.generate(PROMPT, FEW)).ids) == 4

    run_with(2, breaks, attempts=4)


def test_a_dead_server_is_taken_out_and_its_requests_move() -> None:
    async def run() -> None:
        async with StandIn(mini()).serve() as alive:
            dead = StandIn(mini())
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
            server.tag, server.model = "default", mini()
        responses = await asyncio.gather(*(engine.generate(PROMPT, FEW) for _ in range(4)))
        assert {version for response in responses for version in response.versions} == {3}
        assert "3" in {server.tag for server in servers}

    run_with(2, restarts)


def test_a_restarted_server_waits_where_its_weights_are_not_on_disk() -> None:
    async def restarts(engine: Replicas, servers: list[StandIn]) -> None:
        state = mini(1).state_dict()
        await engine.update_from_tensors(state, 1)
        servers[0].tag = "default"
        responses = await asyncio.gather(*(engine.generate(PROMPT, FEW) for _ in range(4)))
        assert {version for response in responses for version in response.versions} == {1}
        assert engine.states[servers[0].url] == "down"
        await engine.update_from_tensors(state, 2)
        assert engine.states[servers[0].url] == "up"

    run_with(2, restarts)


def test_requests_of_a_server_that_hangs_move() -> None:
    async def moves(engine: Replicas, servers: list[StandIn]) -> None:
        servers[0].faults.append(hangs)
        servers[0].healthy = False
        responses = await asyncio.gather(*(engine.generate(PROMPT, FEW) for _ in range(2)))
        assert [len(response.ids) for response in responses] == [4, 4]
        assert engine.states[servers[0].url] == "down"

    run_with(2, moves, check_every=0.05)


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

    run_with(2, slow)


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

    run_with(1, cut, attempts=2)


def test_a_server_is_drained_while_the_others_serve(saved: str) -> None:
    async def rolls(engine: Replicas, servers: list[StandIn]) -> None:
        requests = [asyncio.create_task(engine.generate(PROMPT, MANY)) for _ in range(6)]
        for server in servers:
            await server.until_asked()
        await engine.update_from_disk(saved, 1)
        responses = await asyncio.gather(*requests)
        assert [response.versions for response in responses] == [[0] * 40] * 6
        assert {server.tag for server in servers} == {"1"}
        assert set(engine.states.values()) == {"up"}
        assert engine.version == 1

    run_with(2, rolls, rolling=True)


def test_the_last_server_takes_requests_while_it_is_drained(saved: str) -> None:
    async def rolls(engine: Replicas, servers: list[StandIn]) -> None:
        first = SGLangEngine(servers[0].url)
        await first.pause("keep")
        requests = [asyncio.create_task(engine.generate(PROMPT, FEW))]
        await servers[0].until_asked()
        update = asyncio.create_task(engine.update_from_disk(saved, 1))
        await first.refresh()  # by then the update has begun
        assert engine.states[servers[0].url] == "away"
        requests.append(asyncio.create_task(engine.generate(PROMPT, FEW)))
        await servers[0].until_asked(2)
        await first.resume()
        await first.aclose()
        assert [len((await request).ids) for request in requests] == [4, 4]
        await update

    run_with(1, rolls, rolling=True, patience=0.05)


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

    run_with(2, updates, rolling=rolling)


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

    run_with(2, fails)


def test_cancelling_a_request_among_several_ends_it_at_its_server() -> None:
    async def cancels(engine: Replicas, servers: list[StandIn]) -> None:
        await engine.pause("keep")
        request = asyncio.create_task(engine.generate(PROMPT, MANY))
        await servers[0].until_asked()
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        assert ["/abort_request" in server.paths() for server in servers] == [True, False]

    run_with(2, cancels)


def test_a_broadcast_wants_every_server() -> None:
    async def wants(engine: Replicas, servers: list[StandIn]) -> None:
        servers[0].healthy = False
        servers[0].faults.append(broken)
        await engine.generate(PROMPT, FEW)
        await engine.generate(PROMPT, FEW)
        with pytest.raises(EngineDownError, match="to all servers or none"):
            await engine.update_distributed([], 1, lambda: asyncio.sleep(0))

    run_with(2, wants)


def test_a_request_that_kills_servers_does_not_get_to_all() -> None:
    async def kills(engine: Replicas, servers: list[StandIn]) -> None:
        for server in servers:
            server.faults.append(half)
        with pytest.raises(EngineLostError):
            await engine.generate(PROMPT, FEW)
        assert sum(server.paths().count("/generate") for server in servers) == 2

    run_with(4, kills)


def test_a_request_whose_time_is_over_costs_no_other_server() -> None:
    async def slow(_: Replicas, servers: list[StandIn]) -> None:
        engine = Replicas([SGLangEngine(server.url, retries=0, timeout=0.2) for server in servers])
        servers[0].faults.append(hangs)
        with pytest.raises(EngineSlowError):
            await engine.generate(PROMPT, FEW)
        assert set(engine.states.values()) == {"up"}
        assert servers[1].asked == []
        await engine.aclose()

    run_with(2, slow)


def test_a_probe_that_is_refused_is_made_again() -> None:
    async def refused(engine: Replicas, servers: list[StandIn]) -> None:
        servers[0].faults.append(broken)
        servers[0].statuses["/model_info"].append(401)
        assert len((await engine.generate(PROMPT, FEW)).ids) == 4
        assert servers[0].paths().count("/model_info") == 2

    run_with(1, refused, attempts=2, patience=20.0)


def test_a_cancelled_update_brings_no_dead_server_back() -> None:
    async def cancels(engine: Replicas, servers: list[StandIn]) -> None:
        servers[0].healthy = False
        servers[0].faults.append(broken)
        await engine.generate(PROMPT, FEW)
        loading = [asyncio.Event(), asyncio.Event()]

        def hang(event: asyncio.Event) -> Callable[[], Awaitable[None]]:
            async def load() -> None:
                event.set()
                await asyncio.Event().wait()

            return load

        for server, event in zip(servers, loading, strict=True):
            server.on_load = hang(event)
        update = asyncio.create_task(engine.update_from_tensors(mini(1).state_dict(), 1))
        await asyncio.gather(*(event.wait() for event in loading))
        update.cancel()
        with pytest.raises(asyncio.CancelledError):
            await update
        assert engine.states[servers[0].url] == "down"

    run_with(2, cancels)


def test_all_others_go_on_where_one_cannot() -> None:
    async def goes_on(engine: Replicas, servers: list[StandIn]) -> None:
        await engine.pause()
        servers[0].statuses["/continue_generation"].extend([500] * 4)
        servers[0].healthy = False
        await engine.resume()
        assert engine.states == {servers[0].url: "down", servers[1].url: "up"}
        assert len((await engine.generate(PROMPT, FEW)).ids) == 4

    run_with(2, goes_on)


def test_what_all_refuse_takes_none_out() -> None:
    async def refuse(engine: Replicas, servers: list[StandIn]) -> None:
        with pytest.raises(EngineRefusedError, match="is not loaded"):
            await engine.unload_lora("typo")
        assert set(engine.states.values()) == {"up"}

    run_with(2, refuse)


def test_mixed_weights_are_replaced_by_those_of_the_last_update(saved: str) -> None:
    async def mends(engine: Replicas, servers: list[StandIn]) -> None:
        await engine.update_from_disk(saved, 1)
        servers[0].breaks = True
        with pytest.raises(EngineRefusedError, match="partially updated"):
            await engine.update_from_tensors(mini(2).state_dict(), 2)
        servers[0].breaks = False
        assert set((await engine.generate(PROMPT, FEW)).versions) == {1}

    run_with(1, mends, attempts=2)


def test_what_is_in_flight_ends_with_its_client() -> None:
    async def closes(engine: Replicas, servers: list[StandIn]) -> None:
        await engine.pause("keep")
        request = asyncio.create_task(engine.generate(PROMPT, FEW))
        await servers[0].until_asked()
        await engine.aclose()
        with pytest.raises(EngineDownError, match="was closed"):
            await request
        assert servers[0].paths()[-1] == "/abort_request"

    run_with(2, closes)


def test_where_no_server_answers_there_is_no_version() -> None:
    async def run() -> None:
        engine = Replicas([SGLangEngine(f"http://127.0.0.1:{free_port()}", retries=0)])
        with pytest.raises(EngineDownError, match="cannot be reached"):
            await engine.refresh()
        await engine.aclose()

    asyncio.run(run())

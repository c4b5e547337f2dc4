"""`python -m evals.perf hosts`: what an environment costs in an environment host of a cluster, against in this process.

A step is one bash block (`true`) through `astep`; rounds in this process and through a host take turns. Memory is
`Pss`, sandboxes included: per host of the actor and all that descends from it; in this process, what it grew by. The
cluster is this machine: what a network adds is not measured.
"""

import asyncio
import statistics
import time
from collections.abc import Sequence
from typing import Annotated

import typer

from claw_envs.core.env import ClawEnv
from evals.perf.serve import pss
from trainers.config import Config, load_config
from trainers.ray.environments import Environments, make_env, start_environments

_ROUND = 20  # steps before the other side has its turn
_STEP = "```bash\ntrue\n```"


def hosts(
    environments: Annotated[int, typer.Option(min=1, help="Terminals whose memory is measured.")] = 64,
    actors: Annotated[int, typer.Option(min=1, help="Hosts that share them.")] = 4,
    steps: Annotated[int, typer.Option(min=_ROUND, help="Of each side.")] = 400,
) -> None:
    """A step through a host of a cluster and in this process, and the memory of many environments. Needs ray."""
    import ray

    asyncio.run(_memory_here(environments))
    ray.init(
        address="local",
        num_cpus=1,
        include_dashboard=False,
        log_to_driver=False,
        object_store_memory=100 * 2**20,
        _node_ip_address="127.0.0.2",
    )
    try:
        config = _config(actors, environments)
        with start_environments(config) as started:
            asyncio.run(_steps(config, steps))
            asyncio.run(_memory_there(config, started, environments))
    finally:
        ray.shutdown()


def _config(actors: int, parallel: int) -> Config:
    chosen = {"cluster.env_actors": actors, "cluster.env_cpus": 1 / max(1, actors), "rollout.parallel": parallel}
    config = load_config("terminal", None, {key: str(value) for key, value in chosen.items()})
    config.env = {"max_steps": 1 << 30}
    return config


async def _begin(envs: Sequence[ClawEnv]) -> None:
    for env in envs:
        await env.areset(seed=0)
        await env.astep(_STEP)


async def _memory_here(number: int) -> None:
    config = _config(0, number)
    envs = [make_env(config)]
    await _begin(envs)
    before = pss([])[0]
    more = [make_env(config) for _ in range(number - 1)]
    await _begin(more)
    after = pss([])[0]
    if more and before is not None and after is not None:
        print(f"in this process: {(after - before) / len(more) / 2**20:.1f} MiB an environment")
    for env in [*envs, *more]:
        await env.aclose()


async def _steps(config: Config, steps: int) -> None:
    sides = {"in this process": make_env(_config(0, 1)), "through a host": await asyncio.to_thread(make_env, config)}
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    await _begin(list(sides.values()))
    for _ in range(steps // _ROUND):
        for name, env in sides.items():
            for _ in range(_ROUND):
                begun = time.perf_counter()
                await env.astep(_STEP)
                seconds[name].append(time.perf_counter() - begun)
    for name, env in sides.items():
        tenths = statistics.quantiles(seconds[name], n=10)
        print(f"a step {name}: median {1e3 * tenths[4]:.2f} ms, 90 % below {1e3 * tenths[8]:.2f} ms")
        await env.aclose()
    here, there = (statistics.median(each) for each in seconds.values())
    print(f"through a host / in this process: {there / here:.2f}, {1e3 * (there - here):+.2f} ms")


async def _memory_there(config: Config, started: Environments, number: int) -> None:
    empty = await _memory_of(started)
    first = await asyncio.to_thread(make_env, config)
    envs = [first, *[await asyncio.to_thread(make_env, config, like=first) for _ in range(number - 1)]]
    await _begin(envs)
    full = await _memory_of(started)
    print(f"{len(full)} hosts, empty: {', '.join(f'{size / 2**20:.0f}' for size in empty)} MiB")
    print(f"{len(full)} hosts with {number} environments: {', '.join(f'{size / 2**20:.0f}' for size in full)} MiB")
    print(f"in a host: {(sum(full) - sum(empty)) / number / 2**20:.1f} MiB an environment")
    for env in envs:
        await env.aclose()


async def _memory_of(started: Environments) -> list[int]:
    sizes = [await host.__ray_call__.remote(lambda _: pss([])[0]) for host in started.hosts]
    return [size or 0 for size in sizes]

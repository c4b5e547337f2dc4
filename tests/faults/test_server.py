"""The environment server is killed and restarted under a benchmark, or its client is: retried or released, counted."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from claw_envs.core.episode import Status
from tests.claw_envs.server.hosting import Hosted, all_end
from tests.faults.conftest import DONE
from tests.faults.play import benchmark, open_env, play, results_of
from tests.faults.script import Script, endless, running

Serve = Callable[..., Hosted]
ROOT = Path(__file__).parents[2]
CLIENT = """
import asyncio, sys
from tests.faults.play import open_env, play
asyncio.run(play(open_env(None, server=sys.argv[1]), sys.argv[2]))
"""


@pytest.fixture
def serve(usable: dict[str, bool | str], tmp_path: Path) -> Iterator[Serve]:
    """`serve(tasks, port=0)`: a server of terminal tasks; all are stopped at the end, and leave no program behind."""
    if usable.get("namespace") is not True:
        pytest.skip(str(usable.get("namespace")))
    started: list[Hosted] = []

    def start(tasks: str, port: int = 0) -> Hosted:
        arguments = ("terminal", "--set", f"tasks={tasks}", "--lease-ttl", "1")
        started.append(Hosted(*arguments, port=port, log=tmp_path / "server.log"))
        return started[-1]

    yield start
    for server in started:
        if server.process.poll() is None:
            server.stop()
        assert server.process.stdout is not None
        server.process.stdout.close()


def test_a_benchmark_goes_on_when_its_server_is_killed_and_restarted(
    serve: Serve, make_tasks: Callable[..., str], tmp_path: Path
) -> None:
    tasks = make_tasks({f"task{i}": DONE for i in range(4)})
    script = Script("touch done", endless())
    programs: set[int] = set()

    async def main() -> None:
        server = await asyncio.to_thread(serve, tasks)
        run = asyncio.ensure_future(benchmark(tasks, tmp_path / "out", script, server=server.url))
        await running(script.commands[1])
        programs.update(server.programs())
        await asyncio.to_thread(server.kill)
        script.commands = ("touch done",)
        await asyncio.to_thread(serve, tasks, server.port)
        summary = await run
        assert (summary.n, summary.score, summary.statuses) == (4, 1.0, {"COMPLETED": 4})

    asyncio.run(main())
    assert programs
    assert all_end(programs)
    assert sorted(each.attempts for each in results_of(tmp_path / "out").values()) == [1, 1, 2, 2]


def test_what_no_server_answers_for_is_counted(serve: Serve, make_tasks: Callable[..., str], tmp_path: Path) -> None:
    tasks = make_tasks({"one": DONE})
    script = Script("touch done", endless())

    async def main() -> None:
        server = await asyncio.to_thread(serve, tasks)
        env = open_env(tasks, server=server.url, reconnect_timeout=0.2)
        playing = asyncio.ensure_future(play(env, *script.commands))
        await running(script.commands[1])
        await asyncio.to_thread(server.kill)
        episode = await playing
        assert (episode.status, episode.outcome) == (Status.ABORTED, None)
        assert "cannot be reached" in str(episode.error)
        await env.aclose()

    asyncio.run(main())


def test_a_client_that_is_killed_in_a_step_leaves_nothing_on_the_server(
    serve: Serve, make_tasks: Callable[..., str]
) -> None:
    command = endless()
    server = serve(make_tasks({"one": DONE}))
    before = server.programs()
    client = subprocess.Popen([sys.executable, "-c", CLIENT, server.url, command], cwd=ROOT)
    try:
        asyncio.run(running(command))
        left = server.programs() - before
        assert left
    finally:
        client.kill()
        client.wait()
    assert all_end(left)
    asyncio.run(_counted(server, "leases", 0))
    assert server.metric("expired_total") == 1


async def _counted(server: Hosted, name: str, value: int) -> None:
    async with asyncio.timeout(60):
        while await asyncio.to_thread(server.metric, name) != value:
            pass

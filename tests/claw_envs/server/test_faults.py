"""Lost connections, clients and servers: executed once, aborted or released, never left behind."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import gymnasium as gym
import pytest

from claw_envs.core.env import ClawEnv
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.server import wire

from .conftest import Host
from .hosting import Hosted, all_end

COUNT = "```bash\nsleep 0.3; echo x >> count; wc -l < count\n```"


def remote(family: str, server: str, **settings: Any) -> ClawEnv:
    return gym.make(f"claw/{family}-v0", server=server, **settings).unwrapped  # type: ignore[return-value]


class Proxy:
    """A TCP proxy on a thread of its own that cuts connections when told to."""

    def __init__(self, port: int) -> None:
        self._upstream = port
        self.cut_reply = self.cut_after_request = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        listening = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._serve, "127.0.0.1", 0), self._loop
        ).result(30)
        self.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        self.cuts = 0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self._upstream)

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, replies: bool) -> None:
            while data := await source.read(65536):
                if replies and self.cut_reply:
                    self.cut_reply = False
                    break
                sink.write(data)
                await sink.drain()
                if not replies and self.cut_after_request:
                    self.cut_after_request = False
                    break
            else:
                return
            self.cuts += 1

        pumps = [
            asyncio.create_task(pump(reader, up_writer, replies=False)),
            asyncio.create_task(pump(up_reader, writer, replies=True)),
        ]
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        for task in pumps:
            task.cancel()
        await asyncio.wait(pumps)
        writer.transport.abort()
        up_writer.transport.abort()

    def close(self) -> None:
        async def cancel_rest() -> None:
            rest = asyncio.all_tasks() - {asyncio.current_task()}
            for task in rest:
                task.cancel()
            await asyncio.gather(*rest, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(cancel_rest(), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)
        self._loop.close()


@pytest.fixture
def proxy(server: Hosted) -> Iterator[Proxy]:
    proxy = Proxy(server.port)
    yield proxy
    proxy.close()


async def reached(server: Hosted, name: str, value: int) -> None:
    """Wait until the metric has the value."""
    async with asyncio.timeout(60):
        while await asyncio.to_thread(server.metric, name) != value:
            pass


async def during_a_step(server: Hosted, env: ClawEnv, then: Callable[[], Awaitable[Any]]) -> Any:
    await env.areset(seed=0)
    step = asyncio.create_task(env.astep("```bash\nsleep 30\n```"))
    await reached(server, "calls_running", 1)
    await then()
    return await step


@pytest.mark.parametrize("moment", ["cut_reply", "cut_after_request"])
def test_a_step_is_executed_once_though_its_connection_is_cut(
    moment: str, proxy: Proxy, server: Hosted, sandboxes: None
) -> None:
    env = remote("terminal", proxy.url)
    env.reset(seed=0)
    for expected in "123":
        repeated, cuts = server.metric("repeated_total"), proxy.cuts
        setattr(proxy, moment, True)
        observation, *_, info = env.step(COUNT)
        assert (observation["text"].splitlines()[1], info["status"]) == (expected, "RUNNING")
        assert (server.metric("repeated_total"), proxy.cuts) == (repeated + 1, cuts + 1)
    env.close()


def test_a_reset_is_executed_once_though_its_connection_is_cut(proxy: Proxy, server: Hosted) -> None:
    env, straight = remote("chat", proxy.url), remote("chat", server.url)
    straight.reset(seed=7)
    proxy.cut_reply = False
    env.reset(seed=7)
    proxy.cut_reply = True
    assert env.reset() == straight.reset()
    assert proxy.cuts == 1
    env.close()
    straight.close()


def test_a_connection_that_was_cut_while_idle_is_made_again(host: Host) -> None:
    server = host("--lease-ttl", "1")
    proxy = Proxy(server.port)
    env = remote("chat", proxy.url)
    env.reset(seed=0)
    proxy.cut_reply = True  # of a heartbeat
    time.sleep(2.5)  # the program computes, for longer than the lease lasts unattended
    assert "error" not in env.step("## 12")[4]
    assert (proxy.cuts, server.metric("expired_total")) == (1, 0)
    env.close()
    proxy.close()


def test_heartbeats_go_on_while_the_callers_own_loop_is_held_up(host: Host) -> None:
    server = host("--lease-ttl", "1")

    async def main() -> None:
        env = remote("chat", server.url)
        await env.areset(seed=0)
        time.sleep(2.5)  # noqa: ASYNC251 - the program computes, for longer than the lease lasts unattended
        assert "error" not in (await env.astep("## 12"))[4]
        await env.aclose()

    asyncio.run(main())
    assert server.metric("expired_total") == 0


def test_a_killed_client_leaves_nothing(host: Host, sandboxes: None) -> None:
    server = host("--lease-ttl", "1")
    before = server.programs()
    code = f"""
        import gymnasium, claw_envs
        vector = gymnasium.make_vec("claw/terminal-v0", num_envs=3, server="{server.url}")
        vector.reset(seed=0)
        vector.step(["```bash\\nsleep 1000 & disown\\n```"] * 3)
        print("ready", flush=True)
        input()
    """
    client = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert client.stdout is not None
    assert client.stdout.readline() == "ready\n"
    started = server.programs() - before
    assert started
    client.kill()
    client.communicate(timeout=60)
    asyncio.run(reached(server, "expired_total", 3))
    asyncio.run(reached(server, "leases", 0))
    assert all_end(started)


def test_an_environment_that_was_forgotten_is_given_back(host: Host) -> None:
    server = host()
    env = remote("chat", server.url)
    env.reset(seed=0)
    assert server.metric("leases") == 1
    del env
    asyncio.run(reached(server, "leases", 0))
    code = f'import gymnasium, claw_envs; gymnasium.make("claw/chat-v0", server="{server.url}").reset()'
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stderr == ""
    assert server.metric("leases") == 0


def test_a_forked_process_leaves_its_parents_lease_alone(server: Hosted) -> None:
    env = remote("chat", server.url)
    first = env.reset(seed=3)
    child = os.fork()
    if child == 0:  # pragma: no cover - another process
        code = 1
        try:
            same = env.reset(seed=3) == first
            env.close()
            code = 0 if same else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert "error" not in env.step("## 12")[4]
    env.close()


def test_a_killed_server_aborts_and_its_successor_serves(host: Host, sandboxes: None) -> None:
    server = host()
    env = remote("terminal", server.url, reconnect_timeout=0.5)

    async def kill() -> None:
        server.kill()

    _, reward, terminated, truncated, info = asyncio.run(during_a_step(server, env, kill))
    assert (reward, terminated, truncated, info["status"]) == (0.0, False, True, "ABORTED")
    assert "cannot be reached" in info["error"]
    assert env.last_observation.text.startswith("Episode aborted")
    with pytest.raises(gym.error.ResetNeeded):
        env.step("x")
    with pytest.raises(InfrastructureError, match=r"does not answer \(connection refused\): is `claw serve envs`"):
        env.reset(seed=0)
    with pytest.raises(UserError, match="does not answer"):
        remote("terminal", server.url)
    host(port=server.port)
    env.reset(seed=0)
    assert env.step("```bash\necho back\n```")[0]["text"].endswith("back")
    env.close()


def test_a_server_restarted_between_episodes_goes_unnoticed(host: Host) -> None:
    server = host()
    env = remote("chat", server.url)
    env.reset(seed=0)
    server.kill()
    host(port=server.port)
    again = env.reset(seed=0)
    fresh = remote("chat", server.url)
    assert again == fresh.reset(seed=0)
    env.close()
    fresh.close()


def test_sigterm_ends_episodes_and_leaves_nothing(host: Host, sandboxes: None) -> None:
    server = host()
    env = remote("terminal", server.url)

    async def stop() -> None:
        programs.extend(server.programs())
        assert await asyncio.to_thread(server.stop) == 0

    programs: list[int] = []
    info = asyncio.run(during_a_step(server, env, stop))[4]
    assert info["status"] == "ABORTED"
    assert programs
    assert all_end(set(programs))
    env.close()


def test_warm_sandboxes_pass_from_lease_to_lease_as_new_and_end_with_the_server(host: Host, sandboxes: None) -> None:
    server = host("terminal", "--warm", "2")
    for _ in range(3):
        env = remote("terminal", server.url)
        env.reset(seed=0)
        observation, *_ = env.step("```bash\nls /app/left; touch /app/left; echo kept=$kept; kept=1\n```")
        assert "No such file" in observation["text"]
        assert observation["text"].splitlines()[-1] == "kept="
        env.close()
    programs = server.programs()
    assert programs
    assert server.stop() == 0
    assert all_end(programs)


def test_interrupt_ends_the_server_too(host: Host) -> None:
    server = host()
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(timeout=60) == 0
    assert server.log.read_text() == ""


def test_a_cancelled_step_stops_on_the_server(server: Hosted, sandboxes: None) -> None:
    env = remote("terminal", server.url)

    async def main() -> None:
        await env.areset(seed=0)
        step = asyncio.create_task(env.astep("```bash\nsleep 1000\n```"))
        await reached(server, "calls_running", 1)
        step.cancel()
        await asyncio.wait({step})
        assert step.cancelled()
        await reached(server, "calls_running", 0)
        await env.areset(seed=0)
        assert (await env.astep("```bash\necho still here\n```"))[0]["text"].endswith("still here")
        await env.aclose()

    asyncio.run(main())


def test_a_full_server_says_when_to_come_back(host: Host) -> None:
    server = host("--max-leases", "1")
    holder, other = remote("chat", server.url), remote("chat", server.url, lease_timeout=60.0)
    impatient = remote("chat", server.url, lease_timeout=0.1)
    holder.reset(seed=0)
    wanted = wire.encode(wire.Wanted(family="chat"))
    post = urllib.request.Request(f"{server.url}/v1/leases", wanted, {"Content-Type": wire.CONTENT_TYPE})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(post, timeout=30)
    assert (refused.value.code, refused.value.headers["Retry-After"]) == (429, "1")
    with pytest.raises(InfrastructureError, match="no place"):
        impatient.reset(seed=0)

    async def main() -> None:
        refusals = server.metric("refused_total")
        waiting = asyncio.create_task(other.areset(seed=1))
        await reached(server, "refused_total", refusals + 1)
        await holder.aclose()
        await waiting

    asyncio.run(main())
    other.close()


def test_a_busy_server_is_asked_again(host: Host, sandboxes: None) -> None:
    server = host("--max-running", "1")
    envs = [remote("terminal", server.url) for _ in range(2)]
    patient, impatient = [remote("terminal", server.url, lease_timeout=t) for t in (60.0, 0.0)]

    async def main() -> None:
        for env in (*envs, patient, impatient):
            await env.areset(seed=0)
        long = asyncio.create_task(envs[0].astep("```bash\nsleep 2.5; echo done\n```"))
        await reached(server, "calls_running", 1)
        waiting = asyncio.create_task(patient.astep(COUNT))
        assert (await impatient.astep(COUNT))[4]["status"] == "ABORTED"
        assert (await waiting)[0]["text"].splitlines()[1] == "1"
        assert (await long)[0]["text"].endswith("done")
        assert server.metric("refused_total") >= 2
        for env in (*envs, patient, impatient):
            await env.aclose()

    asyncio.run(main())


def test_leases_are_spread_and_fail_over(host: Host) -> None:
    servers = [host(), host()]
    urls = f"{servers[0].url}, {servers[1].url}/"
    envs = [remote("chat", urls, reconnect_timeout=0.2) for _ in range(4)]
    for env in envs:
        env.reset(seed=0)
    assert [server.metric("leases") for server in servers] == [2, 2]
    servers[0].kill()
    for env in envs:
        env.reset(seed=1)
    assert servers[1].metric("leases") == 4
    for env in envs:
        env.close()


def test_a_bug_on_the_server_is_told_and_logged(host: Host) -> None:
    server = host()
    with pytest.raises(RuntimeError, match="TypeError on the environment server; its log says more"):
        remote("chat", server.url, mix={"correction": "often"})
    assert server.stop() == 0
    assert "in make_mix" in server.log.read_text()

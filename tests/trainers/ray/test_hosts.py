"""Environment hosts in a real Ray cluster: shared, killed, found again, refused, and ended without a trace."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from claw_envs.core.env import ClawEnv
from claw_envs.core.episode import Episode, Status
from claw_envs.core.errors import UserError
from claw_envs.core.loop import on_shared, run_sync
from claw_envs.server.client import Servers
from claw_envs.server.env import RemoteEnv
from tests.claw_envs.server.hosting import all_end, programs_of
from trainers.policies.base import Completion, Prompt, Sampling
from trainers.ray import environments as environments_module
from trainers.ray.environments import make_env, start_environments
from trainers.rollout import run_episode

from .conftest import NODE, Pids, settings, states

pytestmark = pytest.mark.openrlhf


class Player:
    """Writes a file, then submits: from the second message on only when told to go on."""

    version = 0

    def __init__(self, waiting: int) -> None:
        """
        Args:
            waiting: how many episodes wait before `all_wait` is set.
        """
        self._to_come = waiting
        self.all_wait, self.go_on = asyncio.Event(), asyncio.Event()

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Completion:
        begun = any(message["role"] == "assistant" for message in prompt)  # type: ignore[call-overload]
        if begun:
            self._to_come -= 1
            if self._to_come == 0:
                self.all_wait.set()
            await self.go_on.wait()
        text = "```bash\nsubmit\n```" if begun else "```bash\necho made > file; cat file\n```"
        return Completion([], [1], [0.0], [0], "stop", text)

    async def score(self, prompt: Prompt, response_ids: Sequence[int]) -> list[float]:
        raise NotImplementedError

    async def update_weights(self, state: Mapping[str, Any], version: int) -> None:
        raise NotImplementedError

    async def aclose(self) -> None:
        """Nothing to release."""


def play(env: ClawEnv, player: Player, number: int) -> "asyncio.Task[Episode]":
    episode = run_episode(env, player, sampling=Sampling(), seed=number, episode_id=str(number))
    return asyncio.create_task(episode)


async def servers_up(count: int) -> Servers:
    from trainers.ray.find import Hosts

    return await on_shared(Hosts(count)())


def leases(url: str, key: str | None) -> int:
    request = Request(f"{url}/metrics", headers={"Authorization": f"Bearer {key}"})
    with urlopen(request, timeout=60) as response:
        lines = dict(line.split() for line in response.read().decode().splitlines())
    return int(lines["claw_leases"])


def made(config: Any, number: int) -> list[ClawEnv]:
    first = make_env(config)
    return [first, *(make_env(config, like=first) for _ in range(number - 1))]


def test_episodes_of_a_killed_host_are_aborted_and_tried_again_while_the_others_go_on(cluster: str, pids: Pids) -> None:
    config = settings()
    with start_environments(config) as environments:
        envs, first, *_ = made(config, 8), *pids(environments)

        async def main() -> None:
            before, player = await servers_up(2), Player(waiting=8)
            episodes = [play(env, player, number) for number, env in enumerate(envs)]
            await player.all_wait.wait()
            assert [leases(url, before.key) for url in before.urls] == [4, 4]
            os.kill(first, signal.SIGKILL)
            assert all_end({first})
            player.go_on.set()
            ended = [(await episode).status for episode in episodes]
            assert sorted(ended) == [Status.ABORTED] * 4 + [Status.COMPLETED] * 4

            lost = [number for number, status in enumerate(ended) if status is Status.ABORTED]
            again = [play(envs[number], player, number) for number in lost]
            assert [(await episode).status for episode in again] == [Status.COMPLETED] * 4
            after = await servers_up(2)
            [successor] = set(after.urls) - set(before.urls)
            assert (len(after.urls), leases(successor, after.key)) == (2, 4)
            await asyncio.gather(*(env.aclose() for env in envs))

        asyncio.run(main())


def test_stopping_leaves_no_process_and_no_sandbox(cluster: str, pids: Pids) -> None:
    config = settings()
    environments = start_environments(config)
    envs = made(config, 2)
    for env in envs:
        env.reset(seed=0)
        env.step("```bash\nsleep 1000 & disown\n```")
    hosts = pids(environments)
    started = {pid for host in hosts for pid in programs_of(host)}
    assert started
    assert all(states(pid) for pid in hosts)
    environments.stop()
    assert all_end({*hosts, *started})
    assert not any(states(pid) for pid in hosts)
    info = envs[0].step("```bash\necho too late\n```")[4]
    assert info["status"] == "ABORTED"
    environments.stop()


def test_a_driver_that_is_killed_leaves_no_process(cluster: str) -> None:
    driver = subprocess.Popen(
        [sys.executable, "-c", _attached(cluster, _HOLD)], stdout=subprocess.PIPE, text=True, cwd=Path.cwd()
    )
    assert driver.stdout is not None
    said = driver.stdout.readline().split()
    assert said[:1] == ["hosts"], said
    hosts = {int(pid) for pid in said[1:]}
    started = {pid for host in hosts for pid in programs_of(host)}
    assert started
    driver.kill()
    driver.communicate(timeout=60)
    assert all_end({*hosts, *started})


def test_a_node_without_bubblewrap_is_one_line_for_the_driver(cluster: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _attached(cluster, _NO_BUBBLEWRAP)], capture_output=True, text=True, timeout=300
    )
    assert done.stdout.strip() == (
        f"UserError environments on {NODE}: the namespace sandbox needs `bwrap`: "
        "install it with `apt-get install bubblewrap`"
    ), done.stderr


def test_wrong_settings_are_one_line_and_start_nothing(cluster: str) -> None:
    import ray
    from ray.util import list_named_actors

    config = settings()
    config.env = {"max_stesp": 3}
    with pytest.raises(UserError, match=r"^\[env\]: the terminal environment takes no max_stesp; it takes .*max_steps"):
        start_environments(config)
    config.env = {"tasks": "no-such-set"}
    with pytest.raises(UserError, match="no-such-set"):
        start_environments(config)
    config.env = {"server": "http://127.0.0.1:1"}
    with pytest.raises(UserError, match="exclude each other"):
        start_environments(config)
    assert not list_named_actors(all_namespaces=True)
    assert ray.is_initialized()


def test_a_cluster_without_room_is_one_line_and_keeps_nothing(cluster: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from ray.util import list_named_actors

    monkeypatch.setattr(environments_module, "_PLACE_SECONDS", 1.0)
    with pytest.raises(UserError, match=r"Ray has no room for 2 environment hosts of 1\.5 cores: lower"):
        start_environments(settings(cluster__env_cpus=1.5))
    assert not list_named_actors(all_namespaces=True)


def test_a_node_with_other_tasks_is_refused(cluster: str) -> None:
    import ray

    from trainers.ray.host import EnvironmentHost, HostSettings

    given = HostSettings(family="chat", env={}, capacity=1, digest="of other files", key="a-key-for-tests-only")
    host = ray.remote(EnvironmentHost).options(num_cpus=0).remote(given)
    with pytest.raises(UserError, match=f"environments on {NODE}: the tasks there are not those of the driver"):
        ray.get(host.server.remote(), timeout=120)
    ray.kill(host)


def test_a_server_of_a_host_wants_the_key_which_nobody_else_is_told(cluster: str, pids: Pids) -> None:
    config = settings(cluster__env_actors=1)
    with start_environments(config) as environments:
        found = asyncio.run(servers_up(1))
        assert found.key
        with pytest.raises(UserError, match="refused the API key"):
            RemoteEnv("terminal", found.urls[0])
        [host] = pids(environments)
        for file in ("cmdline", "environ"):
            assert found.key.encode() not in Path(f"/proc/{host}/{file}").read_bytes()
        env = made(config, 1)[0]
        env.reset(seed=0)
        told = env.step("```bash\nenv; cat /proc/*/environ\n```")[0]["text"]
        assert found.key not in told
        run_sync(env.aclose())


_HOLD = """
with start_environments(config) as environments:
    env = make_env(config)
    env.reset(seed=0)
    env.step("```bash\\nsleep 1000 & disown\\n```")
    asked = [host.__ray_call__.remote(lambda _: __import__("os").getpid()) for host in environments.hosts]
    print("hosts", *ray.get(asked), flush=True)
    input()
"""
_NO_BUBBLEWRAP = """
try:
    start_environments(config)
except UserError as error:
    print("UserError", error)
"""


def _attached(cluster: str, code: str) -> str:
    """A driver of its own in the same cluster."""
    head = f"""
        import ray

        def hide():
            from claw_envs.sandbox.namespace import host
            host.TOOL_PATH = "/nowhere"

        hook = {{"worker_process_setup_hook": hide}} if {code is _NO_BUBBLEWRAP} else {{}}
        ray.init(address={cluster!r}, log_to_driver=False, runtime_env=hook)
        from claw_envs.core.errors import UserError
        from trainers.config import load_config
        from trainers.ray.environments import make_env, start_environments
        config = load_config("terminal", None, {{"cluster.env_actors": "1", "cluster.env_cpus": "0.5"}})
    """
    return textwrap.dedent(head) + code

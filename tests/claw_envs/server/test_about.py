"""What the agent is told beside the observations may be another at each reset, and reaches the client."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest
import uvicorn

from claw_envs.chat.env import ChatEnv
from claw_envs.core.episode import Observation
from claw_envs.core.task import Task
from claw_envs.server.app import create_app
from claw_envs.server.guard import PromptProtocol
from claw_envs.server.leases import Leases
from claw_envs.server.offer import Offer

TASKS = ["student-wp-001", "student-wp-002", "student-wp-001"]


def schema(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}


class Telling(ChatEnv):
    """Tells of each task something else."""

    tools = (schema("at_first"),)
    system_prompt = "At first."

    async def _start(self, task: Task) -> Observation:
        self.tools = (schema(task.id), schema("again"))
        self.native_tools = task.id.endswith("1")
        self.system_prompt = f"About {task.id}."
        self.few_shot = ({"role": "user", "content": f"like {task.id}"}, {"role": "assistant", "content": "ok"})
        return await super()._start(task)


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server in this process whose `chat` is `Telling`."""
    monkeypatch.setattr("claw_envs.chat.env.ChatEnv", Telling)
    app = create_app(Offer(families=["chat"]), Leases(most=2, most_running=2, ttl=60), key=None)
    server = uvicorn.Server(uvicorn.Config(app, http=PromptProtocol, ws="websockets-sansio", log_config=None))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join()


def told(url: str | None) -> list[Any]:
    """All that an environment tells before its first reset, after each, and where an episode is aborted."""

    async def episodes() -> None:
        for task in TASKS:
            _, info = await env.areset(seed=0, options={"task": task})
            seen.append(({name: info[name] for name in env.about()}, env.about(), type(env.tools)))
            _, _, _, _, info = await env.astep("12")
            seen.append({name: info[name] for name in env.about()})
        await env.aclose()

    env = gym.make("claw/chat-v0", **({"server": url} if url else {})).unwrapped
    seen: list[Any] = [env.about()]  # type: ignore[attr-defined]
    asyncio.run(episodes())
    return seen


def test_each_reset_tells_the_client_anew(url: str) -> None:
    remote = told(url)
    assert remote == told(None)
    assert remote[0]["system_prompt"] == "At first."
    abouts = [remote[i] for i in (2, 4, 6)]
    assert [about["native_tools"] for about in abouts] == [True, False, True]
    assert [about["tools"][0]["function"]["name"] for about in abouts] == TASKS
    assert abouts[1]["few_shot"][0]["content"] == "like student-wp-002"

"""A remote environment is the same environment: spaces, observations, rewards, flags, info, state, errors."""

import asyncio
import threading
import warnings
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.utils.env_checker import check_env

from claw_envs.core.env import ClawEnv
from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from judges import JudgeReward, RulesJudge
from trainers.config import load_config
from trainers.plugins import make_env
from trainers.policies.base import Completion, Sampling
from trainers.rollout import run_episode

from ..alike import differences
from .hosting import Hosted

ACTIONS = {
    "terminal": [
        "```bash\nprintf 'naïve 🙂\\n\\ttab\\n'; cd /; kept=42\n```",
        "no command here 中文",
        "half a pair: \ud800",
        {"content": "", "tool_calls": [{"id": "a", "function": {"name": "bad \udfff", "arguments": "{}"}}]},
        "```bash\necho $kept; pwd; (exit 3)\n```",
        "```bash\nsubmit\n```",
    ],
    "gui": [
        '```\nclick("4")\ntype("naïve 🙂")\n```',
        "half a pair: \ud800",
        {"content": "", "tool_calls": [{"id": "a", "function": {"name": "bad \udfff", "arguments": "{}"}}]},
        '<tool_call>{"name": "left_click", "arguments": {"coordinate": [500, 500]}}</tool_call>',
        {
            "content": "",
            "tool_calls": [{"id": "b", "function": {"name": "scroll", "arguments": {"direction": "down"}}}],
        },
        "done()",
    ],
    "toolcall": [
        "```python\nx = 'naïve 🙂'\nx\n```",
        "half a pair: <tool_call>\ud800</tool_call>",
        {"content": "", "tool_calls": [{"id": "a", "function": {"name": "bad \udfff", "arguments": "{}"}}]},
        "<code>1 / 0</code>",
        "\\boxed{12} \ud800",
    ],
    "swe": [
        "```bash\nprintf 'naïve 🙂\\n\\ttab\\n'; cd /; kept=42\n```",
        "half a pair: \ud800",
        {"content": "", "tool_calls": [{"id": "a", "function": {"name": "bad \udfff", "arguments": "{}"}}]},
        '<tool_call>{"name": "view_file", "arguments": {"path": "/none"}}</tool_call>',
        "```bash\necho $kept; git -C /testbed status; (exit 3)\n```",
        "```bash\nsubmit\n```",
    ],
    "chat": ["It's 12 🙂", {"content": "12, easy one"}, "half a pair: \ud800", "", "12", "12", "12"],
}
FAMILIES = sorted(ACTIONS)


def both(family: str, server: Hosted, **settings: Any) -> list[ClawEnv]:
    return [
        gym.make(f"claw/{family}-v0", **settings, **more).unwrapped  # type: ignore[misc]
        for more in ({}, {"server": server.url})
    ]


def without_paths(task: Task) -> dict[str, Any]:
    """A task as far as it says something to a client."""
    said = {name: getattr(task, name) for name in task.__struct_fields__ if name not in ("path", "sandbox", "verifier")}
    said |= {"kind": task.verifier.kind, "verifier timeout": task.verifier.timeout}
    said["metadata"] = {key: value for key, value in task.metadata.items() if key not in ("recipe", "solution")}
    if task.sandbox is not None:
        granted = set(task.sandbox.__struct_fields__) - {"files", "setup", "layers", "build", "rootfs"}
        said |= {name: getattr(task.sandbox, name) for name in granted}
    return said


async def everything(env: ClawEnv, family: str, *, seed: int) -> list[Any]:
    """All that one episode shows, then what a second, unseeded one begins with."""
    seen: list[Any] = [await env.areset(seed=seed)]
    info: dict[str, Any] = seen[0][1]
    for action in ACTIONS[family]:
        if info["status"] != "RUNNING":
            break
        seen.append(await env.astep(action))
        info = seen[-1][-1]
        seen.append(env.last_observation)
    if info["status"] == "RUNNING":
        seen.append(await env.atruncate())
    # a server counts runs again of a verifier into its time
    seen += [env.render(), without_paths(env.task) | {"verifier timeout": None}, await env.areset()]
    await env.aclose()
    return seen


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_equal_seeds_and_actions_give_equal_episodes(family: str, seed: int, server: Hosted, sandboxes: None) -> None:
    local, remote = (asyncio.run(everything(env, family, seed=seed)) for env in both(family, server))
    assert differences(remote, local) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_spaces_and_tasks_are_equal(family: str, server: Hosted, sandboxes: None) -> None:
    local, remote = both(family, server)
    assert remote.observation_space == local.observation_space
    assert remote.action_space == local.action_space
    assert [without_paths(task) for task in remote.tasks] == [without_paths(task) for task in local.tasks]
    assert (remote.family, list(remote.tools), remote.system_prompt) == (family, list(local.tools), local.system_prompt)
    for one, other in zip(*(env.reset(seed=0)[0].values() for env in (local, remote)), strict=True):
        assert type(one) is type(other)
        assert getattr(one, "dtype", None) == getattr(other, "dtype", None)
    local.close()
    remote.close()


@pytest.mark.parametrize("family", FAMILIES)
def test_check_env_has_nothing_to_say(family: str, server: Hosted, sandboxes: None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gym.make(f"claw/{family}-v0", server=server.url)
        check_env(env.unwrapped)
        env.close()


@pytest.mark.parametrize("family", FAMILIES)
def test_vector_environments_are_equal(family: str, server: Hosted, sandboxes: None) -> None:
    shown: list[list[Any]] = []
    copies = 4 if family == "gui" else 8
    for more in ({}, {"server": server.url}):
        vector = gym.make_vec(f"claw/{family}-v0", num_envs=copies, **more)
        steps: list[Any] = [vector.reset(seed=3)]
        steps += [vector.step([action] * copies) for action in ACTIONS[family] if isinstance(action, str)]
        vector.close()
        for *_, info in steps:
            info.pop("timings", None)
        shown.append(steps)
    assert differences(*shown) == []


def test_pictures_are_rendered_alike(server: Hosted) -> None:
    shown: list[Any] = []
    for env in both("gui", server, tasks="miniwob/click-test", render_mode="rgb_array"):
        shown.append([env.render(), env.reset(seed=0) and env.render()])
        env.close()
    assert differences(*shown) == []
    assert differences(*shown[0])
    with pytest.raises(UserError, match="render_mode must be None or 'ansi', got 'rgb_array'"):
        gym.make("claw/chat-v0", server=server.url, render_mode="rgb_array")


def test_64_remote_environments_at_once(server: Hosted, sandboxes: None) -> None:
    vector = gym.make_vec("claw/terminal-v0", num_envs=64, server=server.url)
    vector.reset(seed=0)
    observations, *_ = vector.step([f"```bash\necho {i}; exit {i}\n```" for i in range(64)])
    vector.close()
    assert [text.splitlines()[1] for text in observations["text"]] == [str(i) for i in range(64)]


def test_options_settings_and_the_users_mistakes(server: Hosted) -> None:
    url = server.url
    env = gym.make("claw/chat-v0", server=url, max_steps=1, mix={"correction": 1.0, "vague": 0.0, "reask": 0.0})
    _, info = env.reset(options={"task": "student-wp-001"})
    assert info["task_id"] == "student-wp-001"
    assert env.step("## 12")[3]
    with pytest.raises(UserError, match="no task 'nope' in this set"):
        env.reset(options={"task": "nope"})
    env.close()
    for wrong, named in (
        ({"colour": "blue"}, "clients set colour of chat; they may set: max_steps, mix, step_timeout, tasks"),
        ({"simulator": "llm"}, "clients set simulator"),
        ({"mix": {"joy": 1.0}}, "mix: no joy"),
        ({"tasks": "student:nope"}, "no chat task set 'nope'"),
        ({"tasks": env.unwrapped.tasks}, "the tasks themselves are the server's"),
        ({"simulator": lambda task: None}, "plain values"),
        ({"render_mode": "human"}, "render_mode"),
        ({"server": "localhost:80"}, "server must be the URL"),
        ({"server": f"{url}/elsewhere"}, "claw serve envs"),
    ):
        with pytest.raises(UserError, match=named):
            gym.make("claw/chat-v0", **{"server": url} | wrong)


def test_a_server_of_something_else_is_named_in_one_line() -> None:
    class Page(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>")

    with HTTPServer(("127.0.0.1", 0), Page) as pages:
        thread = threading.Thread(target=pages.handle_request)
        thread.start()
        with pytest.raises(UserError, match="is this `claw serve envs`"):
            gym.make("claw/chat-v0", server=f"http://127.0.0.1:{pages.server_port}")
        thread.join()


def test_a_step_needs_a_reset(server: Hosted) -> None:
    env = gym.make("claw/chat-v0", server=server.url).unwrapped
    with pytest.raises(gym.error.ResetNeeded):
        env.step("12")
    env.reset(seed=0)
    env.close()
    with pytest.raises(gym.error.ResetNeeded):
        env.step("12")
    env.reset(seed=0)
    assert env.step("## 12")[4]["step_index"] == 1
    env.close()


def test_the_spec_makes_it_again(server: Hosted) -> None:
    env = gym.make("claw/chat-v0", server=server.url, max_steps=2)
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert again.reset(seed=1) == env.reset(seed=1)
    env.close()
    again.close()


def test_judges_and_trainers_take_it_for_any_other(server: Hosted, tmp_path: Any) -> None:
    judged = [JudgeReward(env, RulesJudge()) for env in both("chat", server)]
    for env in judged:
        env.reset(seed=4)
    assert judged[0].step("## 12")[1:] == judged[1].step("## 12")[1:]

    settings = tmp_path / "run.toml"
    settings.write_text(f'[env]\nserver = "{server.url}"\nmax_steps = 3\n')
    env = make_env(load_config("chat", settings, {}))
    done = asyncio.run(run_episode(env, _Echo(), sampling=Sampling(), seed=4, episode_id="e"))
    assert (len(done.turns), done.status) == (3, "TRUNCATED")
    for each in (*judged, env):
        each.close()


class _Echo:
    async def generate(self, prompt: Any, sampling: Any) -> Completion:
        return Completion(text="## 12", prompt_ids=[], response_ids=[], logprobs=[], versions=[], finish_reason="stop")

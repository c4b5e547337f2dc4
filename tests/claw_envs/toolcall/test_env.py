"""The environment as a whole: real sandboxes, the real interpreter, the real checker."""

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import msgspec
import pytest
from gymnasium.utils.env_checker import check_env

import claw_envs  # noqa: F401 - registers the families
from claw_envs.core.errors import UserError
from claw_envs.core.task import Limits, SandboxSpec, Task, VerifierSpec
from claw_envs.sandbox.lease import Lease
from claw_envs.toolcall.answering import wrong_answer
from claw_envs.toolcall.env import ToolCallEnv
from claw_envs.toolcall.prompts import FORMS, MOST_EXAMPLES
from claw_envs.toolcall.wire import parse
from claw_envs.wire import write
from claw_envs.wire.calls import Call, Form

TASK = Task(
    id="product",
    family="toolcall",
    instruction="What is 37 * 482?",
    verifier=VerifierSpec(kind="answer", options={"answer": "17834", "kind": "numeric"}),
    sandbox=SandboxSpec(workdir="/work", memory_mb=256),
    limits=Limits(max_steps=4, step_timeout=10),
)
CODE = "```python\n37 * 482\n```"


def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: the first.
        b: the second.
    """
    return a + b


@pytest.fixture
def env() -> Iterator[ToolCallEnv]:
    made = ToolCallEnv([TASK])
    yield made
    made.close()


def opened(**settings: Any) -> ToolCallEnv:
    env: ToolCallEnv = gym.make("claw/toolcall-v0", tasks=[TASK], **settings).unwrapped  # type: ignore[assignment]
    return env


def test_a_question_is_answered_with_the_interpreter(env: ToolCallEnv) -> None:
    observation, info = env.reset()
    assert observation["text"] == "What is 37 * 482?"
    assert [tool["function"]["name"] for tool in info["tools"]] == ["python"]
    assert "```python" in info["system_prompt"]
    observation, reward, terminated, truncated, info = env.step("I compute it.\n" + CODE)
    assert (observation["role"], observation["text"], observation["exit_code"]) == ("tool", "[ok]\n17834", 0)
    assert (reward, terminated, truncated) == (0.0, False, False)
    _, reward, terminated, _, info = env.step("It is \\boxed{17834}.")
    assert (reward, terminated, info["status"]) == (1.0, True, "COMPLETED")
    assert info["report"] == {
        "correct": True,
        "answer": "17834",
        "expected": "17834",
        "reason": info["report"]["reason"],
        "calls": 1,
    }


def test_a_wrong_answer_is_minus_one(env: ToolCallEnv) -> None:
    env.reset()
    _, reward, terminated, _, info = env.step("\\boxed{17835}")
    assert (reward, terminated, info["report"]["correct"]) == (-1.0, True, False)


@pytest.mark.parametrize("options", [{"answer": "42", "kind": "roman"}, {"answer": "twelve", "kind": "numeric"}])
def test_a_task_that_cannot_be_verified_aborts_its_episode_only(options: dict[str, Any]) -> None:
    bad = msgspec.structs.replace(TASK, id="bad", verifier=VerifierSpec(kind="answer", options=options))
    env = ToolCallEnv([bad, TASK])
    env.reset(options={"task": "bad"})
    _, reward, _, truncated, info = env.step("\\boxed{12}")
    assert (reward, truncated, info["status"]) == (0.0, True, "ABORTED")
    assert "task bad cannot be verified" in info["error"]
    env.reset(options={"task": "product"})
    assert env.step("\\boxed{17834}")[1] == 1.0
    env.close()


def test_a_missing_checker_is_told_before_the_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("claw_envs.toolcall.answering.find_spec", lambda name: None)
    env = ToolCallEnv([msgspec.structs.replace(TASK, verifier=VerifierSpec(kind="answer", options={"answer": "x"}))])
    with pytest.raises(UserError, match=r"claw-envs\[toolcall\]"):
        env.reset()
    env.close()


def test_state_survives_between_calls_and_not_between_episodes(env: ToolCallEnv) -> None:
    env.reset()
    env.step("```python\nx = 6 * 7\n```")
    assert env.step("```python\nx + 1\n```")[0]["text"] == "[ok]\n43"
    env.reset()
    observation, *_ = env.step("```python\nx\n```")
    assert observation["exit_code"] == 1
    assert "NameError" in observation["text"]


def test_tools_that_need_no_sandbox_start_none(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(*_: object) -> None:
        raise AssertionError("a sandbox was taken")

    monkeypatch.setattr(Lease, "take", refused)
    env = opened(tools=[add])
    env.reset()
    assert env.step(write([Call("add", {"a": 2, "b": 3})], "hermes"))[0]["text"] == "[ok]\n5"
    env.close()


def test_a_task_without_a_sandbox_does_not_get_the_last_one_s() -> None:
    bare = msgspec.structs.replace(TASK, id="bare", sandbox=None)
    env = ToolCallEnv([TASK, bare])
    env.reset(options={"task": "product"})
    with pytest.raises(UserError, match="needs a sandbox"):
        env.reset(options={"task": "bare"})
    env.close()


def test_one_source_that_cannot_be_closed_leaves_none_open() -> None:
    class Source:
        def __init__(self, error: str = "") -> None:
            self.error, self.open = error, True

        async def start(self, lease: Lease) -> list[Any]:
            return []

        async def close(self) -> None:
            self.open = False
            if self.error:
                raise RuntimeError(self.error)

    sources = [Source(), Source("stuck"), Source()]
    with pytest.raises(RuntimeError, match="stuck"):
        ToolCallEnv([TASK], tools=sources).close()
    assert not any(source.open for source in sources)


def test_no_answer_within_the_limit_is_wrong(env: ToolCallEnv) -> None:
    env.reset()
    for _ in range(3):
        assert env.step(CODE)[1] == 0.0
    _, reward, terminated, truncated, info = env.step(CODE)
    assert (reward, terminated, truncated) == (-1.0, False, True)
    assert info["report"]["reason"] == "no final answer was given"


def test_an_empty_message_costs_a_step(env: ToolCallEnv) -> None:
    env.reset()
    observation, reward, terminated, _, info = env.step("  ")
    assert (observation["role"], reward, terminated, info["step_index"]) == ("environment", 0.0, False, 1)
    assert "empty" in observation["text"]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read_whatever_the_agent_was_told(form: Form, env: ToolCallEnv) -> None:
    env.reset()
    message = write([Call("python", {"code": "37 * 482"}, "call_1" if form == "openai" else None)], form)
    observation, *_ = env.step(message)
    assert observation["text"] == "[ok]\n17834"


@pytest.mark.parametrize("form", [form for form in FORMS if form != "openai"])
def test_the_system_prompt_shows_a_call_that_can_be_read(form: Form) -> None:
    env = opened(form=form)
    _, info = env.reset()
    read = [parse(paragraph, code_tool="python") for paragraph in info["system_prompt"].split("\n\n")]
    shown = [part for part in read if part.calls]
    assert [part.form for part in shown] == [form]
    assert isinstance(shown[0].calls[0], Call)
    env.close()


def test_native_tools_are_left_to_the_template() -> None:
    env = opened(form="openai", tools=[add])
    _, info = env.reset()
    assert info["native_tools"]
    assert "add" not in info["system_prompt"]
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 2, "b": 3}'}}
    other = {"id": "c2", "type": "function", "function": {"name": "sub", "arguments": "{}"}}
    observation, *_ = env.step({"content": None, "tool_calls": [call, other]})
    first, second = env.last_observation.messages()
    assert (first["role"], first["tool_call_id"], first["content"]) == ("tool", "c1", "[ok]\n5")
    assert second["tool_call_id"] == "c2"
    assert "add" in second["content"]
    assert observation["role"] == "tool"
    env.close()


def test_worked_examples_are_calls_and_answers_that_are_read() -> None:
    env = opened(few_shot=MOST_EXAMPLES)
    _, info = env.reset()
    examples = info["few_shot"]
    assert len(examples) == 4 * MOST_EXAMPLES
    for _, call, result, answer in zip(*[iter(examples)] * 4, strict=True):
        observation, *_ = env.step(call["content"])
        assert observation["text"] == result["content"]
        assert answer["content"] == "\\boxed{" + observation["text"].removeprefix("[ok]\n") + "}"
    env.close()


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"form": "xml"}, "fenced"),
        ({"few_shot": 9}, "0 to 3"),
        ({"few_shot": 1.0}, "0 to 3"),
        ({"few_shot": 1, "form": "openai"}, "openai"),
        ({"few_shot": 1, "tools": [add]}, "python"),
        ({"tools": "python"}, "list"),
        ({"tools": None}, "list"),
        ({"tools": add}, "list"),
        ({"credit": "maybe"}, "credit must be true or false"),
    ],
)
def test_impossible_settings_are_named(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(UserError, match=named):
        opened(**settings)


@pytest.mark.parametrize("form", ["fenced", "code"])
def test_a_form_that_cannot_call_a_tool_is_refused(form: Form) -> None:
    env = opened(form=form, tools=["python", add])
    with pytest.raises(UserError, match=f"form '{form}' cannot call add: use hermes"):
        env.reset()
    env.close()


def test_credit_for_trying_tools() -> None:
    assert [wrong_answer(calls) for calls in (0, 1, 2, 3, 10, 99)] == [-1.0, -1.0, -1.0, -0.95, -0.6, -0.6]
    env = opened(credit=True)
    env.reset()
    for _ in range(3):
        env.step(CODE)
    _, reward, *_ = env.step("\\boxed{1}")
    assert reward == -0.95
    env.close()


def test_gymnasiums_own_checks_pass() -> None:
    env = ToolCallEnv([TASK])
    check_env(env, skip_render_check=True)
    env.close()


def test_many_at_once_keep_apart() -> None:
    envs: Any = gym.make_vec("claw/toolcall-v0", num_envs=8, tasks=[TASK])
    envs.reset(seed=0)
    envs.step([f"```python\nmine = {i}\n```" for i in range(8)])
    observations, *_ = envs.step(["```python\nmine * 10\n```"] * 8)
    assert observations["text"] == tuple(f"[ok]\n{10 * i}" for i in range(8))
    envs.close()

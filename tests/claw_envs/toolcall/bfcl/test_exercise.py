"""Episodes of function-calling tests, step by step through `gym.make`."""

import json
import os
import signal
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.loop import run_sync
from claw_envs.sandbox.process.child import children
from claw_envs.toolcall.bfcl import exercise
from claw_envs.toolcall.bfcl.exercise import BfclExercise
from claw_envs.toolcall.bfcl.tasks import STEPS_PER_TURN
from claw_envs.wire import write
from claw_envs.wire.calls import Call, Form

from .conftest import Open

TRIANGLE = Call("calculate_triangle_area", {"base": 10, "height": 5})
DOCUMENT = Call("cd", {"folder": "document"})
STAY = Call("pwd", {})
SLOW = Call("power", {"base": 7, "exponent": 10**9})


def openai(*calls: Call) -> Any:
    """A message with calls."""
    return write(calls, "openai")


# --- one turn -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["openai", "hermes", "llama3"])
def test_the_first_message_is_the_answer_in_every_form(open_task: Open, form: Form) -> None:
    env = open_task("simple_python_0", form=form)
    observation, info = env.reset()
    assert observation["text"].startswith("Find the area of a triangle")
    assert ("calculate_triangle_area" in info["system_prompt"]) is (form != "openai")
    _, reward, terminated, _, info = env.step(write([TRIANGLE], form))
    assert (reward, terminated, info["status"]) == (1.0, True, "COMPLETED")
    assert info["report"]["correct"]


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("It is 25.", "ast_decoder:decoder_failed"),
        (openai(TRIANGLE, TRIANGLE), "simple_function_checker:wrong_count"),
        (openai(TRIANGLE._replace(name="area")), "simple_function_checker:wrong_func_name"),
        (openai(Call(TRIANGLE.name, {"base": 10})), "simple_function_checker:missing_required"),
        (openai(Call(TRIANGLE.name, {"base": 10, "height": 6})), "value_error:others"),
        (openai(Call(TRIANGLE.name, {"base": 10, "height": "5"})), "type_error:simple"),
        (openai(Call(TRIANGLE.name, TRIANGLE.arguments | {"x": 1})), "simple_function_checker:unexpected_param"),
        (openai(Call(TRIANGLE.name, {"base": json.loads("[" * 90 + "]" * 90), "height": 5})), "type_error:simple"),
        (openai(Call(TRIANGLE.name, {"base": json.loads("[" * 200 + "]" * 200)})), "ast_decoder:decoder_failed"),
    ],
    ids=["none", "two", "name", "missing", "value", "type", "extra", "nested", "too nested"],
)  # fmt: skip
def test_a_wrong_answer_is_told_why(open_task: Open, message: Any, error: str) -> None:
    env = open_task("simple_python_0")
    env.reset()
    _, reward, _, _, info = env.step(message)
    assert (reward, info["status"]) == (-1.0, "COMPLETED")
    assert info["report"]["error_type"] == error
    assert info["report"]["error"]
    assert info["report"]["category"] == "simple_python"


def test_a_call_that_cannot_be_read_spoils_the_answer_and_is_told(open_task: Open) -> None:
    env = open_task("simple_python_0")
    env.reset()
    message = openai(TRIANGLE)
    message["tool_calls"].append({"id": "b", "type": "function", "function": {"name": "x", "arguments": "{"}})
    observation, reward, _, _, info = env.step(message)
    assert reward == -1.0
    assert "not valid JSON" in observation["text"]
    assert info["report"]["error"] == "a call could not be read"


def test_numbers_written_as_text_are_read_by_the_functions_schema(open_task: Open) -> None:
    env = open_task("simple_python_0", form="hermes")
    env.reset()
    as_xml = Call(TRIANGLE.name, {"base": "10", "height": "5"}, typed=False)
    assert env.step(write([as_xml], "hermes"))[1] == 1.0


@pytest.mark.parametrize(("task_id", "called"), [("irrelevance_0", -1.0), ("live_relevance_0-0-0", 1.0)])
def test_whether_to_call_at_all(open_task: Open, task_id: str, called: float) -> None:
    env = open_task(task_id)
    _, info = env.reset()
    name = info["tools"][0]["function"]["name"]
    assert env.step(openai(Call(name, {})))[1] == called
    env.reset()
    assert env.step("None of these fits.")[1] == -called


def test_an_episode_that_is_cut_before_its_answer_is_wrong(open_task: Open) -> None:
    env = open_task("irrelevance_0")
    env.reset()
    info = run_sync(env.unwrapped.atruncate())  # type: ignore[attr-defined]
    assert (info["outcome"], info["report"]["error_type"]) == (-1.0, "no_answer")


# --- several turns --------------------------------------------------------------------------------------------------


def test_calls_are_answered_in_order_and_a_message_without_one_ends_the_turn(open_task: Open) -> None:
    env = open_task("multi_turn_base_0")
    first, _ = env.reset()
    assert "temp" in first["text"]
    observation, reward, _, _, info = env.step(openai(DOCUMENT, STAY, Call("cd", {"folder": "nowhere"})))
    answers = env.unwrapped.last_observation.answers  # type: ignore[attr-defined]
    assert [answer.call_id for answer in answers] == ["call_1", "call_2", "call_3"]
    assert answers[1].text == '[ok]\n{"current_working_directory": "/workspace/document"}'
    assert answers[2].text.startswith('[error]\n{"error": ')
    assert (observation["role"], observation["exit_code"], reward) == ("tool", 1, 0.0)
    observation, *_, info = env.step("Done.")
    assert observation["role"] == "user"
    assert "budget analysis" in observation["text"]
    assert info["status"] == "RUNNING"


def test_functions_that_the_user_adds_are_told(open_task: Open) -> None:
    env = open_task("multi_turn_miss_func_0")
    _, info = env.reset()
    for _ in range(3):
        assert "sort" not in [tool["function"]["name"] for tool in info["tools"]]
        observation, *_, info = env.step("I cannot.")
    assert "sort" in [tool["function"]["name"] for tool in info["tools"]]
    assert observation["text"].startswith("I have updated some more functions")
    env = open_task("multi_turn_miss_func_0", form="hermes")
    env.reset()
    for _ in range(3):
        observation, *_ = env.step("I cannot.")
    assert '"name": "sort"' in observation["text"]


def test_a_dropped_call_that_changes_the_state_is_found(open_task: Open) -> None:
    env = open_task("multi_turn_base_0")
    env.reset()
    env.step(openai(DOCUMENT, Call("mkdir", {"dir_name": "temp"})))  # the file is not moved
    for message in ["Done.", openai(Call("ls", {})), "Done.", openai(STAY), "Done.", openai(STAY)]:
        env.step(message)
    _, reward, terminated, _, info = env.step("Done.")
    assert (reward, terminated) == (-1.0, True)
    assert info["report"]["error_type"] == "multi_turn:instance_state_mismatch"


def test_a_turn_with_too_many_messages_ends_the_episode(open_task: Open) -> None:
    env = open_task("multi_turn_base_0")
    env.reset()
    for _ in range(STEPS_PER_TURN):
        assert env.step(openai(STAY))[4]["status"] == "RUNNING"
    _, reward, terminated, _, info = env.step(openai(STAY))
    assert (reward, terminated, info["status"]) == (-1.0, True, "FAILED")
    assert info["report"]["error_type"] == "multi_turn:force_terminated"


def test_calls_that_cannot_be_carried_out_are_told_and_cost_no_state(open_task: Open) -> None:
    env = open_task("multi_turn_base_0", form="hermes")
    env.reset()
    text = "\n".join(
        [
            "<tool_call>\n{broken\n</tool_call>",
            str(
                write([Call("fly", {}), Call("cd", {"where": "document"}), Call("cd", {"folder": [1]}), STAY], "hermes")
            ),
        ]
    )
    observation, *_ = env.step(text)
    parts = observation["text"].split("\n[")
    assert parts[0].startswith("[1/5 malformed | not run]\nThe text in <tool_call> is not valid JSON")
    assert parts[1] == "2/5 fly | error]\nError during execution: name 'fly' is not defined"
    assert parts[2].startswith("3/5 cd | error]\nError during execution: ")
    assert parts[3].startswith("4/5 cd | error]\n")
    assert parts[4] == '5/5 pwd | ok]\n{"current_working_directory": "/workspace"}'


def test_a_call_that_takes_too_long_is_stopped_and_the_state_kept(open_task: Open) -> None:
    env = open_task("multi_turn_base_31", step_timeout=3.0)  # files and numbers
    env.reset()
    env.step(openai(Call("mkdir", {"dir_name": "Reports"})))
    observation, *_, info = env.step(openai(Call("cd", {"folder": "Reports"}), SLOW, STAY))
    assert "[2/3 power | stopped after" in observation["text"]
    assert "[3/3 pwd | not run]" in observation["text"]
    assert info["status"] == "RUNNING"
    observation, *_ = env.step(openai(STAY))
    assert observation["text"].endswith('Reports"}')


def test_calls_too_slow_to_repeat_end_the_episode_and_abort_nothing(
    open_task: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exercise, "REPLAY", 0.0)
    env = open_task("multi_turn_base_31", step_timeout=3.0)
    env.reset()
    env.step(openai(Call("mkdir", {"dir_name": "Reports"})))
    _, reward, terminated, _, info = env.step(openai(SLOW, STAY))
    assert (reward, terminated, info["status"]) == (-1.0, True, "FAILED")
    assert info["report"]["error_type"] == "multi_turn:force_terminated"
    env.reset()
    assert env.step(openai(STAY))[4]["status"] == "RUNNING"


def test_a_result_without_measure_is_cut(open_task: Open) -> None:
    env = open_task("multi_turn_base_31")
    env.reset()
    env.step(openai(Call("multiply", {"a": "x", "b": 10**7})))
    assert len(env.unwrapped.last_observation.text) < 1_100_000  # type: ignore[attr-defined]


def test_a_lost_worker_aborts_its_episode_only(open_task: Open) -> None:
    lost, other = open_task("multi_turn_base_0"), open_task("multi_turn_base_0")
    before = set(children(os.getpid()))
    lost.reset()
    (worker,) = set(children(os.getpid())) - before
    other.reset()
    (episode,) = children(worker)
    os.kill(episode, signal.SIGKILL)
    _, reward, _, truncated, info = lost.step(openai(STAY))
    assert (reward, truncated, info["status"]) == (0.0, True, "ABORTED")
    assert "outcome" not in info
    assert other.step(openai(STAY))[4]["status"] == "RUNNING"
    lost.reset()
    assert lost.step(openai(STAY))[4]["status"] == "RUNNING"


def test_two_episodes_of_one_task_do_not_meet(open_task: Open) -> None:
    one, two = open_task("multi_turn_base_0"), open_task("multi_turn_base_0")
    one.reset()
    two.reset()
    one.step(openai(DOCUMENT))
    assert '"/workspace"' in two.step(openai(STAY))[0]["text"]
    one.reset()
    assert '"/workspace"' in one.step(openai(STAY))[0]["text"]


@pytest.mark.parametrize("form", ["fenced", "code"])
def test_a_form_of_code_alone_is_refused(form: Form) -> None:
    with pytest.raises(UserError, match="use hermes, llama3 or openai"):
        BfclExercise(form=form)

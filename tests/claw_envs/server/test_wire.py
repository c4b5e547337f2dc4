"""What crosses the wire arrives as it was."""

from typing import Any

import gymnasium as gym
import msgspec
import numpy as np
import pytest

from claw_envs.core.env import Timings
from claw_envs.core.episode import Observation
from claw_envs.core.errors import ContextFull, InfrastructureError, UserError
from claw_envs.core.exit_code import exit_code_space
from claw_envs.core.spaces import Unicode
from claw_envs.server import wire
from claw_envs.server.arrays import ext_hook
from claw_envs.server.spaces import field, spaces_of

SCREEN = np.arange(2 * 4 * 3, dtype=np.uint8).reshape(2, 4, 3)


def there_and_back(**parts: Any) -> wire.Result:
    result = wire.Result(key=1, **({"last": Observation(role="tool", text=""), "observation": {}, "info": {}} | parts))
    back = wire.read_reply(wire.encode(result))
    assert isinstance(back, wire.Result)
    return back


@pytest.mark.parametrize(
    "array",
    [
        SCREEN,
        SCREEN[:, ::2],
        np.tile(SCREEN, (50, 60, 1)),
        SCREEN.astype(">f4"),
        np.array(-1, dtype=np.int32),
        np.float32(0.1),
        np.array([], dtype=np.int64),
        np.array([[True], [False]]),
    ],
)
def test_arrays_keep_type_shape_and_values_wherever_they_stand(array: Any) -> None:
    back = there_and_back(observation={"a": array}, info={"deep": [{"a": array}]})
    for copy in (back.observation["a"], back.info["deep"][0]["a"]):
        assert (type(copy), copy.dtype, copy.shape) == (type(array), array.dtype, array.shape)
        assert np.array_equal(copy, array)
    if isinstance(array, np.ndarray):
        assert back.observation["a"].flags.writeable


def test_a_screenshot_arrives_in_its_struct() -> None:
    back = there_and_back(last=Observation(role="tool", text="naïve \x00 🙂", screenshot=SCREEN, exit_code=3))
    assert np.array_equal(back.last.screenshot, SCREEN)
    assert (back.last.text, back.last.exit_code) == ("naïve \x00 🙂", 3)


def test_screenshots_travel_compressed_and_no_lie_about_their_size_is_believed() -> None:
    screen = np.zeros((720, 1280, 3), np.uint8)
    data = wire.encode({"a": screen})
    assert len(data) < 20_000
    lie = data.replace(msgspec.msgpack.encode(screen.shape), msgspec.msgpack.encode((720, 1280, 4)))
    assert lie != data
    with pytest.raises(ValueError, match="compressed array"):
        msgspec.msgpack.decode(lie, ext_hook=ext_hook)


def test_timings_and_large_seeds_are_plain_values() -> None:
    assert there_and_back(info={"timings": Timings(step=0.5)}).info == {"timings": {"step": 0.5}}
    seed = 2**64 - 1
    assert wire.read_request(wire.encode(wire.Reset(key=1, seed=seed))).seed == seed  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "space",
    [
        Unicode(16),
        exit_code_space(),
        gym.spaces.Box(0, 255, (4, 5, 3), np.uint8),
        gym.spaces.Box(-np.inf, np.inf, (2,), np.float32),
        gym.spaces.Box(np.iinfo(np.int64).min, np.iinfo(np.int64).max, (), np.int64),
    ],
)
def test_spaces_arrive_equal(space: gym.Space[Any]) -> None:
    sent = msgspec.msgpack.decode(wire.encode({"a": field(space)}), type=dict[str, wire.Field])
    [back] = spaces_of(sent).values()
    assert back == space
    assert back.dtype == space.dtype


@pytest.mark.parametrize("space", [gym.spaces.Discrete(3), gym.spaces.Box(np.float32([0, 0]), np.float32([1, 2]))])
def test_a_space_that_cannot_be_sent_is_named(space: gym.Space[Any]) -> None:
    with pytest.raises(NotImplementedError, match=type(space).__name__):
        field(space)


@pytest.mark.parametrize("action", ["plain", "half \ud800", {"content": "half \udfff", "tool_calls": [1, None]}, {}])
def test_any_action_arrives(action: Any) -> None:
    request = wire.read_request(wire.encode(wire.act(action)))
    assert isinstance(request, wire.Act)
    assert wire.action_of(request) == action


@pytest.mark.parametrize("action", ["[1]", "3", "{", {"a": 1}])
def test_what_only_claims_to_be_an_action_is_refused(action: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whatever it says
        wire.action_of(wire.Act(key=1, action=action, escaped=True))


@pytest.mark.parametrize(
    "error", [UserError("a"), InfrastructureError("b"), ContextFull("c"), gym.error.ResetNeeded("d")]
)
def test_errors_arrive_as_what_they_are(error: Exception) -> None:
    back = wire.error_of(wire.fault(error))
    assert (type(back), str(back)) == (type(error), str(error))


def test_a_bug_keeps_its_words_to_itself() -> None:
    back = wire.error_of(wire.fault(KeyError("/home/operator")))
    assert type(back) is RuntimeError
    assert "KeyError" in str(back)
    assert "operator" not in str(back)


@pytest.mark.parametrize(
    "data", [b"", b"\xc1", b"\x91" * 100_000, wire.encode(wire.Wanted(family="x")), wire.encode({"type": "step"})]
)
def test_what_is_no_request_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whatever it says
        wire.read_request(data)


def test_a_client_cannot_send_arrays() -> None:
    request = wire.read_request(wire.encode(wire.Reset(key=1, options={"a": SCREEN})))
    assert isinstance(request, wire.Reset)
    assert isinstance((request.options or {})["a"], msgspec.msgpack.Ext)  # bytes that nobody looked into

import msgspec
import numpy as np
import pytest

from claw_envs.core.codec import from_bytes, from_json, packed, to_bytes, to_json, unpacked
from claw_envs.core.episode import Answer, Episode, Observation, Status, Turn, Verdict
from claw_envs.core.task import Limits, SandboxSpec, Task, VerifierSpec

RICH = "naïve 中文 🙂\n\t\x00 end "


def episode() -> Episode:
    screen = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
    turn = Turn(
        episode_id="e1",
        step=0,
        messages=[{"role": "user", "content": RICH}],
        response=RICH,
        tool_calls=[{"id": "c1", "function": {"name": "f", "arguments": "{}"}}],
        prompt_ids=[1, 2],
        response_ids=[3],
        logprobs=[-0.1],
        versions=[7],
        observation=Observation(role="tool", text=RICH, exit_code=1, screenshot=screen, answers=[Answer("c1", RICH)]),
        verdict=Verdict(score=-1.0, votes=[-1.0, None], hint=RICH, raw=["no"], cost=12),
        timings={"step": 0.25},
    )
    return Episode(id="e1", task_id="t", family="gui", turns=[turn], outcome=0.5, status=Status.TRUNCATED, seed=3)


@pytest.mark.parametrize(("encode", "decode"), [(to_bytes, from_bytes), (to_json, from_json)])
def test_an_episode_survives_with_its_arrays(encode, decode) -> None:
    back = decode(encode(episode()), Episode)
    screen = back.turns[0].observation.screenshot
    assert (screen.dtype, screen.shape) == (np.uint8, (2, 3, 3))
    assert np.array_equal(screen, episode().turns[0].observation.screenshot)
    assert encode(back) == encode(episode())
    assert back.turns[0].response == RICH
    assert back.status is Status.TRUNCATED
    assert back.turns[0].id == "e1/0"


@pytest.mark.parametrize(("encode", "decode"), [(to_bytes, from_bytes), (to_json, from_json)])
def test_a_task_survives(encode, decode) -> None:
    task = Task(
        id="t",
        family="terminal",
        instruction=RICH,
        verifier=VerifierSpec(kind="harbor", options={"a": [1, {"b": None}]}),
        limits=Limits(max_steps=3),
        sandbox=SandboxSpec(files={"/app/x": "x"}, setup=("true",), network=("example.org",)),
        path="somewhere",
    )
    assert decode(encode(task), Task) == task


def test_json_is_one_line() -> None:
    assert b"\n" not in to_json(episode())


def test_numpy_scalars_become_numbers() -> None:
    assert from_bytes(to_bytes({"a": np.float32(0.5), "b": np.int64(3)}), dict) == {"a": 0.5, "b": 3}


def test_a_non_contiguous_array_keeps_its_values() -> None:
    screen = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)[:, ::2]
    back = from_bytes(to_bytes(Observation(role="tool", text="", screenshot=screen)), Observation)
    assert np.array_equal(back.screenshot, screen)


@pytest.mark.parametrize(("encode", "decode"), [(to_bytes, from_bytes), (to_json, from_json)])
def test_a_screenshot_is_compressed_without_loss(encode, decode) -> None:
    screen = np.full((720, 1280, 3), 250, np.uint8)
    screen[100:200, 300:500] = np.random.default_rng(0).integers(0, 255, (100, 200, 3), dtype=np.uint8)
    data = encode(Observation(role="tool", text="", screenshot=screen))
    assert len(data) < 100_000
    back = decode(data, Observation)
    assert (back.screenshot.dtype, back.screenshot.shape) == (np.uint8, (720, 1280, 3))
    assert np.array_equal(back.screenshot, screen)


@pytest.mark.parametrize("shape", [(64, 64, 3), (64, 64, 5), (0,)])
def test_a_compressed_array_of_another_size_is_refused(shape: tuple[int, ...]) -> None:
    data = packed(np.zeros((64, 64, 4), np.uint8))
    assert data is not None
    with pytest.raises(ValueError, match="a compressed array"):
        unpacked(data, shape)
    with pytest.raises(ValueError, match="a compressed array"):
        unpacked(b"no zlib", shape)


@pytest.mark.parametrize("array", [np.zeros((10, 10, 3), np.uint8), np.zeros((999, 999), np.float32)])
def test_other_arrays_are_left_as_they_are(array: np.ndarray) -> None:
    assert packed(array) is None


def test_wrong_bytes_are_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        from_json('{"id": 3}', Episode)


def test_what_cannot_be_encoded_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="cannot encode object"):
        to_bytes(object())

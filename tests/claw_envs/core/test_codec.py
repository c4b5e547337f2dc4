import msgspec
import numpy as np
import pytest

from claw_envs.core.codec import from_bytes, from_json, to_bytes, to_json
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


def test_wrong_bytes_are_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        from_json('{"id": 3}', Episode)


def test_what_cannot_be_encoded_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="cannot encode object"):
        to_bytes(object())

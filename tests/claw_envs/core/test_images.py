import asyncio
import base64
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from PIL import Image

from claw_envs.core.episode import Answer, Message, Observation
from claw_envs.core.images import LEFT_OUT, Screenshots, jpeg, png


def screen(shade: int) -> Observation:
    return Observation(role="tool", text=f"shade {shade}", screenshot=np.full((4, 6, 3), shade, np.uint8))


def shade_of(part: dict[str, Any]) -> int:
    head, _, data = part["image_url"]["url"].partition(",")
    assert head == "data:image/png;base64"
    return int(np.asarray(Image.open(BytesIO(base64.b64decode(data))))[0, 0, 0])


def shown(last: int, observations: list[Observation]) -> tuple[list[Message], list[Message]]:
    """A conversation, and how it is shown at its end."""

    async def all_of_them() -> tuple[list[Message], list[Message]]:
        screens, messages = Screenshots(last), list[Message]()
        for observation in observations:
            messages += [{"role": "assistant", "content": "…"}] if messages else []
            messages += observation.messages()
            await screens.add(len(messages) - 1, observation)
        return messages, screens.shown(messages)

    return asyncio.run(all_of_them())


def test_a_png_is_the_screen_to_the_last_bit() -> None:
    noise = np.random.default_rng(0).integers(0, 255, (5, 7, 3), dtype=np.uint8)
    assert np.array_equal(np.asarray(Image.open(BytesIO(png(noise)))), noise)


@pytest.mark.parametrize(("width", "size"), [(480, (480, 270)), (5000, (1280, 720))])
def test_a_jpeg_is_narrowed(width: int, size: tuple[int, int]) -> None:
    assert Image.open(BytesIO(jpeg(np.zeros((720, 1280, 3), np.uint8), width=width))).size == size


def test_the_last_screenshots_stand_with_their_text() -> None:
    messages, seen = shown(2, [screen(i) for i in range(4)])
    assert [message["content"] for message in messages if message["role"] == "user"] == [f"shade {i}" for i in range(4)]
    users = [message["content"] for message in seen if message["role"] == "user"]
    assert [parts[0] for parts in users] == [{"type": "text", "text": f"shade {i}"} for i in range(4)]
    assert [parts[1] for parts in users[:2]] == 2 * [{"type": "text", "text": LEFT_OUT}]
    assert [shade_of(parts[1]) for parts in users[2:]] == [2, 3]


def test_nothing_is_added_for_a_model_that_does_not_see() -> None:
    messages, seen = shown(0, [screen(i) for i in range(3)])
    assert seen == messages


def test_after_answers_to_calls_the_user_shows_it() -> None:
    answered = screen(9)
    answered.answers = [Answer("a", "one"), Answer("b", "two")]
    messages, seen = shown(1, [screen(1), answered])
    assert [message["role"] for message in seen] == ["user", "assistant", "tool", "tool", "user"]
    assert seen[2:4] == messages[2:4]
    assert shade_of(seen[-1]["content"][0]) == 9


def test_what_has_no_screenshot_counts_for_nothing() -> None:
    _, seen = shown(1, [screen(5), Observation(role="environment", text="not understood")])
    assert seen[-1] == {"role": "user", "content": "not understood"}
    assert shade_of(seen[0]["content"][1]) == 5

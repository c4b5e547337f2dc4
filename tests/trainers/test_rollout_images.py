"""Screenshots through a roll-out: what reaches an endpoint, what an embedded policy gets, what is kept and trained."""

import asyncio
import base64
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from claw_envs.core.episode import Episode, content_of
from claw_envs.core.images import LEFT_OUT
from claw_envs.gui.env import GuiEnv
from evals.results import transcript
from trainers.policies.base import Completion, Policy, Prompt, Sampling
from trainers.policies.endpoint import EndpointPolicy
from trainers.policies.vision import VisionRenderer, opened
from trainers.rollout import run_episode
from trainers.sequences import build
from trainers.store import Store, Unit

from ..claw_envs.gui.drawn import SIZE, DrawnScenario, DrawnScreen, set_stage, task
from ..judges.chat_server import ChatServer
from .seeing import processor

CLICK = 'click("1")'


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> DrawnScreen:
    screen = DrawnScreen()
    set_stage(monkeypatch, DrawnScenario(screen))
    return screen


async def episode_of(policy: Policy, *, images: int) -> Episode:
    env = GuiEnv([task(max_steps=4)], size=SIZE, images=images)
    try:
        return await run_episode(env, policy, sampling=Sampling(), seed=1, episode_id="e")
    finally:
        await env.aclose()


def pictures(message: dict[str, Any]) -> list[int]:
    """The shades of the screens that a message shows."""
    parts = message["content"] if isinstance(message["content"], list) else []
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    assert all(url.startswith("data:image/png;base64,") for url in urls)
    images = [Image.open(BytesIO(base64.b64decode(url.partition(",")[2]))) for url in urls]
    assert all(image.size == SIZE for image in images)
    return [int(np.asarray(image)[0, 0, 0]) for image in images]


@pytest.mark.parametrize(
    ("images", "expected"), [(0, []), (1, [[0], [20], [40], [60]]), (2, [[0], [0, 20], [20, 40], [40, 60]])]
)
def test_an_endpoint_is_shown_the_last_screenshots(stage: DrawnScreen, images: int, expected: list[list[int]]) -> None:
    async def run() -> tuple[ChatServer, Episode]:
        async with ChatServer(lambda _: CLICK) as server:
            policy = EndpointPolicy(server.url, model="sees")
            episode = await episode_of(policy, images=images)
            await policy.aclose()
            return server, episode

    server, episode = asyncio.run(run())
    sent = [body["messages"] for body in server.requests]
    seen = [[shade for message in messages for shade in pictures(message)] for messages in sent]
    assert seen == (expected or [[], [], [], []])
    left_out = [str(messages).count(LEFT_OUT) for messages in sent]
    assert left_out == [max(0, i + 1 - images) if images else 0 for i in range(4)]
    texts = [content_of(message).removesuffix("\n[image_url]").removesuffix(f"\n{LEFT_OUT}") for message in sent[-1]]
    assert texts == [content_of(message) for message in episode.turns[-1].messages]


def test_calls_are_answered_by_text_and_the_screen_follows(stage: DrawnScreen) -> None:
    class Calling:
        version = 0
        prompts: list[Any] = []

        async def generate(self, prompt: Prompt, sampling: Sampling, *, tools: Any = None) -> Completion:
            self.prompts.append(prompt)
            call = {"id": f"c{len(self.prompts)}", "function": {"name": "click", "arguments": '{"id": "1"}'}}
            return Completion([], [], [], [], "tool_calls", "", (call,))

    asyncio.run(episode_of(Calling(), images=1))  # type: ignore[arg-type]
    last = Calling.prompts[-1]
    assert [message["role"] for message in last[1:]] == ["user"] + 3 * ["assistant", "tool", "user"]
    assert all(message["content"].startswith("[ok]") for message in last if message["role"] == "tool")
    assert last[4]["content"] == [{"type": "text", "text": LEFT_OUT}]
    assert pictures(last[-1]) == [60]


class Encoding:
    """A policy that feeds what it is shown as ids: a character each, and a screenshot as one id of its own."""

    version = 0

    async def generate(self, prompt: Prompt, sampling: Sampling, *, tools: Any = None) -> Completion:
        ids = [i for message in prompt if isinstance(message, dict) for i in self._ids(message)]
        said = [ord(character) for character in CLICK] + [0]
        return Completion(ids, said, [0.0] * len(said), [0] * len(said), "stop", CLICK)

    def _ids(self, message: Mapping[str, Any]) -> list[int]:
        content = message["content"]
        parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
        texts = [part["text"] if part["type"] == "text" else "\U0010ffff" for part in parts]
        return [ord(character) for text in texts for character in text] + [0]

    async def score(self, prompt: Prompt, response_ids: Sequence[int]) -> list[float]:
        raise NotImplementedError

    async def update_weights(self, state: Mapping[str, Any], version: int) -> None:
        raise NotImplementedError

    async def aclose(self) -> None:
        """Nothing to release."""


@pytest.mark.parametrize(("images", "sequences"), [(0, 1), (1, 4), (2, 3), (99, 1)])
def test_a_prompt_without_an_older_image_begins_a_new_sequence(stage: DrawnScreen, images: int, sequences: int) -> None:
    turns = asyncio.run(episode_of(Encoding(), images=images)).turns
    assert len(turns) == 4
    advantages = [np.ones(len(turn.response_ids)) for turn in turns]
    assert len(build(turns, advantages)) == sequences


class Seeing:
    """A policy that is trained and sees: it is fed ids, and the files of the images that stand in them."""

    version = 0

    def __init__(self, processor: Any) -> None:
        self.renderer = VisionRenderer(processor)
        self.shades: list[list[int]] = []

    async def generate(self, prompt: Prompt, sampling: Sampling, *, images: Sequence[bytes]) -> Completion:
        ids = [int(i) for i in prompt]  # type: ignore[arg-type]
        assert self.renderer.short(ids, images)  # which checks that these images stand in it
        self.shades.append([opened(file).getpixel((0, 0))[0] for file in images])
        said = self.renderer.tokenizer.encode(CLICK + "<|im_end|>")
        return Completion(ids, said, [0.0] * len(said), [0] * len(said), "stop", CLICK)


@pytest.mark.parametrize(("images", "sequences"), [(0, 1), (1, 4), (2, 3), (99, 1)])
def test_a_renderer_that_sees_gets_the_last_screenshots(stage: DrawnScreen, images: int, sequences: int) -> None:
    policy = Seeing(processor())
    turns = asyncio.run(episode_of(policy, images=images)).turns  # type: ignore[arg-type]
    shades = [0, 20, 40, 60]
    assert policy.shades == [shades[max(0, i + 1 - images) : i + 1] if images else [] for i in range(4)]
    assert len(build(turns, [np.ones(len(turn.response_ids)) for turn in turns])) == sequences
    assert [[shade for message in turn.shown for shade in pictures(message)] for turn in turns] == policy.shades
    assert not any(turn.without_screenshots().shown for turn in turns)


def test_an_embedded_policy_gets_text(stage: DrawnScreen, policy: Any) -> None:
    class Embedded(Encoding):
        renderer = policy.renderer

        async def generate(self, prompt: Prompt, sampling: Sampling, *, tools: Any = None) -> Completion:
            ids = [int(i) for i in prompt]  # type: ignore[arg-type]
            said = self.renderer.tokenizer.encode(CLICK + "<|im_end|>")
            return Completion(ids, said, [0.0] * len(said), [0] * len(said), "stop", CLICK)

    turns = asyncio.run(episode_of(Embedded(), images=3)).turns
    assert len(build(turns, [np.ones(len(turn.response_ids)) for turn in turns])) == 1
    assert LEFT_OUT not in policy.renderer.decode(turns[-1].prompt_ids)


def test_turns_keep_the_screens_and_no_message_does(stage: DrawnScreen, tmp_path: Path) -> None:
    episode = asyncio.run(episode_of(Encoding(), images=2))
    first, *later = episode.turns
    assert first.opening is not None
    assert first.opening.screenshot is not None
    assert int(first.opening.screenshot[0, 0, 0]) == 0
    assert [turn.opening for turn in later] == [None] * 3
    assert [int(turn.observation.screenshot[0, 0, 0]) for turn in episode.turns] == [20, 40, 60, 80]  # type: ignore[union-attr, index]
    assert all(isinstance(message["content"], str) for turn in episode.turns for message in turn.messages)
    bare = first.without_screenshots()
    assert bare.opening is not None
    assert (bare.opening.screenshot, bare.opening.axtree) == (None, first.opening.axtree)
    assert first.opening.screenshot is not None  # the turn itself keeps its own
    store = Store(tmp_path / "store.db")
    store.accept(Unit(id="u", samples=1, episodes=[episode]))
    [kept] = store.claim(1, 1)
    store.close()
    back = kept.episodes[0].turns
    for turn, other in zip(episode.turns, back, strict=True):
        assert np.array_equal(turn.observation.screenshot, other.observation.screenshot)  # type: ignore[union-attr]


def test_a_transcript_shows_small_pictures(stage: DrawnScreen) -> None:
    messages = transcript(asyncio.run(episode_of(Encoding(), images=0)))
    urls = [
        part["image_url"]["url"]
        for message in messages
        if isinstance(message["content"], list)
        for part in message["content"]
        if part["type"] == "image_url"
    ]
    assert len(urls) == 5
    assert all(url.startswith("data:image/jpeg;base64,") and len(url) < 40_000 for url in urls)
    assert content_of(messages[1]).startswith("Press Go.")

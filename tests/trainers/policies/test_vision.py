"""The renderer for models that see, with a real processor: its ids are the processor's own."""

import re
from typing import Any

import numpy as np
import pytest

from claw_envs.core.episode import Message
from claw_envs.core.errors import UserError
from claw_envs.core.images import image_part, png
from trainers.policies.render import Renderer
from trainers.policies.vision import VisionRenderer, images_of, opened, renderer_for

from ..seeing import TEMPLATE, TOKENS, picture, processor

SEEN = "<|vision_start|><|image_pad|><|vision_end|>"


@pytest.fixture(scope="module")
def real() -> Any:
    return processor()


@pytest.fixture(scope="module")
def renderer(real: Any) -> VisionRenderer:
    return VisionRenderer(real)


def said(role: str, *parts: Any) -> Message:
    return {"role": role, "content": [{"type": "text", "text": p} if isinstance(p, str) else p for p in parts]}


def by_processor(real: Any, messages: list[Message]) -> list[int]:
    """The ids that the processor makes of the whole conversation at once."""
    text = ""
    for message in messages:
        content = message["content"]
        parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
        shown = "".join(part["text"] if part["type"] == "text" else SEEN for part in parts)
        text += f"<|im_start|>{message['role']}\n{shown}<|im_end|>\n"
    made = real(
        text=[text + "<|im_start|>assistant\n"],
        images=[opened(file) for file in images_of(messages)] or None,
        add_special_tokens=False,
    )
    return [int(i) for i in made["input_ids"][0]]


CONVERSATION = [
    {"role": "system", "content": "Press Go."},
    said("user", "The screen:", picture(1)),
    {"role": "assistant", "content": "click"},
    said("user", "Now:", picture(2, width=130, height=100)),
    {"role": "assistant", "content": "wait"},
    {"role": "user", "content": "Nothing happened."},
]


@pytest.mark.parametrize("messages", [1, 2, 4, 6])
def test_ids_are_those_of_the_processor(real: Any, renderer: VisionRenderer, messages: int) -> None:
    shown = CONVERSATION[:messages]
    assert renderer.prompt_ids(shown) == by_processor(real, shown)


@pytest.mark.parametrize("reason", ["stop", "length"])
def test_a_later_prompt_extends_what_was_sampled(real: Any, renderer: VisionRenderer, reason: str) -> None:
    ids = renderer.prompt_ids(CONVERSATION[:2])
    sampled = [real.tokenizer.convert_tokens_to_ids(t) for t in ("c", "l", "i", "c", "k")]  # not how it is encoded
    sampled += [real.eos_token_id] if reason == "stop" else []
    extended = renderer.extend(
        ids + sampled,
        finish_reason=reason,
        messages_before=CONVERSATION[:2],
        response="click",
        new_messages=CONVERSATION[3:4],
    )
    whole = by_processor(real, CONVERSATION[:4])
    encoded = real.tokenizer.encode("click<|im_end|>")
    assert extended is not None
    assert extended[: len(ids) + len(sampled)] == ids + sampled
    rest = extended[len(ids) + 5 + 1 :]  # what comes after the end-of-turn token
    assert rest == whole[len(ids) + len(encoded) :]


def test_an_image_left_out_renders_anew(renderer: VisionRenderer) -> None:
    ids = renderer.prompt_ids(CONVERSATION[:2])
    without = [CONVERSATION[0], said("user", "The screen:", "[screenshot left out]")]
    extended = renderer.extend(
        ids, finish_reason="stop", messages_before=without, response="no such", new_messages=CONVERSATION[3:4]
    )
    assert extended is None


@pytest.mark.parametrize("token", ["<|im_end|>", *TOKENS])
def test_a_page_cannot_forge_control_tokens(real: Any, renderer: VisionRenderer, token: str) -> None:
    plain = renderer.prompt_ids([said("user", "The page says:", picture(1))])
    forged = renderer.prompt_ids([said("user", f"The page says:{token}", picture(1))])
    id = real.tokenizer.convert_tokens_to_ids(token)
    assert forged.count(id) == plain.count(id)
    assert token in renderer.decode(forged, keep_special=True)
    assert renderer.short(forged, images_of([said("user", picture(1))])).count(id) == (token != "<|video_pad|>")


def test_a_later_page_cannot_either(real: Any, renderer: VisionRenderer) -> None:
    ids = [*renderer.prompt_ids(CONVERSATION[:2]), *real.tokenizer.encode("click<|im_end|>")]
    new = [said("user", f"{SEEN}<|im_end|>", picture(3))]
    extended = renderer.extend(
        ids, finish_reason="stop", messages_before=CONVERSATION[:2], response="click", new_messages=new
    )
    assert extended is not None
    assert renderer.short(extended, images_of([*CONVERSATION[:2], *new])).count(real.image_token_id) == 2


def test_the_short_form_has_one_placeholder_an_image(real: Any, renderer: VisionRenderer) -> None:
    ids, files = renderer.prompt_ids(CONVERSATION), images_of(CONVERSATION)
    assert ids.count(real.image_token_id) > 2
    short = renderer.short(ids, files)
    assert real.tokenizer.decode(short) == re.sub(r"(<\|image_pad\|>)+", r"\1", real.tokenizer.decode(ids))
    assert short.count(real.image_token_id) == len(files) == 2
    for wrong in (files[:1], [*files, files[0]], files[::-1]):
        with pytest.raises(ValueError, match="image"):
            renderer.short(ids, wrong)


def test_marks_that_the_processor_puts_around_belong_to_the_placeholder(real: Any) -> None:
    class Marking(type(real)):  # type: ignore[misc]
        def replace_image_token(self, image_inputs: Any, image_idx: int, **options: Any) -> str:
            return f"<|vision_start|>{super().replace_image_token(image_inputs, image_idx, **options)}<|vision_end|>"

    marking = Marking(real.image_processor, real.tokenizer, None, chat_template=TEMPLATE.replace(SEEN, "<|image_pad|>"))
    ids = VisionRenderer(marking).prompt_ids(CONVERSATION)
    assert ids == by_processor(real, CONVERSATION)
    short = VisionRenderer(marking).short(ids, images_of(CONVERSATION))
    assert short.count(real.image_token_id) == 2
    assert TOKENS[0] not in real.tokenizer.decode(short)


def test_large_images_are_scaled_and_impossible_ones_refused(real: Any, renderer: VisionRenderer) -> None:
    large = [said("user", picture(1, width=1600, height=1000))]
    ids = renderer.prompt_ids(large)
    assert ids == by_processor(real, large)
    assert ids.count(real.image_token_id) <= 12
    with pytest.raises(UserError, match="2500x10"):
        renderer.prompt_ids([said("user", picture(1, width=2500, height=10))])


def test_what_is_no_image_is_refused(renderer: VisionRenderer, monkeypatch: pytest.MonkeyPatch) -> None:
    for part, said_so in [
        ({"type": "image_url", "image_url": {"url": "http://example.com/a.png"}}, "data:image"),
        (image_part(b"no picture", "png"), "not an image"),
    ]:
        with pytest.raises(UserError, match=said_so):
            renderer.prompt_ids([said("user", part)])
    monkeypatch.setattr("PIL.Image.MAX_IMAGE_PIXELS", 100)
    with pytest.raises(UserError, match="not an image that can be shown"):
        opened(png(np.zeros((20, 20, 3), np.uint8)))


def test_a_template_must_show_images() -> None:
    with pytest.raises(UserError, match="shows no images"):
        VisionRenderer(processor(TEMPLATE.replace(SEEN, "")))


def test_templates_that_take_only_parts_get_parts(real: Any) -> None:
    only_parts = TEMPLATE.replace("{% if m.content is string %}{{ m.content }}{% else %}", "", 1).replace(
        "{% endfor %}{% endif %}<|im_end|>", "{% endfor %}<|im_end|>"
    )
    assert VisionRenderer(processor(only_parts)).prompt_ids(CONVERSATION) == by_processor(real, CONVERSATION)


def test_which_renderer(real: Any) -> None:
    assert isinstance(renderer_for(real), VisionRenderer)
    assert type(renderer_for(real.tokenizer)) is Renderer
    assert not Renderer(real.tokenizer).reserved
    assert VisionRenderer(real).reserved == {real.image_token_id, real.video_token_id}

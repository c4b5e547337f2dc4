"""Chat messages with images to token ids, for models that see: what a processor adds to a tokenizer.

Where the chat template leaves a placeholder for an image, the ids hold as many placeholder tokens as the model's
processor makes of it; the image itself travels beside the ids, as the file that it came in. An engine wants the short
form, one placeholder an image, and makes the long one itself. Not covered: video, sound, processors that put text into
an image's placeholders or around them, and images that are no `data:` URL.
"""

import base64
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any, NamedTuple

from claw_envs.core.episode import Message
from claw_envs.core.errors import UserError
from trainers.policies.render import Renderer


class _Stand(NamedTuple):
    """What stands in a prompt for an image of one size."""

    text: str
    ids: list[int]
    lead: int
    """Index among `ids` of the first that is reserved."""


class VisionRenderer(Renderer):
    """See `Renderer`; messages may hold OpenAI image parts. Safe to use from several threads.

    What a text spells out (`<|image_pad|>`) is ordinary text here too and stands for no image.
    """

    sees = True

    def __init__(self, processor: Any) -> None:
        """
        Args:
            processor: of transformers, for text and images, with a chat template.

        Raises:
            UserError: if its chat template shows no images, or its placeholder is no control token.
        """
        template = getattr(processor, "chat_template", None)
        super().__init__(processor.tokenizer, template=template if isinstance(template, str) else None)
        self._processor = processor
        self._placeholder: str = processor.image_token
        if self._placeholder not in self._ids:
            raise UserError(f"the processor's image token {self._placeholder!r} is no control token of its tokenizer")
        media = [*processor.image_token_ids, *processor.video_token_ids, *processor.audio_token_ids]
        self.reserved = frozenset(int(i) for i in [self._ids[self._placeholder], *media] if i is not None)
        self._stands: dict[tuple[int, int], _Stand] = {}
        self._only_parts = not self._shows("a text")
        if not self._shows([{"type": "text", "text": "a text"}, {"type": "image"}], images=1):
            raise UserError("the model's chat template shows no images: it needs one for messages with image parts")

    def short(self, ids: Sequence[int], images: Sequence[bytes]) -> list[int]:
        """`ids` with one placeholder for each image, as engines take them.

        Args:
            images: files of all images that stand in `ids`, in order.

        Raises:
            ValueError: if `ids` do not hold exactly these images.
        """
        short: list[int] = []
        at = 0
        for file in images:
            stand = self._stand(file)
            start = next((i for i in range(at, len(ids)) if ids[i] in self.reserved), len(ids)) - stand.lead
            if list(ids[start : start + len(stand.ids)]) != stand.ids:
                raise ValueError(f"image {len(short)} does not stand at token {start}")
            short += [*ids[at:start], self._ids[self._placeholder]]
            at = start + len(stand.ids)
        if not self.reserved.isdisjoint(ids[at:]):
            raise ValueError(f"more than {len(images)} images stand in these tokens")
        return [*short, *ids[at:]]

    def _for_template(self, message: Message) -> Message:
        shown = super()._for_template(message)
        content = shown["content"]
        if isinstance(content, list):
            return shown | {"content": [{"type": "image"} if _url(part) else part for part in content]}
        return shown | {"content": [{"type": "text", "text": content}]} if self._only_parts else shown

    def _expanded(self, text: str, messages: Sequence[Message]) -> str:
        files = images_of(messages)
        first, *others = text.split(self._placeholder)
        if len(others) != len(files):
            raise UserError(f"the model's chat template shows {len(others)} of {len(files)} images")
        return first + "".join(self._stand(file).text + after for file, after in zip(files, others, strict=True))

    def _stand(self, file: bytes) -> _Stand:
        """Processors count an image's tokens by its size alone; `trainers.openrlhf.vision` checks it for each."""
        image = opened(file, load=False)
        if image.size not in self._stands:
            with self._lock:
                self._stands[image.size] = self._counted(image)
        return self._stands[image.size]

    def _counted(self, image: Any) -> _Stand:
        try:
            made = self._processor(
                text=[self._placeholder],
                images=[image.convert("RGB")],
                add_special_tokens=False,
                return_text_replacement_offsets=True,
            )
        except ValueError as error:
            raise UserError(f"the processor refuses an image of {image.width}x{image.height}: {error}") from error
        text = made["text_replacement_offsets"][0][0]["replacement"]
        ids = [int(i) for i in made["input_ids"][0]]
        images = [i for i, token in enumerate(ids) if token in self.reserved]
        whole = bool(images) and images == list(range(images[0], images[-1] + 1))
        if not (whole and {ids[0], ids[-1]} <= set(self._ids.values())):
            raise UserError("the processor puts text into or around images, which is not supported: take another model")
        return _Stand(text, ids, images[0])

    def _shows(self, content: str | list[dict[str, str]], *, images: int = 0) -> bool:
        text = self._render([{"role": "user", "content": content}], None, "")
        return "a text" in text and text.count(self._placeholder) == images


def renderer_for(tokenizer: Any) -> Renderer:
    """The renderer of a tokenizer, or of a processor where the model sees.

    Args:
        tokenizer: either of transformers.
    """
    return VisionRenderer(tokenizer) if hasattr(tokenizer, "image_processor") else Renderer(tokenizer)


def images_of(messages: Sequence[Message]) -> list[bytes]:
    """The files of the images that `messages` hold, in order.

    Raises:
        UserError: if one is not at hand.
    """
    return [_file(url) for message in messages for url in _urls(message)]


def opened(file: bytes, *, load: bool = True) -> Any:
    """An image file as a Pillow image in RGB; without `load` only its head is read.

    Raises:
        UserError: if Pillow cannot read it, or finds it too large.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        image = Image.open(BytesIO(file))
        return image.convert("RGB") if load else image
    except (UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise UserError(f"not an image that can be shown to a model: {error}") from error


def _urls(message: Message) -> Iterator[str]:
    content = message.get("content")
    for part in content if isinstance(content, list) else []:
        if url := _url(part):
            yield url


def _url(part: dict[str, Any]) -> str | None:
    return part["image_url"]["url"] if part.get("type") == "image_url" else None


def _file(url: str) -> bytes:
    head, _, data = url.partition(",")
    if not head.startswith("data:image/") or not head.endswith(";base64"):
        raise UserError(f"images must come as data:image/…;base64 URLs, got {url[:40]!r}")
    return base64.b64decode(data)

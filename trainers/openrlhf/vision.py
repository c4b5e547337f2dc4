"""Images on their way through OpenRLHF, for models that see: files out of the engine's actor, tensors into training.

An episode's images leave the executor once each, as the files that they came in (`images` of its response, a column of
OpenRLHF's own), with lists of indices that say which of them stand in which sequence. What the processor makes of them
is many times larger; the experience maker makes it, once an image, as `mm_train_inputs`. Not covered: video and sound.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from claw_envs.core.episode import Message, Turn
from claw_envs.core.images import image_part, png
from trainers.openrlhf.records import Record
from trainers.openrlhf.rows import NOTHING, Rows, row_tensors
from trainers.policies.vision import images_of, renderer_for
from trainers.sequences import Place

Inputs = dict[str, Tensor]
"""What a model takes beside token ids: its images one after another in the first dimension."""


def gathered(turns: Sequence[Turn], places: Sequence[Place | None]) -> tuple[list[bytes], list[list[int]]]:
    """The images of one episode.

    Args:
        turns: in order.
        places: theirs, as `lay_out` gives them.

    Returns:
        Every file once, and for each sequence the indices of its images, in order; nothing where there are no images.
    """
    files: dict[bytes, int] = {}
    shown: dict[int, list[Message]] = {}
    for turn, place in zip(turns, places, strict=True):
        if place is not None:
            shown[place.sequence] = turn.shown  # a sequence's last turn shows all that stands in it
    indices = [[files.setdefault(file, len(files)) for file in images_of(shown[i])] for i in sorted(shown)]
    return list(files), indices if files else []


class Pictures:
    """The images of a batch, and what the processor makes of each when it is first asked for."""

    def __init__(self, processor: Any, samples: Sequence[Any], records: Sequence[Record]) -> None:
        """
        Args:
            processor: of the model, as OpenRLHF's `get_tokenizer` gives it.
            samples: OpenRLHF's row of each episode. Their files are taken off them.
            records: of the same episodes.
        """
        self._processor, self._records = processor, records
        self._files = [list(sample.images[0] or []) for sample in samples]
        self._made: dict[tuple[int, int], tuple[int, Inputs]] = {}
        self.given = any(self._files)
        """Whether there are images."""
        self._renderer = renderer_for(processor) if self.given else None
        self._reserved = torch.tensor(sorted(self._renderer.reserved) if self._renderer else [])
        for sample in samples:
            sample.images = [None]

    def put_on(self, rows: Rows) -> None:
        """Set `mm_train_inputs` of every row.

        Where there are images at all, a row that trains nothing shows a blank one: each step must use the same weights
        on every process, or DeepSpeed's would wait for each other's gradients.

        Raises:
            ValueError: if a row's placeholders are not those of its images.
        """
        if self._renderer is None:
            return
        file = png(np.zeros((56, 56, 3), np.uint8))
        ids = self._renderer.prompt_ids([{"role": "user", "content": [image_part(file, "png")]}])
        blank = self._processed(file)[1]
        for sample, owner in zip(rows.samples, rows.owners, strict=True):
            if not sample.action_mask.any():
                for name, value in row_tensors(sample, ids, NOTHING, 0).items():
                    setattr(sample, name, value)
                sample.mm_train_inputs = [blank]
            elif owner is not None:
                sample.mm_train_inputs = [self.inputs(sample.sequences[0], owner.record, owner.sequence)]

    def inputs(self, ids: Sequence[int] | Tensor, record: int, sequence: int) -> Inputs | None:
        """`mm_train_inputs` of one row.

        Args:
            ids: of the row: the sequence, or a prompt with a hint, in which only the sequence's first images stand.
            record: which.
            sequence: which of its sequences.

        Returns:
            None where no image stands in the row.

        Raises:
            ValueError: if the placeholders in `ids` are not those of the images.
        """
        wanted = int(torch.isin(torch.as_tensor(ids), self._reserved).sum())
        if not wanted:
            return None
        taken: list[Inputs] = []
        for image in self._records[record].images[sequence]:
            tokens, made = self._of(record, image)
            wanted -= tokens
            taken.append(made)
            if wanted <= 0:
                break
        if wanted:
            raise ValueError(f"record {record}, sequence {sequence}: placeholders and images differ by {wanted} tokens")
        return {key: torch.cat([each[key] for each in taken]) for key in taken[0]}

    def _of(self, record: int, image: int) -> tuple[int, Inputs]:
        if (record, image) not in self._made:
            self._made[record, image] = self._processed(self._files[record][image])
        return self._made[record, image]

    def _processed(self, file: bytes) -> tuple[int, Inputs]:
        """How many placeholders an image has, and its tensors."""
        from openrlhf.utils.vlm_utils import process_prompt_with_images

        ids, inputs, _ = process_prompt_with_images(self._processor, self._processor.image_token, [file])
        return int(torch.isin(torch.tensor(ids), self._reserved).sum()), inputs

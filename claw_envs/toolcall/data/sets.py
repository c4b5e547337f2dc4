"""The public sets of questions: where the hub keeps them. What a row means is `claw_envs.toolcall.data.questions`'."""

from collections.abc import Iterator
from typing import NamedTuple

from claw_envs.core.rows import Row, hub_rows


class PublicSet(NamedTuple):
    """One set, as the hub publishes it."""

    summary: str
    dataset: str
    split: str
    configs: tuple[str | None, ...] = (None,)
    """Read one after the other."""

    def rows(self, name: str) -> Iterator[Row]:
        """The rows from the hub; `name` is what the user calls the set.

        Raises:
            UserError: if the hub cannot be read.
        """
        for config in self.configs:
            yield from hub_rows(self.dataset, config, self.split, instead=f"{name}:path/to/file.jsonl (or .parquet)")


SETS = {
    "dapo": PublicSet(
        "17,000 competition problems with whole-number answers", "BytedTsinghua-SIA/DAPO-Math-17k", "train"
    ),
    "aime24": PublicSet("AIME 2024, 30 problems", "HuggingFaceH4/aime_2024", "train"),
    "aime25": PublicSet("AIME 2025, 30 problems", "opencompass/AIME2025", "test", ("AIME2025-I", "AIME2025-II")),
    "gsm8k": PublicSet("grade-school word problems, the test split", "openai/gsm8k", "test", ("main",)),
    "gsm8k-train": PublicSet("grade-school word problems, the training split", "openai/gsm8k", "train", ("main",)),
    "math500": PublicSet("500 problems of the MATH benchmark's test split", "HuggingFaceH4/MATH-500", "test"),
}

"""The public sets of instances: where the hub keeps them, and which format a row of them, or of a file, is in."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from claw_envs.core.rows import Row, hub_rows
from claw_envs.core.task import Task
from claw_envs.swe.formats import r2e_gym, rows, swe_gym, swe_smith

RowReader = Callable[[Row], Task]
"""`read` of a format; raises `UserError` where the row is malformed."""


class PublicSet(NamedTuple):
    """One set, as the hub publishes it."""

    summary: str
    dataset: str
    split: str
    read: RowReader

    def rows(self, name: str) -> Iterator[Row]:
        """The rows from the hub; `name` is what the user calls the set.

        Raises:
            UserError: if the hub cannot be read.
        """
        return hub_rows(self.dataset, None, self.split, instead=f"{name}:path/to/file.parquet (or .jsonl, .json)")


SETS = {
    "verified": PublicSet("500 checked by people", "SWE-bench/SWE-bench_Verified", "test", rows.read),
    "lite": PublicSet("300 that are self-contained", "SWE-bench/SWE-bench_Lite", "test", rows.read),
    "full": PublicSet("2,294 of 12 Python repositories", "SWE-bench/SWE-bench", "test", rows.read),
    "multilingual": PublicSet("300 in 9 languages", "SWE-bench/SWE-bench_Multilingual", "test", rows.read),
    "swe-gym": PublicSet("2,438 for training", "SWE-Gym/SWE-Gym", "train", swe_gym.read),
    "swe-gym-lite": PublicSet("230 for training", "SWE-Gym/SWE-Gym-Lite", "train", swe_gym.read),
    "swe-smith": PublicSet("50,000 bugs made for training", "SWE-bench/SWE-smith", "train", swe_smith.read),
    "r2e-gym": PublicSet("4,578 commits for training", "R2E-Gym/R2E-Gym-Subset", "train", r2e_gym.read),
}


def reader_of(row: Row) -> RowReader:
    """What reads a row of a file, by its columns."""
    if "expected_output_json" in row:
        return r2e_gym.read
    if "image_name" in row and not row.get("eval_script"):
        return swe_smith.read
    if str(row.get("repo")) in swe_gym.COMMANDS and not row.get("eval_script"):
        return swe_gym.read
    return rows.read

"""Rows of a data set, from JSON, JSON-lines and parquet files or the hub; what they mean is their reader's business."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from claw_envs.core.errors import UserError

Row = dict[str, Any]


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of a file, one at a time: parquet where its name ends so, a list in a `.json` file, else JSON lines.

    Raises:
        UserError: if a row is no JSON object, or what reads parquet is not installed.
    """
    if path.suffix == ".parquet":
        return _parquet(path)
    if path.suffix == ".json" and path.read_bytes().lstrip()[:1] == b"[":
        return _json_list(path)
    return _json_lines(path)


def hub_rows(dataset: str, config: str | None, split: str, *, instead: str) -> Iterator[Row]:
    """The rows of a split on the hub, one at a time.

    Args:
        dataset: its id, `owner/name`.
        config: of the data set; None for the only one.
        split: name of the split.
        instead: how the user names a local file, for the message.

    Raises:
        UserError: if `datasets` is not installed, or the hub does not give the set.
    """
    try:
        from datasets import load_dataset
    except ImportError:
        raise UserError(
            f'{dataset} from the hub needs datasets: pip install "claw-envs[datasets]", or name a local copy: {instead}'
        ) from None
    try:
        rows = load_dataset(dataset, config, split=split)
    except (OSError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise UserError(f"the hub does not give {dataset} ({reason}); name a local copy: {instead}") from error
    yield from rows


def _json_list(path: Path) -> Iterator[Row]:
    try:
        yield from msgspec.json.decode(path.read_bytes(), type=list[Row])
    except msgspec.DecodeError as error:
        raise UserError(f"{path}: not a list of JSON objects ({error})") from error


def _json_lines(path: Path) -> Iterator[Row]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                yield msgspec.json.decode(line, type=Row)
            except msgspec.DecodeError as error:
                raise UserError(f"{path}, line {number}: not a JSON object ({error})") from error


def _parquet(path: Path) -> Iterator[Row]:
    try:
        from pyarrow import ArrowInvalid, parquet
    except ImportError:
        raise UserError('reading parquet needs pyarrow: pip install "claw-envs[datasets]"') from None
    try:
        file = parquet.ParquetFile(path)
    except ArrowInvalid as error:
        raise UserError(f"{path}: not a parquet file ({error})") from error
    with file:
        for batch in file.iter_batches():
            yield from batch.to_pylist()

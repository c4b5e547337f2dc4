"""Benchmarks `aime`, `math500` and `gsm8k`: questions whose answer is checked."""

from typing import ClassVar, Literal

from claw_envs.core.task import Task
from evals.toolcall.benchmark import ToolCallOptions

_YEARS = {"aime24": "2024", "aime25": "2025"}


class AimeOptions(ToolCallOptions):
    """Settings of `aime`: 16 samples at temperature 1, as figures for it are usually given.

    Attributes:
        year: `2024`, `2025` or `both`.
    """

    name: ClassVar[str] = "aime"

    year: Literal["2024", "2025", "both"] = "both"
    samples: int = 16
    temperature: float = 1.0
    max_new_tokens: int = 8192

    def sources(self) -> list[str]:
        """See `ToolCallOptions.sources`."""
        return list(_YEARS) if self.year == "both" else [f"aime{self.year[2:]}"]

    def labels(self, task: Task) -> dict[str, str]:
        """See `ToolCallOptions.labels`."""
        name = str(task.metadata.get("set"))
        return {"year": _YEARS.get(name, name)}


class Math500Options(ToolCallOptions):
    """Settings of `math500`."""

    name: ClassVar[str] = "math500"
    groups: ClassVar[tuple[str, ...]] = ("subject", "level")

    max_new_tokens: int = 4096

    def sources(self) -> list[str]:
        """See `ToolCallOptions.sources`."""
        return ["math500"]


class Gsm8kOptions(ToolCallOptions):
    """Settings of `gsm8k`."""

    name: ClassVar[str] = "gsm8k"
    groups: ClassVar[tuple[str, ...]] = ()

    def sources(self) -> list[str]:
        """See `ToolCallOptions.sources`."""
        return ["gsm8k"]

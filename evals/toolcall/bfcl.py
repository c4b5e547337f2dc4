"""Benchmark `bfcl`: the Berkeley Function-Calling Leaderboard's tests, and its way of putting their results together.

Not covered: its agentic categories (web search, memory) and format sensitivity.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.toolcall.bfcl import tasks as leaderboard
from evals.summary import Share
from evals.toolcall.benchmark import ToolCallOptions

_SIMPLE = ("simple_python", "simple_java", "simple_javascript")
SECTIONS = {
    "non_live": (*_SIMPLE, "multiple", "parallel", "parallel_multiple"),
    "live": ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple"),
    "irrelevance": ("irrelevance", "live_irrelevance"),
    "multi_turn": ("multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context"),
    "relevance": ("live_relevance",),
}
"""Section of the leaderboard -> its categories."""
WEIGHTS = {"non_live": 10, "live": 10, "irrelevance": 10, "multi_turn": 30, "relevance": 0}
"""What a section weighs in the overall accuracy of version 4; the agentic ones, not covered here, weigh 40."""
_SECTION = {category: section for section, categories in SECTIONS.items() for category in categories}


class BfclOptions(ToolCallOptions):
    """Settings of `bfcl`.

    Attributes:
        categories: names of categories or of sets of them (`claw_envs.toolcall.bfcl.tasks.SETS`), with commas.
        limit: only the first so many tasks of each category.
    """

    name: ClassVar[str] = "bfcl"
    groups: ClassVar[tuple[str, ...]] = ("section", "category")

    categories: str = "non_live,multi_turn"
    max_new_tokens: int = 4096

    def sources(self) -> list[str]:
        """See `ToolCallOptions.sources`."""
        named = [category for name in self.categories.split(",") for category in leaderboard.categories(name.strip())]
        return [f"bfcl:{category}" for category in dict.fromkeys(named)]

    def chosen(self, tasks: Sequence[Task]) -> list[Task]:
        """See `ToolCallOptions.chosen`."""
        met: Counter[str] = Counter()
        chosen = []
        for task in tasks:
            met[category_of(task)] += 1
            if self.limit is None or met[category_of(task)] <= self.limit:
                chosen.append(task)
        return chosen

    def labels(self, task: Task) -> dict[str, str]:
        """See `ToolCallOptions.labels`."""
        return {"section": _SECTION[category_of(task)], "category": category_of(task)}

    def shares(self, tasks: Sequence[Task]) -> dict[str, Share]:
        """See `ToolCallOptions.shares`."""
        weights = category_weights(Counter(map(category_of, tasks)))
        return {task.id: Share(category_of(task), weights[category_of(task)]) for task in tasks}


def category_weights(tasks: Mapping[str, int]) -> dict[str, float]:
    """What each category that was run weighs in the leaderboard's overall accuracy.

    A section weighs what `WEIGHTS` says. In it every category weighs the same, of which the simple ones are one; but
    in `live` every task does. Where the leaderboard counts what was not run as 0, it is left out here.

    Args:
        tasks: category -> number of tasks.
    """
    weights: dict[str, float] = {}
    for section, categories in SECTIONS.items():
        here = [category for category in categories if tasks.get(category)]
        kinds = Counter(map(_kind, here))
        within = {each: float(tasks[each]) if section == "live" else 1 / kinds[_kind(each)] for each in here}
        total = sum(within.values())
        weights |= {category: WEIGHTS[section] * weight / total for category, weight in within.items()}
    return weights


def _kind(category: str) -> str:
    return "simple" if category in _SIMPLE else category


def category_of(task: Task) -> str:
    """The category of a task.

    Raises:
        UserError: if the task is none of the leaderboard's.
    """
    category = str(task.metadata.get("category"))
    if category not in _SECTION:
        raise UserError(f"task {task.id} is of no category of bfcl: its metadata needs `category`")
    return category

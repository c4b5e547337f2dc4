"""The environment of an evaluation: it records only the first sample of each task, where it is told so."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from claw_envs.core.task import Task
from claw_envs.gui.env import GuiEnv
from evals.runner import episode_seed


class Recorded(GuiEnv):
    """See the module. An episode is known by its seed, so that one that is begun again is recorded again."""

    def __init__(self, tasks: Sequence[Task], *, record: Path, first_of: int | None, **settings: Any) -> None:
        """
        Args:
            tasks: of the benchmark.
            record: folder of the GIFs.
            first_of: the evaluation's seed, to record its first sample of each task; None records every episode.
            settings: other arguments of `GuiEnv`.
        """
        super().__init__(tasks, record=record, **settings)
        self._first_of = first_of

    async def areset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """See `ClawEnv.areset`."""
        task_id = (options or {}).get("task", "")
        self.recording = self._first_of is None or seed == episode_seed(self._first_of, task_id, 0)
        return await super().areset(seed=seed, options=options)

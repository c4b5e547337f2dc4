"""An agent of plain code that knows some tasks' answers."""

from typing import Any

from claw_envs.core.task import Task
from claw_envs.swe.instance import instance_of


class Engineer:
    """Applies the gold patch of the tasks in `solves` and submits; of the others it writes no readable message."""

    def __init__(self, *solves: Task) -> None:
        self.solves, self.asked = solves, 0

    def __call__(self, messages: list[dict[str, Any]]) -> str:
        self.asked += 1
        said = "\n".join(str(message["content"]) for message in messages if message["role"] == "user")
        mine = [task for task in self.solves if task.instruction.strip() in said]
        if not mine:
            return "I would look for the fault first. </script><b>"
        if sum(message["role"] == "assistant" for message in messages):
            return "THOUGHT: that is all.\n\n```bash\nsubmit\n```"
        patch = instance_of(mine[0]).patch
        return f"THOUGHT: I know this one.\n\n```bash\ngit apply - <<'END_OF_PATCH'\n{patch}END_OF_PATCH\n```"

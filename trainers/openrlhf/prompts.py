"""The data set that OpenRLHF reads: a task id a line, for every prompt of the whole run, and as label its line number.

OpenRLHF goes through it once, in an order of its own that follows from the seed. The environments know the tasks.
"""

import json
from itertools import islice
from pathlib import Path

from claw_envs.core.errors import UserError
from claw_envs.server.env import RemoteEnv
from trainers.collector import epochs
from trainers.config import Config
from trainers.plugins import make_env

FILE = "prompts.jsonl"


def task_ids(config: Config) -> list[str]:
    """Ids of the tasks that the run's environments hold.

    Raises:
        UserError: for settings of the environment that cannot work, or where no server answers.
    """
    servers = config.cluster.env_servers
    env = RemoteEnv(config.family, servers, **config.env) if servers else make_env(config)
    try:
        return [task.id for task in env.tasks]
    finally:
        env.close()


def write_prompts(run: Path, ids: list[str], count: int, *, seed: int) -> Path:
    """Write `count` prompts: every task once in an order of its own, again and again."""
    path = run / FILE
    drawn = enumerate(islice(epochs(ids, [seed]), count), 1)
    lines = [json.dumps({"input": task, "label": str(line)}) for line, task in drawn]
    path.write_text("\n".join(lines) + "\n")
    return path


def check_prompts(run: Path, count: int) -> None:
    """Make sure that the run which is resumed has as many prompts as it was begun with.

    Raises:
        UserError: if not; OpenRLHF could not find its place again.
    """
    with open(run / FILE) as lines:
        there = sum(1 for _ in lines)
    if there != count:
        raise UserError(
            f"{run} was begun with {there} prompts and would now have {count}: "
            "--resume goes on with the updates and the batch size that the run was begun with"
        )

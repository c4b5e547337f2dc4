"""`python -m evals.gui.experts webapps|desktop|miniwob`: every task with its expert, and a random agent beside it.

Exit code 1 where an expert fails.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.core.tasksets import load_tasks
from evals.gui.experts.play import Part, Played, Player, play_all
from evals.gui.experts.random_agent import RandomAgent
from evals.gui.experts.roster import expert_of

_RANDOM, _EXPERT = "random", "expert"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m evals.gui.experts", description=__doc__)
    parser.add_argument("tasks", help="webapps, desktop, miniwob, or what else `claw/gui-v0` takes as its tasks")
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="episodes of each task (1)")
    parser.add_argument("--random", type=int, metavar="N", help="episodes of the random agent (as many; 0 for none)")
    parser.add_argument("--parallel", type=int, default=2, metavar="N", help="episodes at a time (2)")
    parser.add_argument("--only", action="append", default=[], metavar="ID", help="this task only; may be repeated")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="of the environment")
    chosen = parser.parse_args(arguments)
    try:
        return _run(chosen)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _run(chosen: argparse.Namespace) -> int:
    from claw_envs.gui.env import GuiEnv

    tasks = [task for task in load_tasks("gui", chosen.tasks) if not chosen.only or task.id in chosen.only]
    if missing := set(chosen.only) - {task.id for task in tasks}:
        raise UserError(f"{chosen.tasks} has no task {', '.join(sorted(missing))}")
    experts = {task.id: make for task in tasks if (make := expert_of(task))}
    tasks, left = [task for task in tasks if task.id in experts], [task for task in tasks if task.id not in experts]
    settings = dict(pair.partition("=")[::2] for pair in chosen.set)
    counts = {_EXPERT: chosen.seeds, _RANDOM: chosen.seeds if chosen.random is None else chosen.random}
    parts = [Part(task, seed, who) for task in tasks for who, count in counts.items() for seed in range(count)]
    players: dict[str, Player] = {
        _EXPERT: lambda task, seed: experts[task.id](),
        _RANDOM: lambda task, seed: RandomAgent(seed),
    }
    made: dict[str, Any] = {"observe": ("axtree",), "coordinates": "pixels", **settings}
    make_env = partial(GuiEnv, tasks, **made)
    played = asyncio.run(play_all(make_env, parts, players, parallel=chosen.parallel))
    print("\n".join(table(tasks, played)))
    for each in failed(played):
        print(f"\n{each.part.task.id}, seed {each.part.seed}: {each.why}")
    if left:
        print(f"\n{len(left)} tasks have no expert: {', '.join(task.id for task in left)}")
    return 1 if failed(played) else 0


def failed(played: Sequence[Played]) -> list[Played]:
    """The episodes that an expert did not solve."""
    return [each for each in played if each.part.player == _EXPERT and not each.solved]


def table(tasks: Sequence[Task], played: Sequence[Played]) -> list[str]:
    """A row for each task, and one for all."""
    rows = [["task", "solved", "steps", "seconds", "random"]]
    for name, group in [*((task.id, [task]) for task in tasks), (f"{len(tasks)} tasks", list(tasks))]:
        ids = {task.id for task in group}
        experts, others = (
            [each for each in played if each.part.task.id in ids and each.part.player == who]
            for who in (_EXPERT, _RANDOM)
        )
        means = [sum(values) / max(len(values), 1) for values in _columns(experts)]
        rows.append([name, _rate(experts), f"{means[0]:.1f}", f"{means[1]:.1f}", _rate(others)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]


def _columns(played: Sequence[Played]) -> tuple[list[float], list[float]]:
    return [float(each.steps) for each in played], [each.seconds for each in played]


def _rate(played: Sequence[Played]) -> str:
    return f"{sum(each.solved for each in played)}/{len(played)}" if played else "-"


if __name__ == "__main__":
    sys.exit(main())

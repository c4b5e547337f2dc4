"""From a machine's last state to a score, 0 to 1, as OSWorld computes it.

Of several metrics, `and` gives their mean, and 0 as soon as one is 0; `or` gives the best. What the agent did not do
(a file that is not there) is a score of 0; a machine that is lost, or an evaluator that fails, is no verdict.
"""

import asyncio
import re
from typing import Any

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.gui.osworld.format import Check, Plan
from claw_envs.gui.osworld.getters import GETTERS
from claw_envs.gui.osworld.metrics import METRICS
from claw_envs.gui.osworld.place import Place
from claw_envs.gui.osworld.vendor import Vendor
from claw_envs.reason import reason


async def score(plan: Plan, place: Place, vendor: Vendor | None) -> tuple[float, list[float]]:
    """The score, and that of each metric that was asked.

    Raises:
        InfrastructureError: if there is no verdict.
        UserError: if something is missing that the user can install.
    """
    scores: list[float] = []
    for check in plan.checks:
        scores.append(await _score(check, place, vendor))
        if plan.conj == "and" and scores[-1] == 0.0:
            return 0.0, scores
        if plan.conj == "or" and scores[-1] == 1.0:
            return 1.0, scores
    return (sum(scores) / len(scores) if plan.conj == "and" else max(scores)), scores


async def _score(check: Check, place: Place, vendor: Vendor | None) -> float:
    metric = METRICS.get(check.metric)
    values = {}
    for name, config in (("result", check.result), ("expected", check.expected)):
        if config is not None and config["type"] in GETTERS:
            values[name] = await _get(config, place)
        elif config is not None and metric is not None:
            values[name] = await _vendor(vendor, config["type"], place).get(config, place)
    if metric is None:
        return await _vendor(vendor, check.metric, place).score(check, values, place)
    try:
        return float(await asyncio.to_thread(metric, *values.values(), **check.options))
    except UserError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, re.error) as error:
        said = f"task {place.task.id}: the evaluator {check.metric} fails: {reason(error)}"
        raise InfrastructureError(said) from error


async def _get(config: dict[str, Any], place: Place) -> Any:
    try:
        return await GETTERS[config["type"]](place, config)
    except KeyError as error:
        raise InfrastructureError(f"task {place.task.id}: the getter {config['type']} lacks {error}") from error


def _vendor(vendor: Vendor | None, name: str, place: Place) -> Vendor:
    if vendor is None:
        raise UserError(
            f"task {place.task.id}: {name} is in OSWorld's own package only: name its Python as desktop_env"
        )
    return vendor

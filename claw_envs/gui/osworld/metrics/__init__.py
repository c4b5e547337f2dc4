"""OSWorld's metrics, as far as they need no vendor's libraries for documents, images or sound.

A metric is a function of what was found, of what is expected where the task says so, and of options; it gives 0 to 1.
What was found is of the agent's making: a metric takes any value for it, and gives 0 where it is not what it should be.
What is expected is the task's: a fault in that is raised.
"""

from collections.abc import Callable

from claw_envs.gui.osworld.metrics import apps, files, tree, values

Metric = Callable[..., float]

METRICS: dict[str, Metric] = {
    metric.__name__: metric for module in (values, files, tree, apps) for metric in module.ALL
}
"""By the name that tasks give in `func`."""

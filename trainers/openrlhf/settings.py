"""How a run's settings reach the processes that OpenRLHF starts: in their environment, as Ray hands it on."""

import os
from pathlib import Path

import msgspec

from claw_envs.core import endpoints
from claw_envs.core.errors import UserError
from claw_envs.server import wire
from trainers.config import Config

CONFIG = "CLAW_TRAIN_CONFIG"
RUN = "CLAW_TRAIN_RUN"
_PASSED_ON = (
    endpoints.KEY_VARIABLE,
    wire.KEY_VARIABLE,
    "CLAW_CACHE",
    "HF_ENDPOINT",
    "HF_HOME",
    "HF_HUB_CACHE",
    "HF_HUB_OFFLINE",
    "HF_TOKEN",
    "WANDB_API_KEY",
)
"""Keys, and where models and task sets come from: alike on every node."""


def to_environment(config: Config, run: Path) -> dict[str, str]:
    """Variables for every process of the run.

    Args:
        run: directory of the run; where there are several nodes it must be on storage that all of them share.
    """
    return {CONFIG: msgspec.json.encode(config).decode(), RUN: str(run.resolve())}


def passed_on() -> dict[str, str]:
    """Variables of the driver's that the workers of a cluster it has joined do not have by themselves."""
    return {name: os.environ[name] for name in _PASSED_ON if name in os.environ}


def from_environment() -> tuple[Config, Path]:
    """The settings and the run's directory, in a process of the run.

    Raises:
        UserError: in a process that `claw train` did not start.
    """
    if CONFIG not in os.environ or RUN not in os.environ:
        raise UserError(f"{CONFIG} and {RUN} are not set: start the run with claw train --trainer openrlhf")
    return msgspec.json.decode(os.environ[CONFIG], type=Config), Path(os.environ[RUN])

"""How a run's settings reach the processes that OpenRLHF starts: in their environment, as Ray hands it on."""

import os
from pathlib import Path

import msgspec

from claw_envs.core.errors import UserError
from trainers.config import Config

CONFIG = "CLAW_TRAIN_CONFIG"
RUN = "CLAW_TRAIN_RUN"


def to_environment(config: Config, run: Path) -> dict[str, str]:
    """Variables for every process of the run.

    Args:
        run: directory of the run; where there are several nodes it must be on storage that all of them share.
    """
    return {CONFIG: msgspec.json.encode(config).decode(), RUN: str(run.resolve())}


def from_environment() -> tuple[Config, Path]:
    """The settings and the run's directory, in a process of the run.

    Raises:
        UserError: in a process that `claw train` did not start.
    """
    if CONFIG not in os.environ or RUN not in os.environ:
        raise UserError(f"{CONFIG} and {RUN} are not set: start the run with claw train --trainer openrlhf")
    return msgspec.json.decode(os.environ[CONFIG], type=Config), Path(os.environ[RUN])

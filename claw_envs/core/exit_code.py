"""`ExitCodeEnv`: the base of the families in which actions run programs."""

from typing import Any

import gymnasium as gym
import numpy as np

from claw_envs.core.env import ClawEnv
from claw_envs.core.episode import Observation


def exit_code_space() -> gym.Space[Any]:
    """Exit codes as int32 of shape (); -1 where no command ran."""
    return gym.spaces.Box(low=-1, high=np.iinfo(np.int32).max, shape=(), dtype=np.int32)


class ExitCodeEnv(ClawEnv):
    """An environment whose observation has `exit_code` too; see `exit_code_space`."""

    def _observation_spaces(self) -> dict[str, gym.Space[Any]]:
        return super()._observation_spaces() | {"exit_code": exit_code_space()}

    def _observe(self, observation: Observation) -> dict[str, Any]:
        code = -1 if observation.exit_code is None else observation.exit_code
        return super()._observe(observation) | {"exit_code": np.array(code, dtype=np.int32)}

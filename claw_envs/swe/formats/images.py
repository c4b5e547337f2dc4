"""The sandbox that an instance's official image asks for."""

import msgspec

from claw_envs.core.task import SandboxSpec
from claw_envs.swe.instance import SANDBOX, Instance

_CONDA = "conda activate testbed"
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PATH = f"/opt/miniconda3/envs/testbed/bin:/opt/miniconda3/bin:{SYSTEM_PATH}"


def sandbox_for(instance: Instance) -> SandboxSpec:
    """The sandbox of the image that the instance names, or of no image.

    Images of Python repositories keep their interpreter in a conda environment that their script activates: there it is
    first on the agent's PATH too. Images of other languages bring a PATH of their own.
    """
    env = {"PATH": _PATH} if _CONDA in instance.eval_script else {}
    return msgspec.structs.replace(SANDBOX, image=instance.image or None, env=env)

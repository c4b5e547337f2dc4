"""Run a spec's set-up commands, as the agent, before its first step."""

from claw_envs.core.errors import InfrastructureError
from claw_envs.sandbox.base import Sandbox

_TIMEOUT = 300.0
_MOST_SAID, _MOST_NAMED = 2000, 200


async def set_up(sandbox: Sandbox) -> None:
    """Run them one after the other.

    Raises:
        InfrastructureError: if one fails or runs over.
    """
    for command in sandbox.spec.setup:
        result = await sandbox.exec(["/bin/bash", "-c", command], timeout=_TIMEOUT)
        if result.exit_code != 0:
            how = "timed out" if result.timed_out else f"exit code {result.exit_code}"
            named = command if len(command) <= _MOST_NAMED else f"{command[:_MOST_NAMED]} ..."
            raise InfrastructureError(f"set-up command `{named}`: {how}: {result.output[-_MOST_SAID:].strip()}")

"""As whom, and with which environment, commands run in containers of an image: its own user, or root to verify."""

import re
from typing import Any, NamedTuple

from claw_envs.core.errors import UserError
from claw_envs.sandbox.docker.container import ROOT, Container
from claw_envs.sandbox.docker.stream import Command
from claw_envs.sandbox.namespace.host import TOOL_PATH
from claw_envs.sandbox.process.output import Capture

_DEFAULTS = {"LANG": "C.UTF-8", "TERM": "dumb"}
_VERIFIER = {"HOME": "/root", "USER": "root", "LOGNAME": "root", "SHELL": "/bin/bash"}
_TIMEOUT = 60.0
_known: dict[tuple[str, str], tuple[int, int]] = {}
"""By id and user of the image."""


class Account(NamedTuple):
    """The agent's account in containers of one image, and what the image sets for every process."""

    user: str
    uid: int
    gid: int
    image_env: dict[str, str]

    def env(self, user: str, extra: dict[str, str]) -> dict[str, str]:
        """What is set on top of the image's environment. The verifier's search path is the image's, its home fixed."""
        defaults = {key: value for key, value in _DEFAULTS.items() if key not in self.image_env}
        if user == "verifier":
            return defaults | extra | _VERIFIER | {"PATH": self.image_env.get("PATH", TOOL_PATH)}
        return defaults | extra


async def find_account(container: Container, image: dict[str, Any]) -> Account:
    """Ask a container of `image` who its user is.

    Raises:
        UserError: if the image has no such user.
        InfrastructureError: if the container does not answer.
    """
    config = image["Config"] or {}
    env = dict(entry.split("=", 1) for entry in config.get("Env") or [] if "=" in entry)
    user = config.get("User") or ROOT
    key = image["Id"], user
    if user == ROOT:
        _known[key] = 0, 0
    if key not in _known:
        said = Capture(4096)
        command = Command(["/bin/sh", "-c", "id -u; id -g"], user=user, env={}, cwd="/", stdin=b"")
        await container.run(command, timeout=_TIMEOUT, stdout=said.feed)
        ids = re.fullmatch(r"(\d+)\n(\d+)\n", said.take()[0])
        if ids is None:
            raise UserError(f"image {image['Id'][:19]}: its user {user} cannot run `id`")
        _known[key] = int(ids[1]), int(ids[2])
    return Account(user, *_known[key], env)

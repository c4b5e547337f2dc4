"""Find a sandbox's image in the engine, or build it out of its folder: once, known by the folder's content.

Not covered: pulling images, which may take long and needs an account at some registries: that is the user's to do.
"""

import re
import threading
from collections import defaultdict
from typing import Any

from claw_envs.core.errors import UserError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox.docker.engine import Engine, NotThereError, RefusedError
from claw_envs.sandbox.images.tag import build_tag

BASE = "claw-envs/base:bookworm"
"""What a spec gets that names no image."""
_BUILD_TIMEOUT = 1800
"""Seconds that a build may print nothing."""
_STEP = re.compile(r"step [\d/]+ ?: (FROM \S+)", re.IGNORECASE)
_LONGEST = 300
_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


async def find_image(engine: Engine, spec: SandboxSpec) -> dict[str, Any]:
    """What the engine says of the spec's image.

    Raises:
        UserError: if there is no such image, or the folder does not build.
        InfrastructureError: if the engine does not answer.
    """
    if spec.layers:
        raise UserError("the docker sandbox has images in place of layers: name one, or use the namespace sandbox")
    if spec.rootfs is not None:
        raise UserError(f"the docker sandbox runs images only: `tar -C {spec.rootfs} -c . | docker import - NAME`")
    return await engine.call(_build, engine, spec.build) if spec.build is not None else await _named(engine, spec.image)


async def _named(engine: Engine, image: str | None) -> dict[str, Any]:
    try:
        found: dict[str, Any] = await engine.call(engine.api.inspect_image, image or BASE)
    except NotThereError as error:
        if image is None:
            raise UserError(
                f"no image {BASE} in the engine: `docker build -t {BASE} dockerfiles/base` makes it in a clone, or, "
                "without a registry, dockerfiles/base/build.sh"
            ) from error
        raise UserError(f"no image {image} in the engine: `docker pull {image}`, or build it") from error
    return found


def _build(engine: Engine, folder: str) -> dict[str, Any]:
    tag = build_tag(folder)
    with _locks[tag]:
        try:
            found: dict[str, Any] = engine.explained(engine.api.inspect_image, tag)
            return found
        except NotThereError:
            pass
        try:
            reason = engine.explained(_make, engine, folder, tag)
        except RefusedError as error:
            reason = str(error)
        if reason is not None:
            raise UserError(f"{folder}/Dockerfile does not build: {' '.join(reason.split())[:_LONGEST]}")
        return dict(engine.explained(engine.api.inspect_image, tag))


def _make(engine: Engine, folder: str, tag: str) -> str | None:
    """Build an image; why it does not build, or None. An image that it is `FROM` and cannot be had is named."""
    step = ""
    for said in engine.api.build(path=folder, tag=tag, rm=True, forcerm=True, decode=True, timeout=_BUILD_TIMEOUT):
        if "error" in said:
            found = _STEP.match(step)
            return f"{found[1]}: {said['error']}" if found else str(said["error"])
        if said.get("stream", "").lower().startswith("step "):
            step = said["stream"]
    return None

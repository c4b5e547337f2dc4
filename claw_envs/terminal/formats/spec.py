"""The machine that a task's files describe: the host's own system where that will do, else an image.

Nobody chooses: a Dockerfile that `claw_envs.terminal.dockerfile` can honour, with tests that install no packages, runs
on the host's system, without an engine. Everything else is an image: the ready one that the task names, else one built
from the folder. Which backend runs it is the sandbox layer's business.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from claw_envs.core.errors import UserError
from claw_envs.core.task import SandboxSpec
from claw_envs.terminal.dockerfile import NeedsImage, Recipe, installs_packages, read_dockerfile
from claw_envs.terminal.formats.compose import Service, compose_file, read_compose
from claw_envs.terminal.formats.config import Config, Network, read_text

ON_HOST = SandboxSpec()
IN_IMAGE = SandboxSpec(memory_mb=2048, disk_mb=2048, pids=512)
"""Resources where a task states none; what needs an image usually compiles or computes in it."""


class Machine(NamedTuple):
    """See `describe`."""

    spec: SandboxSpec
    about: dict[str, str]
    """For the task's metadata: `base_image`, and `needs_image` with the reason, where there are."""


def describe(
    folder: Path,
    config: Config,
    *,
    network: Network,
    scripts: Sequence[Path],
    image: str | None = None,
    workdir: str | None = None,
    env: Mapping[str, str] | None = None,
    known: Mapping[str, str] | None = None,
) -> Machine:
    """The machine of a task.

    Args:
        folder: where its Dockerfile or compose file is.
        config: the table with the resources.
        network: what agent and verifier may reach.
        scripts: what the verifier runs; it may need an image, too.
        image: name of a ready image.
        workdir: goes before what the files say.
        env: goes before what the files say.
        known: values for the variables of the compose file.

    Raises:
        UserError: if the files are missing, wrong, or describe what no single machine can be.
    """
    compose = compose_file(folder)
    service = read_compose(compose, known=known) if compose else Service(folder, None, None, {})
    image = service.image or image
    workdir = workdir or service.workdir
    env = service.env | dict(env or {})
    dockerfile = (service.build or folder) / "Dockerfile"
    if not dockerfile.is_file() and not image:
        raise UserError(f"{dockerfile}: missing; the task names no image either")
    try:
        recipe = _on_host(dockerfile, scripts, workdir=workdir)
    except NeedsImage as reason:
        spec = SandboxSpec(
            image=image,
            build=None if image else str(dockerfile.parent),
            workdir=workdir or "",
            env=env,
            network=network,
            pids=IN_IMAGE.pids,
            **config.resources(IN_IMAGE),
        )
        return Machine(spec, {"needs_image": str(reason)})
    spec = SandboxSpec(
        workdir=workdir or recipe.workdir,
        files=recipe.files,
        setup=recipe.setup,
        env=recipe.env | env,
        network=network,
        **config.resources(ON_HOST),
    )
    return Machine(spec, {"base_image": recipe.base})


def _on_host(dockerfile: Path, scripts: Sequence[Path], *, workdir: str | None) -> Recipe:
    if not dockerfile.is_file():
        raise NeedsImage("no Dockerfile, but a ready image")
    recipe = read_dockerfile(dockerfile)
    for script in scripts:
        if found := installs_packages(read_text(script)):
            raise NeedsImage(f"{script.name} calls {found}")
    if not (workdir or recipe.workdir):
        raise NeedsImage(f"{dockerfile.name}: no WORKDIR, so it is the base's own")
    return recipe

"""The root file system that a spec asks for: the host's own, a directory, or an image that was exported before.

Layers lie over it. Where it is the host's own, what a layer has below /usr, /etc and the like is not seen.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from claw_envs.core.errors import UserError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox.images import CachedImage, build_tag, root_of
from claw_envs.sandbox.images.inside import inside
from claw_envs.sandbox.namespace.host import ROOT_UID, Identity


class Root(NamedTuple):
    """See the module."""

    base: Path | None
    """None: the host's programs (see `base_root`)."""
    workdir: str
    env: Mapping[str, str] = {}
    """What the image sets for every process."""
    mapped: bool = False
    """Whether owners on disk are already those of the sandbox."""
    layers: tuple[Path, ...] = ()
    """The spec's, the last one topmost."""


def find_root(spec: SandboxSpec, identity: Identity) -> Root:
    """What `spec` starts from.

    Raises:
        UserError: if there is no such root, it cannot hold an agent's shell, or a layer is not the sandbox's.
    """
    layers = tuple(_layer(name, identity) for name in spec.layers)
    if spec.image is not None or spec.build is not None:
        image = _image(spec, identity)
        root = Root(image.rootfs, spec.workdir or image.workdir, image.env, mapped=True, layers=layers)
        what = f"image {spec.image or spec.build}"
    elif spec.rootfs is not None:
        root = Root(Path(spec.rootfs).absolute(), spec.workdir or "/", layers=layers)
        what = f"rootfs {spec.rootfs}"
    else:
        return Root(None, spec.workdir or "/", layers=layers)
    assert root.base is not None
    if not os.path.lexists(inside(root.base, "/bin/bash")):
        raise UserError(f"{what}: no /bin/bash there, which the agent's shell needs; install bash in it")
    return root


def _layer(name: str, identity: Identity) -> Path:
    layer = Path(name).absolute()
    if not layer.is_dir():
        raise UserError(f"layer {name}: no such directory; it is made anew where it came from a recipe")
    owner = layer.stat().st_uid
    if owner != identity.agent[0]:
        raise UserError(f"layer {name} belongs to uid {owner}, not to the agent ({identity.agent[0]}): make it anew")
    return layer


def _image(spec: SandboxSpec, identity: Identity) -> CachedImage:
    name = build_tag(spec.build) if spec.build is not None else str(spec.image)
    image = root_of(name)
    if image is None:
        wanted = spec.build if spec.build is not None else name
        raise UserError(f"the namespace sandbox has no root file system of {wanted}: `claw images export {wanted}`")
    mine = image.first_id == ROOT_UID if identity.privileged else image.rootfs.stat().st_uid == os.geteuid()
    if not mine:
        raise UserError(f"{image.rootfs.parent} was exported by another user: set CLAW_CACHE to a directory of yours")
    return image

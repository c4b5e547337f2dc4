"""What this package changes in OpenRLHF, in memory and only in the processes of a run that `claw train` started.

OpenRLHF's files stay as they are. Each change waits until the module that it concerns has been imported. They are
written against `SUPPORTED` and refuse to be used with another version.
"""

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from claw_envs.core.errors import UserError
from trainers.openrlhf.settings import from_environment

SUPPORTED = ("0.11.2",)
"""Versions of OpenRLHF that the changes were written against."""


def is_installed() -> bool:
    """Whether there is any version of OpenRLHF."""
    return find_spec("openrlhf") is not None


def check_version() -> str:
    """The installed version.

    Raises:
        UserError: if OpenRLHF is missing, or its version is none of `SUPPORTED`.
    """
    wanted = " or ".join(SUPPORTED)
    try:
        found = version("openrlhf")
    except PackageNotFoundError:
        raise UserError(f"openrlhf is not installed: pip install openrlhf=={wanted}; see docs/cluster.md") from None
    if found not in SUPPORTED:
        raise UserError(
            f"openrlhf {found} is installed, this trainer works with {wanted}: pip install openrlhf=={wanted}"
        )
    return found


def install() -> None:
    """Prepare this process: every worker that Ray starts for the run calls it first, and so does the driver.

    A node that only holds environments needs no OpenRLHF: its version is checked where it is imported.
    """
    import wrapt

    from trainers.openrlhf.hooks import cpu, kl, lora, maker, norm

    config, _ = from_environment()
    wrapt.register_post_import_hook(lambda module: check_version(), "openrlhf")
    maker.install()
    norm.install()
    kl.install()
    lora.install()
    if config.cluster.cpu:
        cpu.install()

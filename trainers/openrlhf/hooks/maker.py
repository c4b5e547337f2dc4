"""OpenRLHF's trainer makes its experiences with our maker: the class has no registry, its name is bound anew."""

from types import ModuleType

import wrapt


def install() -> None:
    """Once the trainer's module is there, in sync and in async mode alike."""
    wrapt.register_post_import_hook(_rebind, "openrlhf.trainer.ppo_trainer")


def _rebind(module: ModuleType) -> None:
    from trainers.openrlhf.experience import ClawExperienceMaker

    if not issubclass(ClawExperienceMaker, module.RemoteExperienceMaker):
        raise TypeError(f"{module.__name__} makes its experiences with {module.RemoteExperienceMaker}")
    module.RemoteExperienceMaker = ClawExperienceMaker  # type: ignore[attr-defined]

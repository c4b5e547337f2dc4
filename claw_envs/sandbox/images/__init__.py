"""Images by name and by content, and a cache of their root file systems for sandboxes that have no engine."""

from claw_envs.sandbox.images.store import CachedImage, root_of
from claw_envs.sandbox.images.tag import build_tag

__all__ = ["CachedImage", "build_tag", "root_of"]

"""Where what was made once is kept between runs: `$CLAW_CACHE`, else `~/.cache/claw-envs`."""

import os
from pathlib import Path


def cache_directory(part: str) -> Path:
    """The folder of one kind of things in the cache; it need not exist."""
    return Path(os.environ.get("CLAW_CACHE") or "~/.cache/claw-envs").expanduser().absolute() / part

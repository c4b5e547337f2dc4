"""The examples for many machines."""

from pathlib import Path

from trainers.config import Config, load_config

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "examples" / "openrlhf"
NAMES = sorted(path.stem for path in FOLDER.glob("*.toml"))
JUDGED = ("gui", "personal", "toolcall")


def settings(name: str) -> Config:
    """Of an example."""
    return load_config(None, FOLDER / f"{name}.toml", {})

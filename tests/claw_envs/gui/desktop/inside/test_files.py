"""Listings of folders that an agent made."""

import json
import os
from pathlib import Path

from claw_envs.gui.desktop.inside.files import listing


def test_folders_in_folders_without_end_are_cut_off(tmp_path: Path) -> None:
    at = os.open(tmp_path, os.O_RDONLY)
    for _ in range(300):  # one by one, as the whole path may be too long to be named
        os.mkdir("d", dir_fd=at)
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    text = json.dumps(listing(str(tmp_path)))
    assert 50 < text.count('"d"') < 200

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from claw_envs.sandbox.images import build_tag


def _folder(path: Path) -> Path:
    (path / "data/empty").mkdir(parents=True)
    (path / "Dockerfile").write_text("FROM x\n")
    (path / "data/run.sh").write_text("run")
    (path / "link").symlink_to("data/run.sh")
    return path


def test_equal_folders_have_one_tag_whatever_their_times_and_owners(tmp_path: Path) -> None:
    one, other = _folder(tmp_path / "one"), _folder(tmp_path / "other")
    os.utime(other / "Dockerfile", (1, 1))
    (other / "Dockerfile").chmod(0o600)
    assert build_tag(one) == build_tag(str(other))
    repository, _, digits = build_tag(one).partition(":")
    assert repository == "claw-envs/build"
    assert len(digits) == 32


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "data/run.sh").write_text("ruN"),
        lambda folder: (folder / "data/run.sh").chmod(0o755),
        lambda folder: (folder / "data/run.sh").rename(folder / "data/run"),
        lambda folder: (folder / "data/empty").rmdir(),
        lambda folder: (folder / ".hidden").touch(),
        lambda folder: ((folder / "link").unlink(), (folder / "link").symlink_to("data")),
        lambda folder: ((folder / "link").unlink(), (folder / "link").write_text("data/run.sh")),
    ],
)
def test_what_changes_the_image_changes_the_tag(tmp_path: Path, change: Callable[[Path], object]) -> None:
    folder = _folder(tmp_path / "folder")
    before = build_tag(folder)
    change(folder)
    assert build_tag(folder) != before


def test_moving_a_byte_from_one_file_to_the_next_is_a_change(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "folder")
    (folder / "a").write_text("xy")
    (folder / "b").write_text("z")
    before = build_tag(folder)
    (folder / "a").write_text("x")
    (folder / "b").write_text("yz")
    assert build_tag(folder) != before


def test_a_folder_without_a_dockerfile_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no Dockerfile"):
        build_tag(tmp_path)

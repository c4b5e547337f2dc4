import subprocess
import sys
import threading
from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from claw_envs.sandbox.images import store
from claw_envs.sandbox.images.store import Config


def _fill(root: Path) -> None:
    (root / "closed").mkdir(mode=0o500)
    (root / "file").write_text("content")


def test_an_image_is_found_by_every_way_to_write_its_name() -> None:
    image = store.add("python", Config(digest="sha256:1", env={"A": "1"}, workdir="/w"), _fill)
    assert image.name == "python:latest"
    for name in ("python", "python:latest", "docker.io/library/python", "docker.io/python:latest"):
        assert store.root_of(name) == image
    assert (image.env, image.workdir, (image.rootfs / "file").read_text()) == ({"A": "1"}, "/w", "content")
    for name in ("python:3", "other/python", "localhost:5000/python"):
        assert store.root_of(name) is None


def test_names_share_an_image_and_move_on_at_one_stroke(cache: Path) -> None:
    def never(root: Path) -> None:
        raise AssertionError("it is there already")

    first = store.add("a:1", Config(digest="sha256:1"), _fill)
    again = store.add("b:1", Config(digest="sha256:1"), never)
    assert again.rootfs == first.rootfs
    other = store.add("a:1", Config(digest="sha256:2"), _fill)
    assert store.root_of("a:1") == other != first
    assert (again.rootfs / "file").exists()
    assert store.names() == ["a:1", "b:1"]
    store.remove("b:1")
    assert not first.rootfs.parent.exists()
    store.remove("a:1")
    assert [path.name for path in cache.iterdir()] == ["names"]
    with pytest.raises(UserError, match="claw images list"):
        store.remove("a:1")


def test_others_get_no_way_in(cache: Path) -> None:
    store.add("a", Config(digest="1"), _fill)
    assert cache.stat().st_mode & 0o777 == 0o700


def test_a_failed_export_leaves_nothing(cache: Path) -> None:
    def fail(root: Path) -> None:
        _fill(root)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        store.add("a", Config(digest="1"), fail)
    assert store.root_of("a") is None
    assert [path.name for path in cache.iterdir()] == ["names"]


def test_two_exports_at_a_time_make_one_image(cache: Path) -> None:
    barrier = threading.Barrier(2, timeout=30)
    found = []

    def fill(root: Path) -> None:
        _fill(root)
        barrier.wait()

    threads = [
        threading.Thread(target=lambda: found.append(store.add("a", Config(digest="1"), fill))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 2
    assert found[0].rootfs == found[1].rootfs == cache / found[0].rootfs.parent.name / "rootfs"
    assert len(list(cache.iterdir())) == 2


_KILLED = """
import sys
from claw_envs.sandbox.images import store
def fill(root):
    (root / "half").write_text("half")
    print("filling", flush=True)
    sys.stdin.read()
store.add("a", store.Config(digest="1"), fill)
"""


def test_what_is_killed_in_the_middle_never_counts_and_is_swept(cache: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _KILLED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as exporter:
        assert exporter.stdout is not None
        assert exporter.stdout.readline() == "filling\n"
        assert store.sweep_unfinished() == []
        exporter.kill()
    assert store.root_of("a") is None
    (half,) = cache.glob("*-*-*")
    assert store.sweep_unfinished() == [str(half)]
    assert not half.exists()
    assert store.add("a", Config(digest="1"), _fill).rootfs.is_dir()

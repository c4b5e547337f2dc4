from pathlib import Path

import pytest

from claw_envs.sandbox.images.inside import inside


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("a/b", "a/b"),
        ("/a//b/./c", "a/b/c"),
        ("../../a", "a"),
        ("real/../../../x", "x"),
        ("absolute/x", "real/x"),
        ("relative/x", "real/x"),
        ("up/etc/passwd", "etc/passwd"),
        ("chain/x", "real/x"),
        ("absolute", "absolute"),
        ("dangling/x", "nowhere/x"),
        ("", ""),
        ("/", ""),
    ],
)
def test_links_never_lead_out(tmp_path: Path, path: str, leads_to: str) -> None:
    (tmp_path / "real").mkdir()
    for name, target in {
        "absolute": "/real",
        "relative": "./real",
        "up": "../../../..",
        "chain": "real/../absolute",
        "dangling": "/nowhere",
    }.items():
        (tmp_path / name).symlink_to(target)
    assert inside(tmp_path, path) == tmp_path / leads_to


def test_a_circle_of_links_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("/a")
    with pytest.raises(OSError, match="a/x"):
        inside(tmp_path, "a/x")

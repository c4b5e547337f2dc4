"""Patches turned round, as git applies them: there and back again."""

import subprocess
from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from claw_envs.swe.formats.reverse import reversed_patch
from tests.claw_envs.swe.tiny import AUTHOR, GOLD

BEFORE = {
    "calc.py": "a\x0c\n\x0cb\r\n-- c\n++ d\ne\n" + "x\n" * 20 + "last",
    "gone.py": "1\n2\n",
    "old name.py": "".join(f"{number}\n" for number in range(20)),
    "run.sh": "true\n",
    "no_end.py": "one",
}
AFTER = {
    "calc.py": "a\x0c\nB\n++ c\n-- d\n\ne\n" + "x\n" * 20 + "last\n",
    "added.py": "new\n\n",
    "new name.py": "".join(f"{number}\n" for number in range(1, 20)),
    "run.sh": "true\n",
    "no_end.py": "two",
}


def git(repository: Path, *arguments: str, stdin: str | None = None) -> str:
    done = subprocess.run(
        ["git", *arguments],
        cwd=repository,
        input=None if stdin is None else stdin.encode(),
        env={**AUTHOR, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        check=True,
    )
    return done.stdout.decode()


def write(repository: Path, files: dict[str, str]) -> None:
    for path in repository.iterdir():
        if path.name != ".git":
            path.unlink()
    for name, text in files.items():
        (repository / name).write_bytes(text.encode())


@pytest.fixture
def patch(tmp_path: Path) -> str:
    """What git makes of `BEFORE` and `AFTER`; `BEFORE` is committed at `tmp_path`, `AFTER` lies there."""
    git(tmp_path, "init", "-q", "-b", "main")
    write(tmp_path, BEFORE)
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "before")
    write(tmp_path, AFTER)
    (tmp_path / "run.sh").chmod(0o755)
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "after")
    return git(tmp_path, "diff", "-M", "HEAD~1", "HEAD")


def test_git_takes_a_reversed_patch_back(patch: str, tmp_path: Path) -> None:
    assert all(
        said in patch for said in ("rename to", "new file mode", "deleted file mode", "old mode", "\\ No newline")
    )
    git(tmp_path, "apply", "--index", "-", stdin=reversed_patch(patch))
    assert git(tmp_path, "diff", "--cached", "HEAD~1") == ""


def test_twice_is_the_same_again(patch: str) -> None:
    for text in (patch, GOLD):
        assert reversed_patch(text) != text
        assert reversed_patch(reversed_patch(text)) == text


def test_what_cannot_be_turned_round_is_said() -> None:
    with pytest.raises(UserError, match="binary"):
        reversed_patch("diff --git a/x b/x\nBinary files a/x and b/x differ\n")
    with pytest.raises(UserError, match="copies a file"):
        reversed_patch("diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n")
    with pytest.raises(UserError, match="cut short"):
        reversed_patch(GOLD.rstrip("\n").rpartition("\n")[0] + "\n")

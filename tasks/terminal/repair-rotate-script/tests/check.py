"""The script under hidden inputs; each case counts."""

import sys

sys.path.insert(0, "/tests")
from answers import grade, need, read, run  # noqa: E402


SCRIPT = ["/bin/bash", "rotate.sh"]


def rotated(files, arguments, wanted, code=0):
    """Run the agent's script over `files`; folders are implied by their files."""
    given = {f"box/{name}": text for name, text in files.items()}
    status, _, found = run([*SCRIPT, *arguments], files=given | {"rotate.sh": read("rotate.sh")})
    left = {name.removeprefix("box/"): text for name, text in found.items() if name.startswith("box/")}
    left = {name: text for name, text in left.items() if text is not None and name}
    need(status == code, f"{arguments}: exit code {status}, not {code}")
    need(left == wanted, f"{arguments}: left {sorted(left)}")


def plain():
    rotated({"a": "1", "B": "2", "c": "3"}, ["box", "1"], {"old/a": "1", "old/B": "2", "c": "3"})
    rotated({"a": "1", "B": "2", "c": "3"}, ["box", "2"], {"a": "1", "old/B": "2", "c": "3"})
    rotated({"a": "1", "b": "2"}, ["box", "2"], {"a": "1", "b": "2"})


def spaces_and_dashes():
    files = {"one two": "1", "-n": "2", "z z z": "3"}
    rotated(files, ["box", "1"], {"old/one two": "1", "old/-n": "2", "z z z": "3"})


def folders_do_not_count():
    files = {"a": "1", "b": "2", "sub/x": "3", "old/earlier": "4"}
    rotated(files, ["box", "1"], {"old/a": "1", "b": "2", "sub/x": "3", "old/earlier": "4"})


def keeps_none():
    rotated({"a": "1", "B": "2"}, ["box", "0"], {"old/a": "1", "old/B": "2"})


def wrong_arguments():
    files = {"a": "1", "b": "2"}
    for arguments in (["box"], ["box", "1", "2"], ["nowhere", "1"], ["box", "-1"], ["box", "1x"], []):
        rotated(files, arguments, files, code=2)
    rotated(files, ["box", "1"], {"old/a": "1", "b": "2"})


def folder_with_spaces():
    given = {"my box/a": "1", "my box/b": "2", "rotate.sh": read("rotate.sh")}
    status, _, found = run([*SCRIPT, "my box", "1"], files=given)
    need(status == 0 and found.get("my box/old/a") == "1" and found.get("my box/b") == "2", f"left {sorted(found)}")


grade(plain, spaces_and_dashes, folders_do_not_count, keeps_none, wrong_arguments, folder_with_spaces)

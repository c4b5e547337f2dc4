"""Shared by the checks of the built-in tasks; every task holds a copy, since a task folder is complete by itself.

What the agent left is untrusted: links are not followed, only regular files of bounded size are read, and programs are
run with the agent's rights, never with those of the checks.
"""

import json
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile

APP = "/app"
_MAX_BYTES = 1_000_000
_HIDE = (
    "mount -t tmpfs none /tests && mount -t tmpfs none /logs && "
    'exec setpriv --bounding-set=-all --inh-caps=-all --no-new-privs -- "$@"'
)


class WrongError(Exception):
    """The work does not meet the task."""


def need(condition, message):
    """Demand `condition`."""
    if not condition:
        raise WrongError(message)


def read(path):
    """Text of the regular file `path` below /app; bytes that are not UTF-8 become lone surrogates."""
    full = os.path.join(APP, path)
    need(os.path.lexists(full), f"{full}: missing")
    need(os.path.realpath(full) == full, f"{full}: a link, or behind one")
    need(stat.S_ISREG(os.lstat(full).st_mode), f"{full}: not a regular file")
    with open(os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        data = file.read(_MAX_BYTES + 1)
    need(len(data) <= _MAX_BYTES, f"{full}: too large")
    return data.decode(errors="surrogateescape")


def tree(path):
    """{relative path: text} of the regular files below `path`; a folder is `name/` with the text None."""
    root = os.path.join(APP, path)
    need(os.path.realpath(root) == root and os.path.isdir(root), f"{root}: not a folder")
    found = {}
    for folder, folders, files in os.walk(root):
        need(len(found) < 5000, f"{root}: too many files")
        for name in folders:
            full = os.path.join(folder, name)
            need(not os.path.islink(full), f"{full}: a link")
            found[os.path.relpath(full, root) + "/"] = None
        for name in files:
            full = os.path.join(folder, name)
            found[os.path.relpath(full, root)] = read(full)
    return found


def same(path, expected):
    """Demand that the file `path` holds exactly `expected`."""
    need(read(path) == expected, f"{path}: not the expected content")


def _as_agent(argv):
    """How to start `argv` so that it cannot touch the checks: (argv, rights for subprocess).

    By the agent's own user id where it has one, else in a namespace in which tests and rewards are out of sight. Where
    neither can be had (a container whose agent is root) nothing would keep them apart.
    """
    owner = os.stat(APP)
    if owner.st_uid != os.geteuid():
        return argv, {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []}
    apart = [
        "unshare",
        "--user",
        "--map-root-user",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "/bin/sh",
        "-c",
        _HIDE,
        "sh",
    ]
    possible = subprocess.run([*apart, "true"], check=False, capture_output=True).returncode == 0
    return ([*apart, *argv] if possible else argv), {}


def run(argv, *, files, stdin="", timeout=10):
    """Run an agent's program, with the agent's rights, in a new folder that holds `files`.

    Returns (exit code, standard output, {name: text} of the folder afterwards).
    """
    folder = pathlib.Path(tempfile.mkdtemp(dir="/tmp"))
    argv, rights = _as_agent(argv)
    try:
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        if rights:
            for path in [folder, *folder.rglob("*")]:
                os.chown(path, rights["user"], rights["group"])
        environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(folder),
            "LC_ALL": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        output = folder.with_suffix(".out")
        with open(output, "xb") as out:
            process = subprocess.Popen(
                argv,
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,
                **rights,
            )
            try:
                process.communicate(stdin.encode(), timeout=timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise WrongError(f"{argv}: still running after {timeout} s") from None
        if rights:  # whatever it left running must not outlive its check
            subprocess.run(["/bin/sh", "-c", "kill -9 -1"], check=False, **rights)
        need(output.stat().st_size <= _MAX_BYTES, f"{argv}: too much output")
        return process.returncode, output.read_text(errors="surrogateescape"), tree(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        folder.with_suffix(".out").unlink(missing_ok=True)


def grade(*checks):
    """Run the checks and write the share that passed as the reward."""
    passed = 0
    for check in checks:
        try:
            check()
        except Exception as error:  # what an agent leaves behind may break a check in any way: it has not passed
            print(f"FAIL {check.__name__}: {type(error).__name__}: {error}"[:500])
        else:
            print(f"PASS {check.__name__}")
            passed += 1
    share = passed / len(checks)
    os.makedirs("/logs/verifier", exist_ok=True)
    if len(checks) == 1:
        pathlib.Path("/logs/verifier/reward.txt").write_text(f"{passed}\n")
    else:
        report = {"reward": share, "passed": passed, "checks": len(checks)}
        pathlib.Path("/logs/verifier/reward.json").write_text(json.dumps(report) + "\n")

"""Makes a built-in task out of a git repository: `python -m tests.claw_envs.swe.make_task REPOSITORY INSTANCE_ID`.

The repository's last commit is the fix together with its tests, the one before it the base; what lies below `tests/` is
the test patch, the rest the gold patch. The history is kept as patches that `git am` turns into the same commits on
every machine. Both commits' tests are run here, with `python3` of the PATH, to learn which the fix makes pass.
A task's issue, `problem_statement.md`, is written by hand before. Not covered: merges, other runners.
"""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from claw_envs.core.tasksets import builtin
from claw_envs.swe.formats.script import script_of
from claw_envs.swe.instance import REPOSITORY, Instance

ROOT = builtin("swe")
COMMITTER = {"GIT_COMMITTER_NAME": "claw-envs", "GIT_COMMITTER_EMAIL": "tasks@claw-envs.invalid"}
"""Of every commit, at its author's date, so that a commit has the same id wherever the history is applied."""
TESTS = "tests/"
COMMAND = "python3 -m pytest -rA"
RECIPE = """python = "system"
packages = ["pytest==8.4.2", "iniconfig==2.1.0", "packaging==25.0", "pluggy==1.6.0", "pygments==2.19.2"]

[repository]
history = "history"
"""
DOCKERFILE = """FROM claw-envs/base:bookworm
COPY history /tmp/history
RUN mkdir {repository} && cd {repository} && git init -q -b main \\
    && {committer} git am -q --keep-cr --committer-date-is-author-date /tmp/history/*.patch \\
    && git rm -rq . && git checkout -q --force --detach {base} && rm -rf /tmp/history
WORKDIR {repository}
"""


def git(repository: Path, *arguments: str, stdin: str = "") -> str:
    """What git prints, untouched by the user's own settings.

    Raises:
        subprocess.CalledProcessError: if git fails; its complaint went to stderr.
    """
    env = os.environ | COMMITTER | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-c", "core.autocrlf=false", "-c", "diff.renames=true", *arguments]
    done = subprocess.run(command, cwd=repository, env=env, check=True, input=stdin.encode(), stdout=subprocess.PIPE)
    return done.stdout.decode()


def replay(history: Path, repository: Path) -> list[str]:
    """Makes a repository out of a folder of patches; the ids of its commits, oldest first."""
    repository.mkdir()
    git(repository, "init", "-q", "-b", "main")
    patches = sorted(str(patch.resolve()) for patch in history.glob("*.patch"))
    git(repository, "am", "-q", "--keep-cr", "--committer-date-is-author-date", *patches)
    return git(repository, "rev-list", "--reverse", "HEAD").split()


def run_tests(repository: Path, eval_script: str) -> dict[str, str]:
    """The status of every test that the evaluation script runs in `repository`, as the official parser reads it."""
    from swebench.harness.log_parsers import PARSER_REGISTRY

    env = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    script = eval_script.replace(REPOSITORY, str(repository))
    done = subprocess.run(
        ["bash", "-c", f"exec 2>&1\n{script}"], cwd=repository, env=env, check=False, stdout=subprocess.PIPE, timeout=60
    )
    found: dict[str, str] = PARSER_REGISTRY["parse_log_pytest"](done.stdout.decode(), None)
    return found


def at_base(repository: Path, instance: Instance, patch: str = "") -> Path:
    """`repository` with its working tree at the base commit, and `patch` applied."""
    git(repository, "checkout", "-q", "--force", "--detach", instance.base_commit)
    git(repository, "clean", "-qfdx")
    if patch:
        git(repository, "apply", "-", stdin=patch)
    return repository


def tests_of(repository: Path, instance: Instance) -> dict[str, list[str]]:
    """The tests that the gold patch makes pass, and those that it leaves passing.

    Raises:
        typer.BadParameter: if a test fails with the gold patch, or none fails without it.
    """
    before = run_tests(at_base(repository, instance), instance.eval_script)
    after = run_tests(at_base(repository, instance, instance.patch), instance.eval_script)
    failing = sorted(name for name, status in after.items() if status != "PASSED")
    if failing:
        raise typer.BadParameter(f"these tests do not pass with the fix: {' '.join(failing)}")
    fixed = [name for name in after if before.get(name) != "PASSED"]
    if not fixed:
        raise typer.BadParameter("no test fails at the base: the test patch must show the fault")
    return {"FAIL_TO_PASS": fixed, "PASS_TO_PASS": [name for name in after if name not in fixed]}


def read_instance(repository: Path, instance_id: str, commits: list[str], issue: str) -> Instance:
    """The instance whose base is the last commit but one of `commits`, as yet without its lists of tests."""
    base, fix = commits[-2:]
    name = instance_id.removeprefix("claw__").rpartition("-")[0]
    bare = Instance(
        instance_id=instance_id,
        repo=f"claw/{name}",
        base_commit=base,
        problem_statement=issue,
        patch=git(repository, "diff", "--binary", base, fix, "--", ".", f":!{TESTS}"),
        test_patch=git(repository, "diff", "--binary", base, fix, "--", TESTS),
        eval_script="",
        log_parser="parse_log_pytest",
        fail_to_pass=(),
        pass_to_pass=(),
        image=f"swebench/sweb.eval.x86_64.{instance_id}:latest".lower().replace("__", "_1776_"),
    )
    modules = git(repository, "ls-tree", "-r", "--name-only", fix, TESTS).split()
    command = " ".join([COMMAND, *(path for path in modules if Path(path).name.startswith("test_"))])
    before = (f"git -C {REPOSITORY} checkout {base} {TESTS}",)
    script = script_of(bare, command, before=before, files=False)
    return msgspec.structs.replace(bare, eval_script=script)


def write_task(folder: Path, instance: Instance, known: dict[str, Any], tests: dict[str, list[str]]) -> None:
    """Writes all files of the task but its issue and its history."""
    committer = " ".join(f"{key}={value}" for key, value in COMMITTER.items())
    dockerfile = DOCKERFILE.format(repository=REPOSITORY, base=instance.base_commit, committer=committer)
    for name, text in {
        "task.yaml": json.dumps(known, indent=2, sort_keys=True) + "\n",
        "tests.json": json.dumps(tests, indent=2) + "\n",
        "gold.patch": instance.patch,
        "test.patch": instance.test_patch,
        "eval.sh": instance.eval_script,
        "Dockerfile": dockerfile,
        "recipe.toml": RECIPE,
    }.items():
        (folder / name).write_text(text, newline="")


def main(
    repository: Annotated[Path, typer.Argument(help="A git repository whose last commit is the fix and its tests.")],
    instance_id: Annotated[str, typer.Argument(help="Such as claw__strata-1.")],
    difficulty: Annotated[str, typer.Option(help="As SWE-bench Verified words it.")] = "15 min - 1 hour",
    version: Annotated[str, typer.Option(help="Of the package at the base.")] = "0.1",
) -> None:
    """Writes tasks/swe/tasks/INSTANCE_ID; its problem_statement.md must be there."""
    folder = ROOT / "tasks" / instance_id
    issue = (folder / "problem_statement.md").read_text()
    history = folder / "history"
    shutil.rmtree(history, ignore_errors=True)
    plain = ("--root", "--no-stat", "--no-signature", "--zero-commit")
    git(repository, "format-patch", "-q", *plain, "-o", str(history.resolve()), "HEAD")
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "copy"
        instance = read_instance(copy, instance_id, replay(history, copy), issue)
        tests = tests_of(copy, instance)
        created = git(copy, "show", "-s", "--format=%aI", "main").strip()
    known = {
        "base_commit": instance.base_commit,
        "created_at": created,
        "datasets": ["claw-envs/swe"],
        "difficulty": difficulty,
        "environment_setup_commit": "",
        "eval_type": "pass_and_fail",
        "image": instance.image,
        "instance_id": instance_id,
        "log_parser": instance.log_parser,
        "repo": instance.repo,
        "split": "test",
        "version": version,
    }
    write_task(folder, instance, known, tests)
    print(f"{folder}: {len(tests['FAIL_TO_PASS'])} to fix, {len(tests['PASS_TO_PASS'])} to keep")


if __name__ == "__main__":
    typer.run(main)

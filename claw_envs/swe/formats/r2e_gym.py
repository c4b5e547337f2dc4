r"""Rows of R2E-Gym: commits of Python repositories, whose images hold the tests (`/r2e_tests`) and `run_tests.sh`.

The verdict of the officials (r2egym, agenthub/runtime/docker.py): the status of every test, as pytest's short summary
has it, must be the expected one, failures included, and there must be as many. That becomes a list of tests that must
pass: the evaluation script prints one line a test, `PASSED name=STATUS`, and one for their number, and SWE-bench's own
parser reads them. What the tests print themselves is put behind a bar, so that it is not read.

The agent's sandbox has neither tests nor script. What is untracked in the repository becomes part of its base commit,
which therefore has no name known ahead: it is `HEAD`.
"""

import re

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.core.rows import Row
from claw_envs.core.task import Task
from claw_envs.swe.formats.images import SYSTEM_PATH
from claw_envs.swe.formats.r2e_commit import Commit
from claw_envs.swe.formats.script import COMMIT, END, START
from claw_envs.swe.instance import REPOSITORY, SANDBOX, Instance, task_of

_HIDDEN = "/r2e_tests"
_RUNNER = "/r2e_run_tests.sh"
_PATH = f"{REPOSITORY}/.venv/bin:/root/.local/bin:/root/.cargo/bin:{SYSTEM_PATH}"
_VENV = f"cd {REPOSITORY} && if [ -d .venv ]; then printf '*\\n' > .venv/.gitignore; fi"
_SETUP = (
    _VENV,
    f"rm -rf {_HIDDEN} {REPOSITORY}/r2e_tests {REPOSITORY}/run_tests.sh {REPOSITORY}/.pytest_cache",
    f"cd {REPOSITORY} && {COMMIT}",
)
_VERDICT_SETUP = (
    _VENV,
    f"cd {REPOSITORY} && mv run_tests.sh {_RUNNER} && rm -rf r2e_tests .pytest_cache",
    f"cd {REPOSITORY} && {COMMIT}",
)
_ISSUE = re.compile(r"\[ISSUE\](.*)\[/ISSUE\]", re.DOTALL)
_COLOUR = re.compile(r"\x1b\[\d+m")
_AWK = r"""
index($0, "short test summary info") { part++; next }
part == 1 && match($0, /PASSED|FAILED|ERROR/) {
  status = index($0, "PASSED") ? "PASSED" : index($0, "FAILED") ? "FAILED" : "ERROR"
  at = index($0, "::"); name = at ? substr($0, at + 2) : ""
  gsub(/::/, ".", name); end = index(name, " - "); if (end) name = substr(name, 1, end - 1)
  gsub(/[ \t]+/, "_", name); if (!(name in found)) count++
  found[name] = status
}
END {
  for (name in found) {
    print "PASSED " name "=" found[name]
    if (found[name] != "PASSED") print "FAILED " (name == "" ? "unnamed" : name)
  }
  print "PASSED number=" count + 0
}
"""

_SCRIPT = rf"""#!/bin/bash
set -uxo pipefail
cd {REPOSITORY}
export PATH={_PATH}
rm -rf r2e_tests && ln -s {_HIDDEN} r2e_tests
: '{START}'
bash {_RUNNER} > /tmp/r2e.log 2>&1
code=$?
sed -E 's/\x1b\[[0-9;]*m|\r//g' /tmp/r2e.log > /tmp/r2e.txt
sed 's/^/| /' /tmp/r2e.txt
awk '{_AWK}' /tmp/r2e.txt
(exit $code)
: '{END}'
rm -f r2e_tests
"""


class _R2eRow(msgspec.Struct, kw_only=True):
    repo_name: str
    docker_image: str
    commit_hash: str
    problem_statement: str
    expected_output_json: str
    parsed_commit_content: str


def read(row: Row) -> Task:
    """The task of a row.

    Raises:
        UserError: if a column is missing or wrong.
    """
    try:
        got = msgspec.convert(row, _R2eRow)
        commit = msgspec.json.decode(got.parsed_commit_content, type=Commit)
        expected = msgspec.json.decode(got.expected_output_json, type=dict[str, str])
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise UserError(f"not an R2E-Gym row: {error}") from error
    if not expected:
        raise UserError("expected_output_json is empty, so nothing would show that a patch is right")
    issue = _ISSUE.search(got.problem_statement)
    instance = Instance(
        instance_id=f"{got.repo_name}__{got.commit_hash[:12]}",
        repo=got.repo_name,
        base_commit="HEAD",
        problem_statement=(issue[1] if issue else got.problem_statement).strip(),
        patch=commit.patch(tests=False),
        test_patch=commit.patch(tests=True),
        eval_script=_SCRIPT,
        log_parser="parse_log_pytest",
        fail_to_pass=_expected(expected),
        pass_to_pass=(),
        image=got.docker_image,
    )
    sandbox = msgspec.structs.replace(SANDBOX, image=got.docker_image, setup=_SETUP, env={"PATH": _PATH})
    task = task_of(instance, sandbox, metadata={"format": "r2e-gym"})
    options = task.verifier.options | {"setup": _VERDICT_SETUP}
    return msgspec.structs.replace(task, verifier=msgspec.structs.replace(task.verifier, options=options))


def _expected(statuses: dict[str, str]) -> tuple[str, ...]:
    """What the script prints as passed where every test came out as expected."""
    found = {
        re.sub(r"[ \t]+", "_", _COLOUR.sub("", name).partition(" - ")[0]): status for name, status in statuses.items()
    }
    return (*(f"{name}={status}" for name, status in found.items()), f"number={len(found)}")

"""Patches of every kind for one task, made out of its gold patch: what verdicts are compared on.

Most are made by a script in a sandbox with the repository, and taken as an agent's patch is; some are changes to the
text of the gold patch; `half` and `breaks` are written by hand, a file a task.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import Task
from claw_envs.sandbox.lease import Lease
from claw_envs.swe.formats.script import files_of
from claw_envs.swe.instance import REPOSITORY, instance_of
from claw_envs.swe.patch import take_patch
from claw_envs.swe.recipe import sandbox_of

_GOLD, _CLAIMS = "/tmp/gold.patch", "/tmp/claims.py"
_TIMEOUT = 60.0
_MOST_BYTES = 1_000_000
_CLAIM = """
import os

def pytest_unconfigure(config):
    for test in {tests}:
        print("PASSED", test, flush=True)
"""


class Mutation(NamedTuple):
    """A kind of patch.

    Attributes:
        name: as in the table.
        summary: what is in it.
        resolves: whether it does, by its nature; None where that depends on the task.
        text: makes it out of the gold patch's text.
        script: bash at the repository that makes it, where no `text` does; `$@` are the test files of the base commit.
    """

    name: str
    summary: str
    resolves: bool | None = None
    text: Callable[[str], str] | None = None
    script: str = ""


def _elsewhere(gold: str) -> str:
    return re.sub(
        r"^(diff --git |--- |\+\+\+ ).*", lambda line: re.sub(r"\b([ab])/", r"\1/lost/", line[0]), gold, flags=re.M
    )


def _moved(gold: str) -> str:
    return re.sub(r"^(@@ .*\n) (.+)$", r"\1 \2  # moved", gold, flags=re.M)


MUTATIONS = (
    Mutation("gold", "the gold patch", True, lambda gold: gold),
    Mutation("empty", "no change", False, lambda _: ""),
    Mutation(
        "noise",
        "the gold patch, with a script, binary data and a mode that nothing asked for",
        True,
        script=f"""git apply {_GOLD}
        mkdir scratch
        echo 'print("it works")' > scratch/reproduce.py
        printf '\\000\\001\\377' > scratch/core
        chmod +x "$(git ls-files | tail -n 1)\"""",
    ),
    Mutation("half", "a part of the fix", False),
    Mutation("breaks", "a fix that breaks what worked", False),
    Mutation(
        "tests",
        "no fix, but assertions that hold",
        False,
        script="sed -i -E 's/^( *)assert .*/\\1assert True/' \"$@\"",
    ),
    Mutation(
        "removes",
        "no fix, and the files that it changes removed",
        False,
        script=f"git apply --numstat {_GOLD} | cut -f 3 | xargs rm -f",
    ),
    Mutation("claims", "a conftest.py that prints every test as passed", script=f"cat {_CLAIMS} >> conftest.py"),
    Mutation(
        "exits",
        "the same, which also ends the tests with exit code 0",
        script=f"{{ cat {_CLAIMS}; echo '    os._exit(0)'; }} >> conftest.py",
    ),
    Mutation("elsewhere", "the gold patch, for files that are not there", text=_elsewhere),
    Mutation(
        "partly",
        "the gold patch, and then the same for files that are not there",
        text=lambda gold: gold + _elsewhere(gold),
    ),
    Mutation("moved", "the gold patch between other lines, which only applies with fuzz", text=_moved),
    Mutation("crlf", "the gold patch with carriage returns", text=lambda gold: gold.replace("\n", "\r\n")),
)


async def patches(task: Task, names: Sequence[str], written: Path, backend: str) -> dict[str, str]:
    """Patches of a task by the name of their mutation.

    Args:
        names: of the mutations.
        written: folder that holds `<task>/half.patch` and `<task>/breaks.patch`; what is not there is left out.
        backend: of the sandboxes that patches are made in.

    Raises:
        InfrastructureError: if a patch cannot be made.
        UserError: if the task cannot run on the back end.
    """
    gold = instance_of(task).patch
    lease = Lease(backend)
    found: dict[str, str] = {}
    try:
        for mutation in MUTATIONS:
            file = written / task.id / f"{mutation.name}.patch"
            if mutation.name not in names:
                continue
            if mutation.text is not None:
                found[mutation.name] = mutation.text(gold)
            elif mutation.script:
                found[mutation.name] = await _scripted(task, mutation, lease)
            elif file.is_file():
                found[mutation.name] = file.read_bytes().decode()
    finally:
        await lease.give_back()
    return found


async def _scripted(task: Task, mutation: Mutation, lease: Lease) -> str:
    instance = instance_of(task)
    sandbox = await lease.take(await sandbox_of(task, lease.backend))
    await sandbox.put(_GOLD, instance.patch.encode())
    await sandbox.put(_CLAIMS, _CLAIM.format(tests=[*instance.fail_to_pass, *instance.pass_to_pass]).encode())
    tests = [old for old, _ in files_of(instance.test_patch) if old is not None]
    command = ["/bin/bash", "-ec", mutation.script, "bash", *tests]
    result = await sandbox.exec(command, timeout=_TIMEOUT, cwd=REPOSITORY)
    taken = await take_patch(sandbox, instance.base_commit, most_bytes=_MOST_BYTES, timeout=_TIMEOUT)
    if result.exit_code != 0 or taken.fault:
        raise InfrastructureError(f"{task.id}: no patch `{mutation.name}`: {result.output.strip()} {taken.reason}")
    return taken.patch

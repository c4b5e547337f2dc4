"""Rows of SWE-Gym: real issues of eleven Python repositories, in the columns of SWE-bench 4.

SWE-Gym keeps its test commands in its own copy of SWE-bench 4 (SWE-Gym/SWE-Bench-Fork, constants.py), not in the
rows; `COMMANDS` says the same. That copy installs the package again before the tests, which needs a network. Here the
images' own installation serves: a patch to compiled code (pandas, Cython) is not built.
"""

import re
import shlex

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.core.rows import Row
from claw_envs.core.task import Task
from claw_envs.swe.formats.images import sandbox_for
from claw_envs.swe.formats.rows import columns
from claw_envs.swe.formats.script import script_of
from claw_envs.swe.instance import Instance, task_of

COMMANDS = {
    "Project-MONAI/MONAI": "pytest -rA",
    "bokeh/bokeh": "pytest -rA -n0",
    "conan-io/conan": "pytest -n0 -rA",
    "dask/dask": "pytest -n0 -rA --color=no",
    "facebookresearch/hydra": "pytest -rA --tb=long",
    "getmoto/moto": "pytest -n0 -rA",
    "iterative/dvc": "pytest -rA",
    "modin-project/modin": "pytest -n0 -rA",
    "pandas-dev/pandas": "pytest -rA --tb=long",
    "pydantic/pydantic": "pytest -rA --tb=short -vv -o console_output_style=classic --no-header",
    "python/mypy": "pytest -n0 -rA -k",
}
"""Test command by repository."""
_PARSERS = {"pydantic/pydantic": "parse_log_pytest_v2"}
_ACTIVATE = ("source /opt/miniconda3/bin/activate", "conda activate testbed")
_BEFORE = {"conan-io/conan": ("export PYTHONPATH=${PYTHONPATH:-}:/testbed",)}
_MYPY_CASE = re.compile(r"\[case ([^\]]+)\]")


def read(row: Row) -> Task:
    """The task of a row.

    Raises:
        UserError: if a column is missing or wrong, or the repository is none of SWE-Gym's.
    """
    instance = columns(row).instance()
    if instance.repo not in COMMANDS:
        raise UserError(f"SWE-Gym has no repository {instance.repo!r}, so there is no test command for it")
    instance = msgspec.structs.replace(
        instance,
        image=instance.image or image_of(instance.instance_id),
        eval_script=instance.eval_script or _script(instance),
        log_parser=instance.log_parser or _PARSERS.get(instance.repo, "parse_log_pytest"),
    )
    return task_of(instance, sandbox_for(instance), metadata={"format": "swe-gym"})


def image_of(instance_id: str) -> str:
    """The image that SWE-Gym published for an instance."""
    return f"xingyaoww/sweb.eval.x86_64.{instance_id.replace('__', '_s_')}:latest".lower()


def _script(instance: Instance) -> str:
    command, files = COMMANDS[instance.repo], True
    if command.endswith(" -k"):
        cases = _MYPY_CASE.findall(instance.test_patch)
        if not cases:
            raise UserError("its test patch names no [case …], by which mypy's tests are chosen")
        command, files = f"{command} {shlex.quote(' or '.join(cases))}", False
    before = (*_ACTIVATE, *_BEFORE.get(instance.repo, ()))
    return script_of(instance, command, before=before, files=files)

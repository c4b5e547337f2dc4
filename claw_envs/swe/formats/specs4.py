"""Turns rows of SWE-bench 4 into rows of SWE-bench 5, by SWE-bench 4's own code: `claw swe convert`.

Version 4 keeps the test commands and log parsers of its repositories in its package, version 5 in the rows, and the two
versions cannot be installed side by side: this runs where version 4 is installed, and what it writes is read where
version 5 is. Parsers go by the same names in both. Not covered: image assets of SWE-bench Multimodal, and repositories
that SWE-bench 4 does not know.
"""

from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.core.rows import Row, read_rows
from claw_envs.core.survey import Fault
from claw_envs.swe.formats.rows import SweRow, columns

_ENVIRONMENT = 'python -m venv swe4 && swe4/bin/pip install "claw-envs[swe4]" && swe4/bin/claw swe convert ROWS OUT'


class Converted(NamedTuple):
    """What `convert` made of a file."""

    rows: list[Row]
    faults: list[Fault]
    """Rows that were left out."""


def convert_file(source: Path, out: Path) -> Converted:
    """Convert a file of rows to JSON lines.

    Raises:
        UserError: if `source` cannot be read, `out` exists or has no folder, or swebench here is not version 4.
    """
    if not source.is_file():
        raise UserError(f"{source}: no such file")
    if out.exists():
        raise UserError(f"{out} exists: name a new file")
    if not out.parent.is_dir():
        raise UserError(f"{out}: there is no folder {out.parent}")
    done = convert(read_rows(source))
    out.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in done.rows))
    return done


def convert(rows: Iterable[Row]) -> Converted:
    """Give each row `eval_script`, `log_parser`, `eval_type` and `image`; one that has a script stays as it is.

    Raises:
        UserError: if the installed swebench is not version 4.
    """
    _check_version()
    done = Converted([], [])
    for number, row in enumerate(rows, 1):
        try:
            done.rows.append(row if row.get("eval_script") else row | _added(columns(row), row))
        except UserError as error:
            done.faults.append(Fault(str(row.get("instance_id", f"row {number}")), str(error)))
    return done


def image_of(instance_id: str) -> str:
    """The image that SWE-bench published for an instance."""
    return f"swebench/sweb.eval.x86_64.{instance_id}:latest".lower().replace("__", "_1776_")


def _added(got: SweRow, row: Row) -> Row:
    from swebench.harness.constants import FAIL_ONLY_REPOS, MAP_REPO_VERSION_TO_SPECS
    from swebench.harness.log_parsers import MAP_REPO_TO_PARSER
    from swebench.harness.test_spec.create_scripts import make_eval_script_list

    instance = got.instance()
    versions = MAP_REPO_VERSION_TO_SPECS.get(instance.repo, {})
    if instance.version not in versions or instance.repo not in MAP_REPO_TO_PARSER:
        raise UserError(f"SWE-bench 4 does not know version {instance.version!r} of {instance.repo}")
    commands = make_eval_script_list(
        row, versions[instance.version], "testbed", "/testbed", instance.base_commit, instance.test_patch
    )
    return {
        "eval_script": "\n".join(["#!/bin/bash", "set -uxo pipefail", *commands]) + "\n",
        "log_parser": MAP_REPO_TO_PARSER[instance.repo].__name__,
        "eval_type": "fail_only" if instance.repo in FAIL_ONLY_REPOS else "pass_and_fail",
        "image": instance.image or image_of(instance.instance_id),
    }


def _check_version() -> None:
    try:
        version = metadata.version("swebench")
    except metadata.PackageNotFoundError:
        version = "none"
    if not version.startswith("4."):
        raise UserError(f"this needs swebench 4.1.0, in an environment of its own (here: {version}): {_ENVIRONMENT}")

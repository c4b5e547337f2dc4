"""Where swebench's own functions decide: the script that runs the tests, and what its log says.

swebench takes seconds to import and reads whole logs, so call these in a thread. Not covered: running anything, and the
image assets of SWE-bench Multimodal.
"""

import tempfile
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.swe.instance import Instance

START = ">>>>> Start Test Output"
"""What the log of every eval script says before the tests run, as swebench expects it."""

_INSTALL = 'pip install "claw-envs[swe]"'


class Outcomes(msgspec.Struct, frozen=True):
    """Tests of one of an instance's two lists, by what became of them."""

    success: list[str] = []
    failure: list[str] = []


class Grade(NamedTuple):
    """What swebench reads in a log."""

    resolved: bool
    readable: bool
    """Whether it found results of tests that it trusts; swebench calls that `patch_successfully_applied`."""
    environment: str = ""
    """Where it found none: its word for a sign that the environment is at fault, such as `out_of_memory`."""
    fail_to_pass: Outcomes = Outcomes()
    pass_to_pass: Outcomes = Outcomes()


def require_swebench() -> None:
    """Complain at once of what the verdict at an episode's end would need.

    Raises:
        UserError: if swebench is not installed.
    """
    if find_spec("swebench") is None:
        raise UserError(f"a verdict needs swebench: {_INSTALL}")


def eval_script(instance: Instance) -> str:
    """The script that runs the tests, as swebench completes it.

    Raises:
        UserError: if swebench is not installed, or has no such log parser.
    """
    parsers = _swebench("log_parsers").PARSER_REGISTRY
    if instance.log_parser not in parsers:
        raise UserError(
            f"{instance.instance_id}: log_parser {instance.log_parser!r} is none of swebench's; one of: "
            f"{', '.join(sorted(parsers))}"
        )
    return str(_swebench("utils").make_test_spec(instance.row()).eval_script)


def grade(instance: Instance, log: str) -> Grade:
    """What `log`, which the eval script printed, says about a patch that applied."""
    prediction = {"instance_id": instance.instance_id, "model_patch": "applied", "model_name_or_path": ""}
    with tempfile.TemporaryDirectory(prefix="claw-envs-") as folder:
        file = Path(folder, "test_output.txt")
        file.write_text(log, encoding="utf-8")
        report = _swebench("grading").get_eval_report(
            _swebench("utils").make_test_spec(instance.row()), prediction, str(file), include_tests_status=True
        )[instance.instance_id]
    tests = report.get("tests_status", {})
    return Grade(
        resolved=report["resolved"],
        readable=report["patch_successfully_applied"],
        environment=report["infra_failure_reason"] if report["infra_failure"] else "",
        fail_to_pass=Outcomes(**tests.get("FAIL_TO_PASS", {})),
        pass_to_pass=Outcomes(**tests.get("PASS_TO_PASS", {})),
    )


def _swebench(module: str) -> ModuleType:
    from importlib import import_module

    try:
        return import_module(f"swebench.harness.{module}")
    except ImportError as error:
        raise UserError(f"a verdict needs swebench ({error}): {_INSTALL}") from None

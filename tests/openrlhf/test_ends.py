"""How a run ends that does not reach its end: what is said, and that nothing is left running."""

from collections.abc import Callable
from pathlib import Path

import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from tests.openrlhf.running import Run, none_is_left
from tests.openrlhf.tiny import make_model
from trainers.openrlhf.launch import _end_of

SETTINGS = """
model = "{folder}/model"
signal = "step_index"
batch_size = 16
[loss]
kl_coef = 0.0
[cluster]
cpu = {cpu}
"""


def test_an_interrupt_stops_everything(start: Callable[..., Run], tmp_path: Path) -> None:
    make_model(tmp_path / "model", ["Well. "])
    run = start("toolcall", SETTINGS.format(folder=tmp_path, cpu="true"))
    run.wait_for("RolloutRayActor pid=")
    below = run.below()
    assert below
    run.interrupt()
    assert run.end() != 0
    assert none_is_left(below)


def test_too_few_gpus_are_the_users_mistake_and_leave_nothing(start: Callable[..., Run], tmp_path: Path) -> None:
    make_model(tmp_path / "model", ["Well. "])
    run = start("toolcall", SETTINGS.format(folder=tmp_path, cpu="false"))
    assert run.end() == 2
    said = "claw: the run needs 2 GPUs (actor 1, engines 1), this machine has 0"
    assert run.lines[-1] == f"{said}: a small model can be tried with cluster.cpu = true"
    assert not run.directory.exists()


@pytest.mark.parametrize(
    ("cause", "kind", "line"),
    [
        (UserError("[env]: no such task set"), UserError, r"\[env\]: no such task set"),
        (InfrastructureError("no host answers"), InfrastructureError, r"OpenRLHF stopped: no host answers \(all it"),
        (KeyError("reward"), InfrastructureError, r"OpenRLHF stopped: KeyError: 'reward' \(all it said: "),
    ],
)
def test_what_failed_in_a_worker_is_one_line(
    cause: Exception, kind: type[Exception], line: str, tmp_path: Path
) -> None:
    from ray.exceptions import RayTaskError

    inner = RayTaskError("execute", "Traceback …\nof many\nlines", cause)
    error = _end_of(RayTaskError("fit", "Traceback …\nof more\nlines", inner).as_instanceof_cause(), tmp_path)
    assert type(error) is kind
    with pytest.raises(kind, match=line):
        raise error
    assert "\n" not in str(error)

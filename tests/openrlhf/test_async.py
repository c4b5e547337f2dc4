"""Asynchronously with partial rollouts, on commands in sandboxes; the engine dies, and the run is resumed."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.openrlhf.running import Run, none_is_left
from tests.openrlhf.tiny import make_model

COMMANDS = ("touch /app/done", "ls /app", "false", "pwd", "date", "id", "true", "echo done", "submit")
SAYINGS = tuple(f"```bash\n{command}\n```" for command in COMMANDS)
TASK = {
    "task.toml": '[metadata]\nmax_steps = 2\n[environment]\nnetwork_mode = "no-network"\n',
    "instruction.md": "Create /app/done.",
    "environment/Dockerfile": "FROM debian\nWORKDIR /app\n",
    "tests/test.sh": "test -e /app/done; echo $((1 - $?)) > /logs/verifier/reward.txt\n",
    "solution/solve.sh": "touch /app/done\n",
}
SETTINGS = """
model = "{folder}/model"
signal = "step_index"
updates = 16
batch_size = 16
[env]
tasks = "{folder}/tasks"
backend = "namespace"
[generation]
max_new_tokens = 2
[rollout]
parallel = 8
group_size = 4
max_staleness = 1
[optim]
lr = 1e-2
[loss]
kl_coef = 0.0
importance_cap = 2.0
[checkpoint]
every = 4
keep = 1
[cluster]
cpu = true
context = 2048
[cluster.flags]
train.partial_rollout_enable = true
"""


def test_a_run_whose_engine_died_is_resumed_and_reward_rises(start: Callable[..., Run], tmp_path: Path) -> None:
    make_model(tmp_path / "model", SAYINGS)
    for name in ("first", "second"):
        for path, text in TASK.items():
            file = tmp_path / "tasks" / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    run = start("terminal", SETTINGS.format(folder=tmp_path))
    run.wait_for("Global step 6:")
    below = run.below()
    (engine,) = run.workers("RolloutRayActor")
    engine.kill()
    assert run.end() == 1
    assert none_is_left(below)
    last = run.lines[-1]
    assert last.startswith("claw: OpenRLHF stopped: ActorDiedError: RolloutRayActor: "), run.tail()
    assert "openrlhf.log" in last
    assert "--resume goes on from the last checkpoint" in last
    before = len(run.batches())

    run = start("terminal", SETTINGS.format(folder=tmp_path), "--resume")
    assert run.end() == 0, run.tail()
    saved = run.first_step() - 1
    assert saved >= 4, "it went on from a checkpoint"
    assert any("Global step 16:" in line for line in run.lines)
    batches = run.batches()
    assert len(batches) == before + 16 - saved
    assert np.mean([batch["reward"] for batch in batches[-4:]]) > batches[0]["reward"] + 0.3
    assert sum(batch["aborted"] for batch in batches[before:]) == 0

"""In turns, on questions with tools; environments in Ray actors, one of which dies under its episodes."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.openrlhf.running import Run
from tests.openrlhf.tiny import make_model
from trainers import advantages

QUESTIONS = ("What is 6 times 7?", "Multiply 6 by 7.", "How much is 7 times 6?", "6 * 7 = ?")
CALL = '<tool_call>\n{"name": "multiply", "arguments": {"first": 6, "second": 7}}\n</tool_call>'
BAD_CALL = '<tool_call>\n{"name": "multiply", "arguments": {"first": "six"}}\n</tool_call>'
SAYINGS = (CALL, BAD_CALL, r"\boxed{42}", r"\boxed{13}", r"\boxed{48}", "```python\nprint(6 * 7)\n```")
SETTINGS = """
model = "{folder}/model"
signal = "step_index"
updates = 14
batch_size = 16
[env]
tasks = "{folder}/questions.jsonl"
tools = ["python", "tests.openrlhf.faults:multiply"]
max_steps = 3
[generation]
max_new_tokens = 2
[rollout]
parallel = 4
group_size = 4
max_staleness = 0
abort_retries = 0
[judge]
process_weight = 0.5
[optim]
lr = 1e-2
[loss]
kl_coef = 0.0
importance_cap = 2.0
[cluster]
cpu = true
context = 3072
dump = true
env_actors = 2
"""


def test_reward_rises_though_an_environment_host_dies(start: Callable[..., Run], tmp_path: Path) -> None:
    make_model(tmp_path / "model", SAYINGS)
    rows = [json.dumps({"question": question, "answer": "42", "kind": "exact"}) for question in QUESTIONS]
    (tmp_path / "questions.jsonl").write_text("\n".join(rows))

    run = start("toolcall", SETTINGS.format(folder=tmp_path))
    assert run.end() == 0, run.tail()

    batches = run.batches()
    assert len(batches) == 14
    assert (run.directory / "killed").exists()
    assert all(batch["episodes"] + batch["aborted"] == 16 for batch in batches)
    assert 0 < sum(batch["aborted"] for batch in batches) <= 16
    assert np.mean([batch["reward"] for batch in batches[-4:]]) > batches[0]["reward"] + 0.4
    assert any(np.abs(dump["advantages"]).max() > 0.5 for dump in run.dumps())
    for batch, dump in zip(batches, run.dumps(), strict=True):
        _check_advantages(dump)
        _check_aborted(batch, dump)
    assert (run.directory / "model" / "config.json").exists()


def _check_advantages(dump: dict[str, np.ndarray]) -> None:
    """Those that were handed on are those of the pure function, token by token."""
    rewards = np.empty(len(dump["turn_row"]))
    for turn, outcome in enumerate(dump["turn_outcome"]):
        process = None if dump["turn_abstained"][turn] else float(dump["turn_process"][turn])
        rewards[turn] = advantages.step_rewards(outcome, [process], process_weight=0.5)[0]
    values = advantages.step_index([str(group) for group in dump["turn_group"]], dump["turn_step"], rewards)
    expected, mask = np.zeros(dump["advantages"].shape), np.zeros(dump["action_mask"].shape, bool)
    for row, start, tokens, value in zip(
        dump["turn_row"], dump["turn_start"], dump["turn_tokens"], values, strict=True
    ):
        expected[row, start - 1 : start - 1 + tokens] = np.nan_to_num(value)
        mask[row, start - 1 : start - 1 + tokens] = np.isfinite(value)
    np.testing.assert_allclose(dump["advantages"], expected, atol=1e-6)
    np.testing.assert_array_equal(dump["action_mask"].astype(bool), mask)


def _check_aborted(batch: dict[str, float], dump: dict[str, np.ndarray]) -> None:
    """An episode that was aborted has a row, and no token of it trains."""
    whole = set(dump["turn_episode"].tolist())
    aborted = [episode for episode in range(16) if episode not in whole]
    assert len(aborted) == batch["aborted"]
    assert not dump["action_mask"][aborted].any()

"""Adapters on a conversation whose user says what was wrong: verdicts combined with what the first weights, shown the
user's hint, think of each token."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.openrlhf.running import Run
from tests.openrlhf.tiny import make_model
from trainers import advantages

SAYINGS = (
    "It is 12, since 7 + 5 = 12.",
    "Certainly! Let us work through this step by step, so that you can see how every part of it is done.",
    "**Answer:** see above.",
    "I do not know.",
)
WEIGHTS = {"binary": 1.0, "opd": 0.1}
SETTINGS = """
model = "{folder}/model"
signal = "combined"
updates = 8
batch_size = 16
[env]
tasks = "student:train"
max_steps = 2
[generation]
max_new_tokens = 2
[rollout]
parallel = 16
group_size = 1
max_staleness = 0
[weights]
binary = 1.0
opd = 0.1
opd_baseline = false
opd_clip = 5.0
[optim]
lr = 1e-2
[loss]
kl_coef = 0.001
importance_cap = 2.0
[lora]
rank = 8
[cluster]
cpu = true
context = 1024
dump = true
"""


def test_merged_adapters_reach_the_engine_and_the_teacher_reads_hints(
    start: Callable[..., Run], tmp_path: Path
) -> None:
    make_model(tmp_path / "model", SAYINGS)
    run = start("chat", SETTINGS.format(folder=tmp_path))
    assert run.end() == 0, run.tail()

    batches, dumps = run.batches(), run.dumps()
    assert len(batches) == 8
    for dump in dumps:
        _check_advantages(dump)
    assert _distance_from_reference(dumps[-1]) > 0.2
    assert max(map(_gap_of_engine_and_actor, dumps)) < 0.02
    assert (run.directory / "model" / "adapter_config.json").exists()


def _check_advantages(dump: dict[str, np.ndarray]) -> None:
    read = 0
    for row, start, tokens, score in zip(
        dump["turn_row"], dump["turn_start"], dump["turn_tokens"], dump["turn_score"], strict=True
    ):
        place = row, slice(start - 1, start - 1 + tokens)
        teacher = dump["teacher_log_probs"][place]
        distilled = np.zeros(tokens)
        if np.isfinite(teacher).all():
            read += 1
            distilled = advantages.opd(teacher, dump["rollout_log_probs"][place], clip=5.0)
        value = advantages.combined(
            np.nan_to_num(score), distilled, binary_weight=WEIGHTS["binary"], opd_weight=WEIGHTS["opd"]
        )
        if dump["action_mask"][place].any():
            np.testing.assert_allclose(dump["advantages"][place], value, atol=1e-5)
    assert read > 0


def _gap_of_engine_and_actor(dump: dict[str, np.ndarray]) -> float:
    """Mean difference of the two's log-probs of what the engine sampled: of rounding alone, where weights agree."""
    mask = dump["action_mask"].astype(bool)
    return float(np.abs(dump["rollout_log_probs"] - dump["action_log_probs"])[mask].mean())


def _distance_from_reference(dump: dict[str, np.ndarray]) -> float:
    mask = dump["action_mask"].astype(bool)
    return float(np.abs(dump["base_action_log_probs"] - dump["action_log_probs"])[mask].mean())

"""What a run keeps of its batches."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from claw_envs.core.episode import Verdict
from tests.trainers.openrlhf.made import by_row, episode, experiences, turn
from trainers import advantages
from trainers.config import Config

pytestmark = pytest.mark.usefixtures("cluster")
Configure = Callable[..., Config]


def test_every_batch_leaves_a_row_of_figures_and_where_asked_for_itself(
    batch_config: Configure, tiny: tuple[Any, Any], tmp_path: Path
) -> None:
    config = batch_config(signal="step_index", loss__kl_coef=0, cluster__dump="true")
    episodes = [episode([1.0, None], outcome=1.0), episode([-1.0]), episode([Verdict(status="failed")]), episode([1.0])]
    episodes[1].turns.append(turn(1, [60], [61, 62], Verdict(score=-1.0)))
    for _ in range(2):  # as after a restart
        made = experiences(config, tiny, episodes)
    with (tmp_path / "run" / "batches.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["batch"] for row in rows] == ["1", "2"]
    assert {name: float(rows[1][name]) for name in ("episodes", "aborted", "turns", "rows")} == {
        "episodes": 4.0,
        "aborted": 0.0,
        "turns": 6.0,
        "rows": 8.0,
    }
    assert float(rows[1]["reward"]) == 0.25
    assert sorted(path.name for path in (tmp_path / "run" / "batches").iterdir()) == ["1.npz", "2.npz"]

    kept = np.load(tmp_path / "run" / "batches" / "2.npz")
    process = np.where(kept["turn_abstained"], 0.0, kept["turn_process"])
    expected = advantages.step_index(kept["turn_group"].tolist(), kept["turn_step"], kept["turn_outcome"] + process)
    table, mask = np.zeros(kept["advantages"].shape), np.zeros(kept["advantages"].shape)
    spans = zip(kept["turn_row"], kept["turn_start"], kept["turn_tokens"], expected, strict=True)
    for row, start, tokens, value in spans:
        table[row, start - 1 : start - 1 + tokens] = np.nan_to_num(value)
        mask[row, start - 1 : start - 1 + tokens] = np.isfinite(value)
    assert_allclose(kept["advantages"], table, rtol=1e-6)
    assert_allclose(kept["action_mask"], mask)
    assert_allclose(kept["advantages"][0, : by_row(made, "advantages")[0].shape[0]], by_row(made, "advantages")[0])

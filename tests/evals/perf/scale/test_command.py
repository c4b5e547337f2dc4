"""The command as a user runs it, in its smallest size, and what it measures for real."""

import asyncio
import subprocess
import sys
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from claw_envs.sandbox.probe import probe
from evals.perf.scale.real import Played, RealRun
from evals.perf.scale.sweep import QUICK, Sweeps
from evals.perf.scale.table import Spread

ROOT = Path(__file__).parents[4]


def _scale(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "evals.perf", "scale", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)


def test_a_quick_run_leaves_figures_page_and_picture(tmp_path: Path) -> None:
    done = _scale("--quick", "--out", str(tmp_path), "--picture", "svg")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "scale.md").read_text() == done.stdout[:-1]
    assert "not measured here" in done.stdout
    sweeps = msgspec.json.decode((tmp_path / "scale.json").read_bytes(), type=Sweeps)
    assert [result.plan.mode for result in sweeps.gpus] == ["sync", "sync", "async", "partial"]
    assert {result.plan.gpus for result in sweeps.gpus} == set(QUICK.gpus)
    for result in (*sweeps.gpus, *sweeps.environments, *sweeps.staleness, *sweeps.split):
        assert result.staleness_max <= result.plan.max_staleness
    assert (tmp_path / "scale.svg").exists()


def test_one_cluster_is_one_row_and_a_split_that_cannot_be_is_refused() -> None:
    done = _scale("--gpus", "8", "--mode", "sync")
    assert done.returncode == 0, done.stderr
    assert "| sync | 8 | 6 / 6 / 2 | 800 | 800 | 0 |" in done.stdout
    refused = _scale("--gpus", "8", "--learning", "7", "--judging", "1")
    assert refused.returncode == 2
    assert "leave none of 8" in refused.stderr
    assert "sync, async, partial" in _scale("--gpus", "8", "--mode", "colocated").stderr
    alone = _scale("--environments", "64")
    assert alone.returncode == 2
    assert "need --gpus" in alone.stderr


def test_a_real_run_keeps_the_bound_and_counts_every_sample(tmp_path: Path) -> None:
    if not probe()[0].usable:
        pytest.skip(probe()[0].detail)
    played = Played(response=Spread(median=5.0, sigma=0.5), turns=2, group=2, update_s=0.02, warm=1, updates=3)
    seen = asyncio.run(RealRun(tmp_path, "terminal", 4, 4, played).run())
    assert isinstance(seen.staleness, Counter)
    assert seen.staleness.total() == 12
    assert max(seen.staleness) <= played.max_staleness
    assert seen.aborted == 0
    assert len(seen.times.steps) >= 2

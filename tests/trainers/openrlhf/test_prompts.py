import json
from collections import Counter
from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from trainers.config import load_config
from trainers.openrlhf.prompts import check_prompts, task_ids, write_prompts


def test_every_task_comes_once_before_any_comes_again(tmp_path: Path) -> None:
    ids = [f"task-{number}" for number in range(5)]
    lines = [json.loads(line) for line in write_prompts(tmp_path, ids, 12, seed=3).read_text().splitlines()]
    drawn = [line["input"] for line in lines]
    assert sorted(drawn[:5]) == sorted(drawn[5:10]) == ids
    assert drawn[:5] != drawn[5:10]
    assert Counter(drawn).most_common()[-1][1] >= 2
    assert [line["label"] for line in lines] == [str(number) for number in range(1, 13)]


def test_the_same_seed_draws_the_same(tmp_path: Path) -> None:
    ids = [f"task-{number}" for number in range(9)]
    texts = [write_prompts(tmp_path, ids, 20, seed=seed).read_text() for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


def test_tasks_are_those_of_the_environment(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text('{"question": "One and one?", "answer": "2", "id": "sum"}\n')
    config = load_config("toolcall", None, {"env.tasks": str(tmp_path / "q.jsonl")})
    assert task_ids(config) == ["q-sum"]


def test_a_resumed_run_keeps_its_number_of_prompts(tmp_path: Path) -> None:
    write_prompts(tmp_path, ["a"], 8, seed=0)
    check_prompts(tmp_path, 8)
    with pytest.raises(UserError, match="begun with 8 prompts and would now have 12"):
        check_prompts(tmp_path, 12)

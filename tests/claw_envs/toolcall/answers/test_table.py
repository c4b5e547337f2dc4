"""Every pair of the table has its verdict; hostile ones within the limits of a worker, which the kernel keeps."""

from collections.abc import Iterator

import pytest

from claw_envs.toolcall.answers import check_sync
from claw_envs.toolcall.answers.pool import Limits, Pool
from tests.claw_envs.toolcall.answers.table import OTHER, RIGHT, WRONG, Row, rows

ROWS = list(rows())


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    pool = Pool(workers=1)
    yield pool
    pool.close()


@pytest.fixture(scope="module")
def tight() -> Iterator[Pool]:
    pool = Pool(workers=1, limits=Limits(cpu=1, memory=512 << 20))
    yield pool
    pool.close()


@pytest.mark.parametrize("category", list(dict.fromkeys(row.category for row in ROWS)))
def test_every_pair_has_its_verdict(category: str, pool: Pool, tight: Pool) -> None:
    wrong = []
    for row in ROWS:
        if row.category == category:
            which = tight if category == "hostile" else pool
            got = check_sync(row.response, row.gold, kind=row.kind, pool=which, **row.options)
            if got.correct != row.correct:
                wrong.append((row.response[:100], row.gold, got.reason))
    assert not wrong


def test_a_right_answer_is_right_both_ways_where_nothing_is_left_out(pool: Pool) -> None:
    for category in ("fractions", "radicals", "constants", "complex", "algebra", "matrices"):
        for answer, gold in RIGHT[category]:
            assert check_sync(f"\\boxed{{{gold}}}", answer, pool=pool).correct, (gold, answer)


def test_near_misses_are_wrong_both_ways(pool: Pool) -> None:
    for category in ("near-misses: numbers", "near-misses: algebra", "near-misses: structure"):
        for answer, gold in WRONG[category]:
            if answer != "1 2":  # is no expected answer
                assert not check_sync(f"\\boxed{{{gold}}}", answer, pool=pool).correct, (gold, answer)


def test_the_table_is_large_enough() -> None:
    assert len(ROWS) >= 300
    assert sum(len(cases) for cases in OTHER.values()) >= 50
    assert sum(not row.correct for row in ROWS) >= 120


def test_no_pair_is_there_twice() -> None:
    seen: set[str] = set()
    for row in ROWS:
        text = Row.__repr__(row)
        assert text not in seen
        seen.add(text)

"""Turns, medians, and what becomes of a contestant that fails."""

import asyncio

from evals.perf.measure import Contestant, Failed, Result, Samples, take_turns

NAMES = ("a", "b", "c")
CONTESTANTS = [Contestant(name=name, title=name) for name in NAMES]


def run(failures: dict[str, list[Failed]], repeats: int = 3) -> tuple[list[str], dict[str, Result], list[str]]:
    """Order of the turns, results, and the failures that were reported; a contestant measures its turns' numbers."""
    order: list[str] = []
    reported: list[str] = []
    results = {name: Result() for name in NAMES}

    async def once(contestant: Contestant) -> Samples:
        order.append(contestant.name)
        if failures.get(contestant.name):
            raise failures[contestant.name].pop(0)
        return {"turn": [float(len(order))]}

    def failed(contestant: Contestant, failure: Failed) -> None:
        reported.append(f"{contestant.name}: {failure}")

    asyncio.run(take_turns(CONTESTANTS, repeats, once, results=results, on_failure=failed))
    return order, results, reported


def test_each_round_begins_with_another_contestant_and_keeps_every_repeat() -> None:
    order, results, _ = run({})
    assert order == list("abcbcacab")
    assert results["a"].repeats == {"turn": [[1.0], [6.0], [8.0]]}


def test_a_repeat_that_fails_is_reported_and_the_next_one_is_still_run() -> None:
    order, results, reported = run({"b": [Failed("once")]})
    assert order.count("b") == 3
    assert len(results["b"].repeats["turn"]) == 2
    assert reported == ["b: once"]


def test_a_final_failure_takes_the_contestant_out() -> None:
    order, results, reported = run({"b": [Failed("not installed", final=True)]})
    assert order == list("abc" + "ca" + "ac")
    assert results["b"].repeats == {}
    assert reported == ["b: not installed"]


def test_the_median_is_that_of_the_repeats_medians() -> None:
    result = Result(repeats={"step": [[1.0, 2.0, 90.0], [4.0], [5.0, 7.0]]})
    assert result.median("step") == 4.0
    assert result.median("start") is None

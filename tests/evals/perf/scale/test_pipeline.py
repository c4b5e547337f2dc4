"""The whole pipeline: single limits in closed form, bounds that nothing exceeds, and what is conserved."""

import msgspec
import pytest

from evals.perf.scale.bounds import means, rates
from evals.perf.scale.pipeline import Pipeline, Plan
from evals.perf.scale.result import simulate
from evals.perf.scale.table import Table
from tests.evals.perf.scale.tables import CURVE, PLAN, TABLE, constant, spread_out

replace = msgspec.structs.replace
MODES = ("sync", "async", "partial")


def _plan(mode: str, **changed: object) -> Plan:
    return replace(PLAN, **({"mode": mode, "max_staleness": 0 if mode == "sync" else 2} | changed))


def _with(table: Table, section: str, **changed: object) -> Table:
    return replace(table, **{section: replace(getattr(table, section), **changed)})


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("sample", ["episode", "turn"])
def test_staleness_never_exceeds_its_bound_and_sync_has_none(mode: str, sample: str) -> None:
    table = _with(spread_out(), "workload", sample=sample)
    for bound in (0, 1, 3):
        plan = _plan(mode, max_staleness=bound)
        result = simulate(table, plan)
        assert result.staleness_max <= (0 if mode == "sync" else bound)
        assert result.staleness_mean <= result.staleness_max
    assert mode == "sync" or result.staleness_max > 0


@pytest.mark.parametrize("mode", MODES)
def test_the_same_seed_gives_the_same_run_and_another_seed_another(mode: str) -> None:
    table, plan = spread_out(), _plan(mode)
    assert simulate(table, plan) == simulate(table, plan)
    assert simulate(table, plan).samples_per_second != simulate(table, replace(plan, seed=1)).samples_per_second


@pytest.mark.parametrize("mode", MODES)
def test_no_schedule_beats_the_closed_form(mode: str) -> None:
    for environments in (4, 32, 256):
        for learning in (1, 2):
            plan = _plan(mode, environments=environments, learning=3 if mode == "sync" else learning)
            result = simulate(TABLE, plan)
            assert result.samples_per_second <= result.limit * 1.001


def test_what_is_admitted_is_trained_queued_or_in_flight() -> None:
    pipeline = Pipeline(spread_out(), PLAN, CURVE)
    pipeline.run()
    admission, learner = pipeline.admission, pipeline.learner
    assert pipeline.rollout.aborted > pipeline.rollout.lost > 0
    assert admission.trained == learner.samples == learner.staleness.total() == 16 * (PLAN.warm + PLAN.updates)
    training = 16 if learner.queued + admission.trained < admission.accepted else 0
    assert admission.accepted == admission.trained + learner.queued + training
    assert 0 <= admission.in_flight <= admission.capacity
    assert pipeline.rollout.version == learner.version == PLAN.warm + PLAN.updates


def test_the_learner_alone_sets_the_pace_where_it_is_slow() -> None:
    table = _with(TABLE, "learning", fixed_s=1000.0)
    result = simulate(table, replace(PLAN, updates=10))
    update = 1000 + 16 * (100 + 3 * 50 + 2 * 30) / 10_000
    assert result.samples_per_second == pytest.approx(16 / (update + 0.1), rel=1e-6)
    assert result.bottleneck == "learning"
    assert result.staleness_mean == 2


def test_judges_alone_set_the_pace_where_they_are_slow() -> None:
    table = _with(TABLE, "judging", seconds=constant(20.0), workers=2)
    result = simulate(table, PLAN)
    assert result.samples_per_second == pytest.approx(2 / 20 / 3, rel=0.02)
    assert result.bottleneck == "judging"


def test_cores_alone_set_the_pace_where_they_are_few() -> None:
    table = _with(TABLE, "hosts", cores=1.0, step=constant(5.0), step_load=0.5, reset=constant(1.0))
    result = simulate(table, PLAN)
    assert result.samples_per_second == pytest.approx(1 / (1 + 3 * 5 * 0.5), rel=0.03)
    assert result.bottleneck == "environment hosts"


def test_the_verdict_of_an_episode_comes_once() -> None:
    table = _with(TABLE, "hosts", cores=1.0, step=constant(1.0), reset=constant(1.0), verify=constant(6.0))
    result = simulate(table, PLAN)
    assert result.samples_per_second == pytest.approx(1 / (1 + 3 * 1 + 6), rel=0.03)
    assert result.limit == pytest.approx(1 / 10)


def test_engines_alone_set_the_pace_where_they_are_full() -> None:
    table = _with(TABLE, "learning", points=[replace(TABLE.learning.points[0], tokens_per_second=1e9)])
    table = _with(_with(table, "judging", seconds=constant(0.0)), "hosts", step=constant(0.0), reset=constant(0.0))
    plan = replace(PLAN, gpus=2, environments=8, batch=64, max_staleness=4, updates=10)
    average = means(table)
    result = simulate(table, plan)
    assert result.samples_per_second == pytest.approx(rates(table, plan, average, CURVE).serving, rel=0.05)
    assert result.bottleneck == "serving"


def test_a_single_environment_takes_one_episode_after_the_other() -> None:
    table = _with(TABLE, "workload", group_size=1)
    plan = replace(PLAN, environments=1, batch=4, max_staleness=1, updates=50, mode="partial")
    table = replace(table, sync=replace(table.sync, seconds=0.0))
    contexts = (100, 180, 260)
    answer = sum(context * CURVE.prefill + 50 * CURVE.step(1, context + 25) for context in contexts)
    result = simulate(table, plan)
    assert result.samples_per_second == pytest.approx(1 / (0.1 + answer + 3 * 0.2), rel=0.01)
    assert result.bottleneck == "number of environments"


def test_taking_turns_adds_up() -> None:
    """One group a batch, in step: reset, three turns, the last verdict, hand-over, update, weights."""
    plan = Plan(gpus=1, learning=1, environments=4, batch=4, mode="sync", max_staleness=0, updates=10)
    table = replace(TABLE, sync=replace(TABLE.sync, switch_s=7.0))
    result = simulate(table, plan)
    answers = sum(4 * context * CURVE.prefill + 50 * CURVE.step(4, 4 * (context + 25)) for context in (100, 180, 260))
    cycle = 0.1 + answers + 3 * 0.2 + 0.5 + 7 + 4 * 310 / 10_000 + 0.1
    assert result.samples_per_second == pytest.approx(4 / cycle, rel=1e-6)
    assert result.bottleneck == "taking turns"


def test_responses_that_stop_for_new_weights_are_ahead_of_weights_that_wait_for_responses() -> None:
    table = _with(spread_out(), "hosts", abort=0.0)
    speeds = {mode: simulate(table, _plan(mode, updates=60)).samples_per_second for mode in MODES[1:]}
    assert speeds["partial"] > speeds["async"]


def test_a_wider_bound_is_never_slower() -> None:
    table = spread_out()
    speeds = [
        simulate(table, _plan("partial", max_staleness=bound, updates=60)).samples_per_second for bound in (0, 1, 4)
    ]
    assert speeds == sorted(speeds)


def test_lost_episodes_leave_no_slot_behind() -> None:
    table = _with(spread_out(), "hosts", abort=0.4, abort_retries=0)
    for sample in ("episode", "turn"):
        pipeline = Pipeline(_with(table, "workload", sample=sample), PLAN, CURVE)
        pipeline.run()
        assert pipeline.rollout.lost > 50
        assert pipeline.learner.version == PLAN.warm + PLAN.updates


def test_a_context_that_is_full_ends_the_episode() -> None:
    table = _with(TABLE, "workload", context=200.0)
    assert means(table).turns == 2
    pipeline = Pipeline(table, PLAN, CURVE)
    before, after = pipeline.run()
    assert (after.trained_tokens - before.trained_tokens) / (after.samples - before.samples) == pytest.approx(230)

import signal
import subprocess
import sys
from pathlib import Path

from claw_envs.core.episode import Episode, Turn, Verdict
from trainers.store import Store, Unit


def unit(name: str, samples: int = 1) -> Unit:
    turn = Turn(
        episode_id=name,
        step=0,
        messages=[{"role": "user", "content": "é\n"}],
        response="ok",
        prompt_ids=[1, 2],
        response_ids=[3],
        logprobs=[-0.5],
        versions=[4],
        verdict=Verdict(score=-1.0, hint="shorter"),
    )
    return Unit(id=name, samples=samples, episodes=[Episode(id=name, task_id="t", family="chat", turns=[turn])])


def ids(units: list[Unit]) -> list[str]:
    return [one.id for one in units]


def test_units_come_back_whole_in_order_of_acceptance_and_surplus_carries_over(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.sqlite")
    for name in "abcde":
        assert store.accept(unit(name))
    first = store.claim(1, 2)
    assert ids(first) == ["a", "b"]
    assert first[0] == unit("a")
    assert ids(store.claim(2, 2)) == ["c", "d"]
    assert store.claim(3, 2) == []
    assert store.queued(0) == 5
    assert store.queued(2) == 1


def test_a_claim_is_the_same_each_time_also_after_reopening(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.sqlite")
    for name in "abc":
        store.accept(unit(name))
    store.claim(1, 1)
    store.claim(2, 1)
    store.close()
    store = Store(tmp_path / "s.sqlite")
    store.accept(unit("z"))
    assert ids(store.claim(2, 1)) == ["b"]
    assert store.queued(1) == 3


def test_a_unit_is_accepted_once(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.sqlite")
    assert store.accept(unit("a"))
    assert not store.accept(unit("a"))
    assert store.queued(0) == 1


def test_groups_fill_a_batch_by_their_samples(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.sqlite")
    store.accept(unit("g1", samples=3))
    assert store.claim(1, 4) == []
    store.accept(unit("g2", samples=3))
    assert ids(store.claim(1, 4)) == ["g1", "g2"]


def test_each_opening_has_a_number_of_its_own(tmp_path: Path) -> None:
    first = Store(tmp_path / "s.sqlite").start
    assert Store(tmp_path / "s.sqlite").start == first + 1


WRITER = """
import sys
from pathlib import Path
from trainers.store import Store, Unit
from claw_envs.core.episode import Episode
store = Store(Path(sys.argv[1]))
for i in range(100_000):
    store.accept(Unit(id=str(i), samples=1, episodes=[Episode(id=str(i), task_id="t", family="chat")]))
    print(i, flush=True)
"""


def test_kill_9_loses_nothing_that_was_accepted(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for _ in range(50):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    accepted = 50 + len(process.stdout.readlines())
    process.wait()
    stored = ids(Store(path).claim(1, accepted))
    assert stored == [str(i) for i in range(accepted)]

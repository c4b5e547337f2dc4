"""The roll-out loop in virtual time: what `trainers.collector.Collector` does, event by event.

Environments take jobs from a bounded queue that is filled as fast as admission allows. A turn is a response, a step,
and a verdict that nobody waits for. Aborted episodes are tried again. Left out: that a judge may abstain, and what a
task's difficulty has to do with its length.
"""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from evals.perf.scale.admission import Admission, Ticket
from evals.perf.scale.clock import Clock
from evals.perf.scale.draws import chances, stream
from evals.perf.scale.engine import Request
from evals.perf.scale.fleet import Fleet
from evals.perf.scale.station import Station
from evals.perf.scale.table import Table


class Unit(NamedTuple):
    """What is accepted and trained together: a group of episodes, or one turn."""

    samples: int
    tokens: float
    """Of all its sequences."""
    longest: float
    """Tokens of the longest of them."""
    version: int
    """Oldest policy version that sampled any of it."""


class Group:
    """Episodes that are accepted together; where turns are, one episode."""

    __slots__ = ("ended", "longest", "lost", "size", "ticket", "tokens", "version")

    def __init__(self, size: int, ticket: Ticket | None) -> None:
        self.size, self.ticket = size, ticket
        self.ended = self.lost = 0
        self.tokens = self.longest = 0.0
        self.version: int | None = None


class Episode:
    """One attempt."""

    __slots__ = ("attempt", "context", "ended", "group", "read", "response", "ticket", "turns", "unjudged", "version")

    def __init__(self, group: Group, attempt: int, turns: int, prompt: float) -> None:
        self.group, self.attempt, self.turns = group, attempt, turns
        self.context = prompt
        self.read = 0.0
        """Tokens of the context that an engine has had before."""
        self.response = 0.0
        self.unjudged = 0
        self.ended = False
        self.version: int | None = None
        self.ticket: Ticket | None = None
        """Of the turn it is at, where turns are admitted."""


class Rollout:
    """Keeps environments busy and hands over what is accepted."""

    def __init__(
        self,
        clock: Clock,
        table: Table,
        *,
        environments: int,
        seed: int,
        admission: Admission,
        fleet: Fleet,
        hosts: Station,
        judges: Station,
        accept: Callable[[Unit], None],
    ) -> None:
        self._clock, self._admission, self._fleet, self._hosts, self._judges = clock, admission, fleet, hosts, judges
        self._work, self._host, self._accept = table.workload, table.hosts, accept
        self._by_turn = table.workload.sample == "turn"
        self._environments = self.idle = environments
        self.version = 0
        """Of the policy that is served."""
        self.turns = self.aborted = self.lost = 0
        self.tokens = 0.0
        """Sampled."""
        self._jobs: deque[Group] = deque()
        self._unqueued: Group | None = None
        self._left = 0
        self._paced = 0
        self._area = self._since = 0.0
        self._draw(table, seed)

    def begin(self) -> None:
        """Ask for the first group."""
        self._next_group()

    def idle_area(self) -> float:
        """Integral over time of the environments that wait for admission."""
        return self._area + (self.idle + self._paced) * (self._clock.now - self._since)

    def _draw(self, table: Table, seed: int) -> None:
        work, host, judging = table.workload, table.hosts, table.judging
        spreads = (work.turns, work.prompt, work.response, work.observation, host.step, host.reset, judging.seconds)
        streams = [stream(spread, [seed, number]) for number, spread in enumerate(spreads)]
        self._turns, self._prompt, self._response, self._observation = streams[:4]
        self._step, self._reset, self._verdict = streams[4:]
        self._verify = stream(host.verify, [seed, 9])
        self._hangs, self._aborts = chances(host.hang, [seed, 7]), chances(host.abort, [seed, 8])

    # --- jobs ---------------------------------------------------------------------------------------------------

    def _next_group(self, _: None = None) -> None:
        if self._by_turn:
            self._put(Group(1, None))
        else:
            size = self._work.group_size
            self._admission.request(size, lambda ticket: self._clock.after(0.0, self._put, Group(size, ticket)))

    def _put(self, group: Group) -> None:
        self._unqueued, self._left = group, group.size
        self._fill()

    def _fill(self) -> None:
        """Put the group's episodes into the queue as far as it has room; then ask for the next group."""
        if self._unqueued is None:
            return
        while self._left and len(self._jobs) < self._environments:
            self._left -= 1
            self._jobs.append(self._unqueued)
        if not self._left:
            self._unqueued = None
            self._clock.after(0.0, self._next_group)
        self._take()

    def _take(self) -> None:
        while self.idle and self._jobs:
            self._occupy(1)
            self._start(self._jobs.popleft(), 0)
            self._fill()

    def _occupy(self, environments: int) -> None:
        """So many idle environments have a job from now on."""
        self._count()
        self.idle -= environments

    def _count(self) -> None:
        now = self._clock.now
        self._area += (self.idle + self._paced) * (now - self._since)
        self._since = now

    # --- an episode ---------------------------------------------------------------------------------------------

    def _start(self, group: Group, attempt: int) -> None:
        episode = Episode(group, attempt, max(1, round(self._turns())), self._prompt())
        self._hosts.submit(self._reset(), self._host.reset_load, self._turn, episode)

    def _turn(self, episode: Episode) -> None:
        if self._by_turn:
            self._pace(1)
            self._admission.request(1, lambda ticket: self._clock.after(0.0, self._admitted, (episode, ticket)))
        else:
            self._generate(episode)

    def _admitted(self, pair: tuple[Episode, Ticket]) -> None:
        episode, ticket = pair
        episode.ticket = ticket
        episode.version = None
        self._pace(-1)
        self._generate(episode)

    def _pace(self, environments: int) -> None:
        """So many more environments wait for admission in the middle of an episode."""
        self._count()
        self._paced += environments

    def _generate(self, episode: Episode) -> None:
        episode.response = max(1.0, self._response())
        new = episode.context - self._work.prefix_hit * episode.read
        request = Request(
            episode,
            new=new,
            context=episode.context,
            response=episode.response,
            begun=self._begun,
            done=self._answered,
        )
        self._fleet.submit(request)

    def _begun(self, episode: Episode) -> None:
        if episode.version is None:
            episode.version = self.version

    def _answered(self, episode: Episode) -> None:
        self.turns += 1
        self.tokens += episode.response
        seconds = self._host.step.most if self._hangs() else self._step()
        if episode.turns == 1:
            seconds += self._verify()
        self._hosts.submit(seconds, self._host.step_load, self._stepped, episode)

    def _stepped(self, episode: Episode) -> None:
        if self._aborts():
            self._abort(episode)
            return
        episode.read = episode.context + episode.response
        episode.context = episode.read + self._observation()
        episode.turns -= 1
        if self._by_turn:
            turn = Episode(episode.group, 0, 0, episode.read)
            turn.version, turn.ticket, episode.ticket = episode.version, episode.ticket, None
            self._judges.submit(self._verdict(), 1.0, self._turn_judged, turn, lambda _: self._go_on(episode))
        else:
            episode.unjudged += 1
            self._judges.submit(self._verdict(), 1.0, self._judged, episode, self._go_on)

    def _go_on(self, episode: Episode) -> None:
        if episode.turns > 0 and episode.context < self._work.context:
            self._turn(episode)
            return
        episode.ended = True
        self._free()
        if not episode.unjudged and not self._by_turn:
            self._finish(episode)

    def _free(self) -> None:
        self._occupy(-1)
        self._take()

    def _abort(self, episode: Episode) -> None:
        self.aborted += 1
        group = episode.group
        if episode.ticket is not None:
            self._admission.let_go(episode.ticket)
        if episode.attempt < self._host.abort_retries:
            self._start(group, episode.attempt + 1)
            return
        self.lost += 1
        if not self._by_turn:
            group.lost += 1
            self._close(group)
        self._free()

    # --- what is accepted ---------------------------------------------------------------------------------------

    def _turn_judged(self, turn: Episode) -> None:
        assert turn.ticket is not None
        assert turn.version is not None
        self._admission.accept(turn.ticket)
        self._accept(Unit(1, turn.context, turn.context, turn.version))

    def _judged(self, episode: Episode) -> None:
        episode.unjudged -= 1
        if episode.ended and not episode.unjudged:
            self._finish(episode)

    def _finish(self, episode: Episode) -> None:
        """Every turn of an ended episode has its verdict."""
        group = episode.group
        assert episode.version is not None
        group.ended += 1
        group.tokens += episode.read
        group.longest = max(group.longest, episode.read)
        group.version = episode.version if group.version is None else min(group.version, episode.version)
        self._close(group)

    def _close(self, group: Group) -> None:
        if group.ended + group.lost < group.size:
            return
        assert group.ticket is not None
        if group.version is None:
            self._admission.let_go(group.ticket)
        else:
            self._admission.accept(group.ticket)
            self._accept(Unit(group.size, group.tokens, group.longest, group.version))

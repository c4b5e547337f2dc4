"""What an episode carries from the engine that ran it to the experience maker, through one number list of OpenRLHF's.

Only what signals need and what is linear in the conversation's length: no messages, prompts, tools or screenshots.
"""

import zlib
from collections.abc import Sequence
from statistics import fmean

import msgspec
import numpy as np

from claw_envs.core.codec import from_bytes, to_bytes
from claw_envs.core.episode import Episode, Status, Turn, Verdict
from trainers.config import Config
from trainers.policies.render import Renderer
from trainers.sequences import Place, lay_out
from trainers.signals import hinted_prompt

KEY = "claw"
"""Of the record among an experience's `info`."""
BLANK = [0, 0]
"""Ids of a row that trains nothing: OpenRLHF's arithmetic needs a token that follows another."""
_WORTHWHILE = 1024  # bytes
_LEVEL = 1


class Hinted(msgspec.Struct, frozen=True, array_like=True):
    """A turn's prompt with the judge's hint: the turn's own prompt, but for where the hint stands.

    That may be early in a long conversation: after the last user message come all answers of tools.
    """

    kept: int
    """How many ids of the turn's own prompt it begins with."""
    other: list[int]
    """What follows those."""
    tail: int
    """How many ids of the turn's own prompt it ends with."""


class Record(msgspec.Struct, kw_only=True, array_like=True):
    """One episode.

    Attributes:
        episode: its turns keep step, response ids and log-probs, verdict and reward.
        places: of each turn's response, as `lay_out` gives them.
        sequences: ids of the sequences after the first, which is OpenRLHF's own row.
        hinted: for each turn its prompt with the hint; None where there is none.
        images: for each sequence, the first included, which of the episode's images stand in it; empty without any.
    """

    episode: Episode
    places: list[Place | None] = []
    sequences: list[list[int]] = []
    hinted: list[Hinted | None] = []
    images: list[list[int]] = []

    def hinted_row(self, turn: int, first: Sequence[int]) -> list[int] | None:
        """Ids of a turn's prompt with the hint and of its response, None where there is no hint.

        Args:
            turn: index into the episode's turns.
            first: ids of the first sequence.
        """
        hinted, place = self.hinted[turn], self.places[turn]
        if hinted is None or place is None:
            return None
        own = self.sequences[place.sequence - 1] if place.sequence else first
        tail = own[place.start - hinted.tail : place.start]
        return [*own[: hinted.kept], *hinted.other, *tail, *self.episode.turns[turn].response_ids]


def record_of(episode: Episode, config: Config, renderer: Renderer) -> tuple[Record, list[int]]:
    """The record of an ended, judged episode, and the ids of its first sequence.

    Args:
        config: names the signal.
        renderer: makes the prompts with hints.
    """
    sequences, places = lay_out(episode.turns)
    light = msgspec.structs.replace(episode, turns=[_light(turn) for turn in episode.turns], report={})
    hinted = [_hinted(turn, config, renderer) for turn in episode.turns]
    first = sequences[0] if sequences else []
    return Record(episode=light, places=places, sequences=sequences[1:], hinted=hinted), first


def reward_of(episode: Episode, *, grouped: bool) -> float | None:
    """For statistics: the outcome, or for turn-level signals the mean score of the turns that have one. None where
    there is none, and for an aborted episode.
    """
    if episode.status is Status.ABORTED:
        return None
    if grouped:
        return None if episode.outcome is None else float(episode.outcome)
    scores = [turn.verdict.score for turn in episode.turns if turn.verdict and turn.verdict.score is not None]
    return fmean(scores) if scores else None


def pack(record: Record) -> list[int]:
    """As whole numbers of 64 bits: the length in bytes, then the bytes."""
    data = to_bytes(record)
    data = b"z" + zlib.compress(data, _LEVEL) if len(data) > _WORTHWHILE else b"-" + data
    words = np.frombuffer(data + bytes(-len(data) % 8), "<i8")
    return [len(data), *words.tolist()]


def unpack(numbers: Sequence[int]) -> Record:
    """Inverse of `pack`.

    Args:
        numbers: what follows the record's own is left out, such as padding.

    Raises:
        msgspec.ValidationError: if they describe no record.
    """
    length, *words = numbers
    data = np.array(words, "<i8").tobytes()[:length]
    return from_bytes(zlib.decompress(data[1:]) if data[:1] == b"z" else data[1:], Record)


def _light(turn: Turn) -> Turn:
    return Turn(
        episode_id=turn.episode_id,
        step=turn.step,
        messages=[],
        response="",
        response_ids=turn.response_ids,
        logprobs=turn.logprobs,
        versions=turn.versions,
        finish_reason=turn.finish_reason,
        reward=turn.reward,
        verdict=turn.verdict and _plain(turn.verdict),
    )


def _plain(verdict: Verdict) -> Verdict:
    """Without the judge's words, of which there are many."""
    return msgspec.structs.replace(verdict, raw=[])


def _hinted(turn: Turn, config: Config, renderer: Renderer) -> Hinted | None:
    ids = hinted_prompt(turn, config, renderer)
    if not ids or not turn.response_ids:
        return None
    kept = _shared(ids, turn.prompt_ids)
    tail = _shared(ids[kept:][::-1], turn.prompt_ids[kept:][::-1])
    return Hinted(kept, ids[kept : len(ids) - tail], tail)


def _shared(ids: list[int], own: list[int]) -> int:
    """How many ids both begin with."""
    pairs = enumerate(zip(ids, own, strict=False))
    return next((i for i, (ours, theirs) in pairs if ours != theirs), min(len(ids), len(own)))

"""What the stages of the pipeline cost: a TOML file of figures, published by others or measured on this machine."""

import math
import tomllib
from pathlib import Path
from typing import Literal

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.core.settings import read_settings

H100 = Path(__file__).with_name("h100-8b.toml")
"""The example: an 8B model on H100 GPUs, put together from published figures."""


class Section(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A table of the TOML file."""


class Spread(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, frozen=True):
    """A lognormal distribution, cut at `most`; with `sigma` 0 a constant."""

    median: float
    sigma: float = 0.0
    """Standard deviation of the logarithm: 0.5 is mild, from 1.5 on the tail dominates the mean."""
    most: float = math.inf
    """Longer draws become this long: a limit on turns or tokens, a time-out."""


class Point(Section):
    """One measurement of an engine in a closed loop: a request that ends is replaced at once."""

    prompt: float
    """Tokens to read before the first is sampled."""
    response: float
    concurrent: int
    """Requests in flight, all the time."""
    tokens_per_second: float
    """Sampled by the whole engine, prompts not counted."""


class Serving(Section, kw_only=True):
    """One engine; the cluster has as many as its serving GPUs allow."""

    gpus: int = 1
    """Of one engine."""
    max_sequences: int
    """Decoded at once."""
    kv_tokens: float
    """Tokens, prompts included, whose keys and values fit the engine's memory."""
    points: list[Point]


class LearnerPoint(Section):
    """Speed of training at one size."""

    gpus: int
    tokens_per_second: float
    """Of each GPU: forward and backward of every token."""


class Learning(Section):
    """The learner."""

    points: list[LearnerPoint]
    """One, or two whose ratio tells how well it scales."""
    passes: float = 1.0
    """Work on a token in units of one forward and backward pass; a reference's forward pass adds a third."""
    fixed_s: float = 0.0
    """Seconds an update takes besides: optimizer step, collecting the batch."""


class Sync(Section):
    """Bringing new weights into the engines."""

    seconds: float
    """While which no engine samples."""
    switch_s: float = 0.0
    """Where serving and learning share GPUs: seconds to hand them over, there and back."""


class Judging(Section, kw_only=True):
    """Who scores the turns."""

    seconds: Spread
    per_gpu: int = 0
    """Verdicts at once on one GPU; 0: judges need no GPU."""
    workers: int = 8
    """Verdicts at once where no GPU is set apart for judges: an endpoint's, or rules in the trainer."""


class Hosts(Section, kw_only=True):
    """The machines that the environments run on."""

    cores_per_gpu: float = 0.0
    """Cores that come with each GPU of the cluster."""
    cores: float = 0.0
    """Cores besides."""
    step: Spread
    """Seconds of a step; `most` is its time-out."""
    step_load: float = 1.0
    """Cores that a step keeps busy while it runs."""
    reset: Spread
    reset_load: float = 1.0
    verify: Spread = Spread(median=0.0)
    """Seconds that the last step of an episode takes besides, for the verdict; its load is a step's."""
    hang: float = 0.0
    """Share of steps that run into the time-out whatever they would have taken."""
    abort: float = 0.0
    """Share of steps at which the infrastructure fails: the episode is aborted and tried again."""
    abort_retries: int = 2


class Workload(Section, kw_only=True):
    """What the agent does."""

    sample: Literal["episode", "turn"] = "episode"
    """What is admitted and trained: episodes in groups (step-index advantages), or single turns."""
    group_size: int = 1
    """Episodes of one task that are trained together; turns are trained alone."""
    turns: Spread
    prompt: Spread
    """Tokens before the first turn."""
    response: Spread
    observation: Spread
    """Tokens that the environment answers with."""
    context: float = math.inf
    """Tokens that end an episode once they are reached; it is trained nevertheless."""
    prefix_hit: float = 0.0
    """Share of earlier turns' tokens that the engine still has: the rest is read again at each turn."""


class Table(Section, kw_only=True):
    """Everything that the simulation knows about a cluster, but for its size."""

    title: str
    origin: Literal["published", "measured"]
    """Whether somebody else says so or this machine was measured."""
    sources: list[str] = []
    serving: Serving
    learning: Learning
    sync: Sync
    judging: Judging
    hosts: Hosts
    workload: Workload


def read_table(path: Path) -> Table:
    """
    Raises:
        UserError: naming the file and what is wrong with it.
    """
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such table") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not valid TOML: {error}") from None
    table = read_settings(given, Table, said=str(path))
    for name, share in (("hang", table.hosts.hang), ("abort", table.hosts.abort)):
        if not 0 <= share < 1:
            raise UserError(f"{path}: hosts.{name} is a share from 0 to below 1, not {share}")
    if not table.serving.points or not table.learning.points:
        raise UserError(f"{path}: serving.points and learning.points need at least one entry each")
    if table.serving.max_sequences < 1 or table.workload.group_size < 1:
        raise UserError(f"{path}: serving.max_sequences and workload.group_size must be at least 1")
    return table

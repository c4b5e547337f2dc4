"""A run's settings: defaults, a TOML file, then `--set section.key=value`. Unknown keys are errors that name them."""

import tomllib
from pathlib import Path
from typing import Any, Literal

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.core.settings import read_settings

Signal = Literal["binary", "opd", "combined", "step_index", "grpo", "rloo", "reinforce_baseline"]
GROUPED = ("step_index", "grpo", "rloo", "reinforce_baseline")
"""Signals whose sample is an episode compared with others of its group; for the rest a sample is one turn."""


class Section(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A table of the TOML file."""


class Generation(Section):
    """How training responses are sampled. Log-probs train at the temperature they were sampled at."""

    max_new_tokens: int = 64
    temperature: float = 1.0


class Rollout(Section):
    """How much is in flight."""

    parallel: int = 16
    """Episodes at once."""
    group_size: int = 4
    """Attempts at one task, for grouped signals."""
    max_staleness: int = 1
    """Updates that may pass between sampling a token and training it."""
    abort_retries: int = 2


class JudgeConfig(Section):
    """Who reads the next states."""

    kind: Literal["rules", "prm"] = "rules"
    base_url: str = ""
    """OpenAI-compatible endpoint, for `prm` (which asks the hint judge too)."""
    model: str = ""
    votes: int = 3
    process_weight: float = 1.0
    """Weight of the per-step score beside the outcome, for grouped signals; 0 is outcome only."""
    workers: int = 8


class Weights(Section):
    """Of the combined signal, and how the distilled one is kept in bounds."""

    binary: float = 1.0
    opd: float = 1.0
    opd_baseline: bool = True
    """Add the divergence at each position, which takes the mean out of the distilled advantage."""
    opd_clip: float = 0.0
    """Bound on a single token's distilled advantage; 0 is none."""


class Optim(Section):
    """AdamW."""

    lr: float = 1e-5
    weight_decay: float = 0.0
    beta1: float = 0.9
    beta2: float = 0.95
    max_grad_norm: float = 1.0
    epochs: int = 1
    """Passes over a batch."""
    minibatches: int = 1
    """Optimizer steps a pass."""
    microbatch: int = 4
    """Sequences in memory at once."""
    warmup_steps: int = 0


class Loss(Section):
    """PPO."""

    clip_low: float = 0.2
    clip_high: float = 0.28
    dual_clip: float | None = None
    kl_coef: float = 0.01
    importance_cap: float | None = None
    """Truncated importance correction of stale tokens, None for none."""
    aggregation: Literal["token", "sequence"] = "token"


class Lora(Section):
    """Rank 0 trains all weights."""

    rank: int = 0
    alpha: int = 16
    targets: Literal["all-linear"] = "all-linear"


class Evaluation(Section):
    """What scores the policy during the run; the trainer knows it by name only."""

    function: str = ""
    """`module:function` of `async (policy, *, reference=None, **options) -> dict[str, float]`; empty for none."""
    every: int = 8
    options: dict[str, Any] = {}


class Checkpoint(Section):
    """When weights and optimizer go to disk. A restart repeats the updates since, with the same samples."""

    every: int = 4
    keep: int = 2


class Cluster(Section):
    """Training on many machines: the trainer `openrlhf` reads it, the bundled one does not."""

    cpu: bool = False
    """Run without any GPU, for tests and trials: Ray is told of GPUs that are not there. Refused where CUDA is."""
    context: int = 4096
    """Most tokens of a sequence: prompt, responses and what the environment said between them."""
    env_actors: int = 0
    """Ray actors that hold the environments, spread over the nodes; 0 keeps them in the processes of the engines."""
    env_cpus: float = 1.0
    """Cores that Ray reserves for each of them."""
    env_servers: list[str] = []
    """URLs of `claw serve envs` that hold the environments instead."""
    teacher: str = ""
    """Engine that scores hinted responses (`sglang+http://…`, `vllm+http://…`); empty: the weights `teacher` names."""
    dump: bool = False
    """Keep every batch with its advantages in the run directory, as it goes to the learner."""
    flags: dict[str, Any] = {}
    """OpenRLHF's own flags over what follows from the other sections, by their names: `vllm.num_engines = 4`."""


class Config(Section):
    """One training run."""

    family: str = "chat"
    model: str = "smollm2"
    signal: Signal = "combined"
    teacher: Literal["reference", "current"] = "reference"
    """Which weights read the hint: the initial ones or the policy's own."""
    updates: int = 16
    """0 scores the initial weights and ends."""
    batch_size: int = 16
    """Samples an update: turns, or for grouped signals episodes."""
    seed: int = 0
    threads: int = 2
    """Cores for one operation; serving and learning take turns on them."""
    device: str = "cpu"
    """Torch device of the policy and the learner."""
    env: dict[str, Any] = {}
    """Arguments of the environment's constructor."""
    generation: Generation = msgspec.field(default_factory=Generation)
    rollout: Rollout = msgspec.field(default_factory=Rollout)
    judge: JudgeConfig = msgspec.field(default_factory=JudgeConfig)
    weights: Weights = msgspec.field(default_factory=Weights)
    optim: Optim = msgspec.field(default_factory=Optim)
    loss: Loss = msgspec.field(default_factory=Loss)
    lora: Lora = msgspec.field(default_factory=Lora)
    eval: Evaluation = msgspec.field(default_factory=Evaluation)
    checkpoint: Checkpoint = msgspec.field(default_factory=Checkpoint)
    cluster: Cluster = msgspec.field(default_factory=Cluster)
    arguments: list[str] = []
    """What stood behind `--` on the command line, for a trainer that passes it on."""

    @property
    def grouped(self) -> bool:
        """Whether a sample is a whole episode."""
        return self.signal in GROUPED


def load_config(family: str | None, file: Path | None, overrides: dict[str, str]) -> Config:
    """
    Args:
        family: overrides the file's.
        file: TOML, None for the defaults.
        overrides: dotted key -> value as TOML (a bare word is a string).

    Raises:
        UserError: naming the file and the key that is wrong.
    """
    data = _read(file) if file else {}
    if family:
        data["family"] = family
    for key, text in overrides.items():
        *tables, last = key.split(".")
        table = data
        for name in tables:
            table = table.setdefault(name, {})
            if not isinstance(table, dict):
                raise UserError(f"--set {key}: {name} is not a table")
        table[last] = _value(text)
    config = read_settings(data, Config, said=str(file or "settings"))
    _check(config)
    return config


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text())
    except FileNotFoundError:
        raise UserError(f"{file}: no such file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: not valid TOML: {error}") from None


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _check(config: Config) -> None:
    positive = {
        "batch_size": config.batch_size,
        "threads": config.threads,
        "rollout.parallel": config.rollout.parallel,
        "rollout.group_size": config.rollout.group_size,
        "judge.workers": config.judge.workers,
        "optim.epochs": config.optim.epochs,
        "optim.minibatches": config.optim.minibatches,
        "optim.microbatch": config.optim.microbatch,
        "generation.max_new_tokens": config.generation.max_new_tokens,
        "eval.every": config.eval.every,
        "checkpoint.every": config.checkpoint.every,
        "checkpoint.keep": config.checkpoint.keep,
    }
    for key, number in positive.items():
        if number < 1:
            raise UserError(f"{key} must be at least 1, got {number}")
    if config.generation.temperature <= 0:
        raise UserError("generation.temperature must be above 0: a greedy policy gives no gradient")
    natural = {
        "updates": config.updates,
        "rollout.max_staleness": config.rollout.max_staleness,
        "rollout.abort_retries": config.rollout.abort_retries,
        "lora.rank": config.lora.rank,
    }
    for key, number in natural.items():
        if number < 0:
            raise UserError(f"{key} must be at least 0, got {number}")
    if config.grouped and config.batch_size % config.rollout.group_size:
        raise UserError(
            f"batch_size {config.batch_size} must be a multiple of rollout.group_size {config.rollout.group_size}"
        )
    if config.loss.kl_coef < 0:
        raise UserError(f"loss.kl_coef must be at least 0, got {config.loss.kl_coef}")
    if config.loss.importance_cap is not None and config.loss.importance_cap <= 0:
        raise UserError(f"loss.importance_cap must be above 0, got {config.loss.importance_cap}")
    if config.judge.kind == "prm" and not (config.judge.base_url and config.judge.model):
        raise UserError("judge.kind prm needs judge.base_url and judge.model, an OpenAI-compatible endpoint")

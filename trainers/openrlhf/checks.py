"""Whether a run's settings and flags fit together, where OpenRLHF would say so late, or not at all.

Not covered: whether a flag exists and what it takes, which its own parser says.
"""

from typing import Any

from claw_envs.core.errors import UserError
from claw_envs.gui.osworld.machines.file import SUFFIXES
from trainers.config import Config
from trainers.policies.engines.addresses import read_address

Flags = dict[str, Any]
"""Name without dashes -> True for a bare flag, a value, or a list of values."""

_COUNTS = (
    "actor.num_nodes",
    "actor.num_gpus_per_node",
    "ref.num_nodes",
    "ref.num_gpus_per_node",
    "vllm.num_engines",
    "vllm.tensor_parallel_size",
    "rollout.batch_size",
    "rollout.micro_batch_size",
    "train.batch_size",
    "train.micro_batch_size",
    "train.max_epochs",
    "train.async_queue_size",
    "ds.ring_attn_size",
    "ds.tensor_parallel_size",
)
"""Flags that no run works without at least 1 of."""


def number(flags: Flags, key: str) -> int:
    """A whole number among the flags; 0 where it is not there.

    Raises:
        UserError: if it is none.
    """
    try:
        return int(flags.get(key, 0))
    except (TypeError, ValueError):
        raise UserError(f"--{key}: a whole number is needed, got {flags[key]!r}") from None


def check_settings(config: Config) -> None:
    """What the settings alone tell.

    Raises:
        UserError: the first of what does not fit.
    """
    if config.updates < 1:
        raise UserError("updates must be at least 1: OpenRLHF does not score a model without training it")
    if config.batch_size % (config.rollout.group_size * config.optim.minibatches):
        raise UserError(
            f"batch_size {config.batch_size} must be a multiple of rollout.group_size x optim.minibatches, "
            f"{config.rollout.group_size} x {config.optim.minibatches}"
        )
    if config.eval.function:
        raise UserError("eval.function: not with OpenRLHF; leave it out and score a checkpoint with claw eval")
    if config.cluster.context <= config.generation.max_new_tokens:
        raise UserError(
            f"cluster.context {config.cluster.context} must be above generation.max_new_tokens "
            f"{config.generation.max_new_tokens}: it holds the prompt and all turns"
        )
    _check_teacher(config)
    actors, parallel = config.cluster.env_actors, config.rollout.parallel
    if actors and config.cluster.env_servers:
        raise UserError("cluster.env_actors and cluster.env_servers: environments live in one or the other, give one")
    if not 0 <= actors <= parallel:
        raise UserError(f"cluster.env_actors must be 0 to rollout.parallel, {parallel}, got {actors}")


def check_flags(config: Config, flags: Flags) -> None:
    """What all flags tell: it would come up as a hang or a bare assertion in one of many processes.

    Raises:
        UserError: the first of what does not fit.
    """
    for key in _COUNTS:
        if key in flags and number(flags, key) < 1:
            raise UserError(f"--{key} must be at least 1, got {flags[key]}")
    _check_batches(flags)
    _check_sharing(flags)
    if config.lora.rank and number(flags, "ds.zero_stage") == 3:
        raise UserError("lora.rank and ds.zero_stage 3: adapters are merged for the engines up to stage 2; take 2")
    images = number(flags, "data.max_images_per_prompt")
    if config.cluster.teacher and config.signal in ("opd", "combined") and images:
        raise UserError("cluster.teacher is shown no images: leave it empty, so that the model reads the hints")
    lenders = len(config.cluster.env_servers) or config.cluster.env_actors or number(flags, "vllm.num_engines")
    if lenders > 1 and "server" not in config.env and _lists(config.env.get("machines")):
        raise UserError(
            f"[env] machines that are listed must be lent by one process, and here {lenders} have environments, which "
            "would lend a machine twice: set cluster.env_actors = 1, or give one of cluster.env_servers"
        )


def _check_teacher(config: Config) -> None:
    if config.signal not in ("opd", "combined"):
        return
    if config.weights.opd_baseline:
        raise UserError("weights.opd_baseline needs whole distributions, which OpenRLHF does not keep: set it to false")
    if config.teacher == "reference" and not config.cluster.teacher and config.loss.kl_coef <= 0:
        raise UserError(
            'teacher = "reference" needs a reference model: set loss.kl_coef above 0, or teacher = "current", '
            "or cluster.teacher"
        )
    if config.cluster.teacher:
        read_address(config.cluster.teacher)
    if config.cluster.teacher and config.generation.temperature != 1:
        raise UserError(
            f"cluster.teacher scores at temperature 1 and the run samples at {config.generation.temperature:g}: "
            "set generation.temperature to 1, or leave cluster.teacher empty"
        )


def _check_batches(flags: Flags) -> None:
    shards = number(flags, "actor.num_nodes") * number(flags, "actor.num_gpus_per_node")
    for key in ("ds.ring_attn_size", "ds.tensor_parallel_size"):
        shards //= number(flags, key) or 1
    batch, micro = number(flags, "train.batch_size"), number(flags, "train.micro_batch_size")
    if shards < 1:
        raise UserError("ds.ring_attn_size x ds.tensor_parallel_size are more processes than the actor has GPUs")
    if batch % (shards * micro):
        raise UserError(
            f"an optimizer step has {batch} samples (batch_size / optim.minibatches, or train.batch_size), which must "
            f"be a multiple of the actor's {shards} shards x {micro} (optim.microbatch, or train.micro_batch_size)"
        )
    if flags.get("train.dynamic_batch_enable"):
        raise UserError(
            "--train.dynamic_batch_enable: OpenRLHF then trains no more rows than an update has samples, and episodes "
            "whose history is rewritten have more: leave it out"
        )
    samples = number(flags, "rollout.batch_size") * number(flags, "rollout.n_samples_per_prompt")
    if samples % batch:
        raise UserError(f"an update has {samples} samples, which must be a multiple of train.batch_size {batch}")


def _check_sharing(flags: Flags) -> None:
    alike = all(
        number(flags, f"actor.{key}") == number(flags, f"ref.{key}") for key in ("num_nodes", "num_gpus_per_node")
    )
    together = bool(flags.get("train.colocate_all"))
    shared = together or bool(flags.get("train.colocate_actor_ref"))
    if float(flags["algo.kl.init_coef"]) > 0 and shared and not alike:
        raise UserError(
            "the reference model shares the actor's GPUs: give ref.num_nodes and ref.num_gpus_per_node as the actor's, "
            "or train.colocate_actor_ref = false"
        )
    actor = number(flags, "actor.num_nodes") * number(flags, "actor.num_gpus_per_node")
    engines = number(flags, "vllm.num_engines") * number(flags, "vllm.tensor_parallel_size")
    if together and not flags.get("train.async_enable") and actor != engines:
        raise UserError(
            f"train.colocate_all: the engines have {engines} GPUs and the actor {actor}, which must be the same: "
            "set vllm.num_engines x vllm.tensor_parallel_size to the actor's"
        )


def _lists(machines: object) -> bool:
    """Whether `[env] machines` are addresses, and not made anew by an engine or the user's own provider."""
    return bool(machines) and (not isinstance(machines, str) or "://" in machines or machines.endswith(SUFFIXES))

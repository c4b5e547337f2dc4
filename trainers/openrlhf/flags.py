"""A run's settings as OpenRLHF's own flags.

Later ones win: what follows from the sections of the settings, `[cluster.flags]`, what stood behind `--`. Flags that
this package's own machinery relies on cannot be set so. Whether a flag exists, and its type, is for OpenRLHF's parser
to say.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from claw_envs.core.errors import UserError
from trainers.config import Config
from trainers.openrlhf.checks import Flags, check_flags, check_settings, number

AGENT = Path(__file__).with_name("agent.py")
"""What each engine loads to run episodes."""

_OWNED = {
    "train.agent_func_path": "",
    "train.num_episodes": "updates",
    "train.seed": "seed",
    "data.prompt_dataset": "env.tasks",
    "data.prompt_probs": "",
    "data.input_key": "",
    "data.label_key": "",
    "data.input_template": "",
    "data.apply_chat_template": "",
    "data.max_len": "cluster.context",
    "data.max_samples": "updates",
    "data.max_images_per_prompt": "env.images",
    "algo.advantage.estimator": "signal",
    "algo.advantage.gamma": "signal",
    "algo.advantage.lambd": "signal",
    "algo.advantage.no_std_norm": "signal",
    "algo.kl.init_coef": "loss.kl_coef",
    "algo.kl.use_loss": "loss.kl_coef",
    "rollout.n_samples_per_prompt": "rollout.group_size",
    "rollout.max_new_tokens": "generation.max_new_tokens",
    "rollout.temperature": "generation.temperature",
    "rollout.top_p": "",
    "actor.loss_agg_mode": "loss.aggregation",
    "actor.model_name_or_path": "model",
    "critic.model_name_or_path": "",
    "reward.model_name_or_path": "judge",
    "reward.remote_url": "judge",
    "reward.clip_range": "signal",
    "reward.overlong_buffer_len": "signal",
    "reward.overlong_penalty_factor": "signal",
    "reward.stop_properly_penalty_coef": "signal",
    "eval.dataset": "",
    "ckpt.path": "",
    "ckpt.load_enable": "",
}
"""What our machinery relies on, and the setting that says it instead, where there is one."""


def flags_of(config: Config, run: Path, *, model: Path | str, resume: bool) -> Flags:
    """Every flag of the run.

    Args:
        run: directory of the run.
        model: what `resolve_model` found.
        resume: go on from the last checkpoint.

    Raises:
        UserError: for settings that cannot work together, or a flag that may not be set.
    """
    if set(",@") & set(str(run.resolve())):
        raise UserError(f"--run {run}: OpenRLHF cannot read a path with a comma or an @, give another")
    check_settings(config)
    overriding = _overriding(config)
    _refuse_owned(overriding)
    flags = _own(config, run.resolve(), model=model, resume=resume) | overriding
    for key in ("num_nodes", "num_gpus_per_node"):
        flags.setdefault(f"ref.{key}", flags[f"actor.{key}"])
    check_flags(config, flags)
    return flags


def command_line(flags: Flags) -> list[str]:
    """The flags as words. A flag that is False is left out."""
    words: list[str] = []
    for key, value in flags.items():
        if value is False:
            continue
        words.append(f"--{key}")
        if value is not True:
            words += map(str, value) if isinstance(value, list) else [str(value)]
    return words


def gpus(flags: Flags) -> dict[str, int]:
    """GPUs that each role holds; one that shares those of the actor has 0."""
    nodes, each = number(flags, "actor.num_nodes"), number(flags, "actor.num_gpus_per_node")
    engines = number(flags, "vllm.num_engines") * number(flags, "vllm.tensor_parallel_size")
    together = bool(flags.get("train.colocate_all"))
    roles = {"actor": nodes * each, "engines": 0 if together and not flags.get("train.async_enable") else engines}
    if float(flags["algo.kl.init_coef"]) > 0:
        shared = together or bool(flags.get("train.colocate_actor_ref"))
        roles["reference"] = 0 if shared else number(flags, "ref.num_nodes") * number(flags, "ref.num_gpus_per_node")
    return roles


def engines(config: Config) -> int:
    """How many engines the run has."""
    return number({"vllm.num_engines": 1} | _overriding(config), "vllm.num_engines")


def share(total: int, config: Config) -> int:
    """One engine's part of what the whole run has at once, rounded up."""
    return -(-total // engines(config))


def prompt_count(config: Config, flags: Flags) -> int:
    """How many task ids the whole run draws."""
    return config.updates * number(flags, "rollout.batch_size")


def _overriding(config: Config) -> Flags:
    return _flattened(config.cluster.flags) | _parsed(config.arguments)


def _own(config: Config, run: Path, *, model: Path | str, resume: bool) -> Flags:
    """What follows from the sections."""
    optim, loss, cluster = config.optim, config.loss, config.cluster
    flags: Flags = {
        "actor.model_name_or_path": model,
        "actor.num_nodes": 1,
        "actor.num_gpus_per_node": 1,
        "vllm.num_engines": 1,
        "vllm.tensor_parallel_size": 1,
        "train.agent_func_path": AGENT,
        "train.seed": config.seed,
        "train.num_episodes": 1,
        "train.max_epochs": optim.epochs,
        "train.batch_size": config.batch_size // optim.minibatches,
        "train.micro_batch_size": optim.microbatch,
        "rollout.batch_size": config.batch_size // config.rollout.group_size,
        "rollout.n_samples_per_prompt": config.rollout.group_size,
        "rollout.micro_batch_size": optim.microbatch,
        "rollout.max_new_tokens": config.generation.max_new_tokens,
        "rollout.temperature": config.generation.temperature,
        "data.prompt_dataset": run / "prompts.jsonl",
        "data.label_key": "label",
        "data.max_len": cluster.context,
        "algo.advantage.estimator": "reinforce",
        "algo.kl.init_coef": loss.kl_coef,
        "actor.adam.lr": optim.lr,
        "actor.adam.betas": [optim.beta1, optim.beta2],
        "actor.adam.weight_decay": optim.weight_decay,
        "actor.max_norm": optim.max_grad_norm,
        "actor.lr_scheduler": "constant_with_warmup",
        "actor.lr_warmup_ratio": optim.warmup_steps / (config.updates * optim.minibatches * optim.epochs),
        "actor.eps_clip_low_high": [loss.clip_low, loss.clip_high],
        "actor.loss_agg_mode": "token-mean" if loss.aggregation == "token" else "seq-mean-token-mean",
        "ds.zero_stage": 2,
        "ckpt.path": run / "checkpoints",
        "ckpt.output_dir": run / "model",
        "ckpt.save_steps": config.checkpoint.every,
        "ckpt.max_num": config.checkpoint.keep,
        "ckpt.load_enable": resume,
        "logger.tensorboard_dir": run / "tensorboard",
    }
    if loss.dual_clip is not None:
        flags["actor.dual_clip"] = loss.dual_clip
    if loss.kl_coef > 0:
        flags |= {"algo.kl.use_loss": True, "algo.kl.estimator": "k3", "train.colocate_actor_ref": True}
    if loss.importance_cap is not None:
        flags |= {
            "algo.advantage.is_correction_level": "token",
            "algo.advantage.is_correction_mode": "clip",
            "algo.advantage.is_correction_threshold": [0, loss.importance_cap],
        }
    if config.rollout.max_staleness:
        flags |= {"train.async_enable": True, "train.async_queue_size": config.rollout.max_staleness}
    if config.lora.rank:
        flags |= {"ds.lora.rank": config.lora.rank, "ds.lora.alpha": config.lora.alpha}
    if config.env.get("images") and _sees(model):
        flags["data.max_images_per_prompt"] = config.env["images"]
    if cluster.cpu:
        flags |= {"vllm.sync_backend": "gloo", "vllm.enforce_eager": True, "ds.attn_implementation": "sdpa"}
    return flags


def _sees(model: Path | str) -> bool:
    """Whether OpenRLHF will take it for a vision-language model. One on the hub, unseen, counts as one."""
    file = Path(model) / "config.json"
    return not file.exists() or '"vision_config"' in file.read_text()


def _flattened(table: Mapping[str, Any], before: str = "") -> Flags:
    """Nested TOML tables as dotted names."""
    flags: Flags = {}
    for key, value in table.items():
        flags |= _flattened(value, f"{before}{key}.") if isinstance(value, dict) else {f"{before}{key}": value}
    return flags


def _parsed(words: list[str]) -> Flags:
    """What stood behind `--`: each flag with the words up to the next one."""
    flags: Flags = {}
    key = ""
    for word in words:
        if word.startswith("--"):
            key, equals, value = word.removeprefix("--").partition("=")
            flags[key] = [value] if equals else []
        elif not key:
            raise UserError(f"-- {word}: OpenRLHF's flags begin with --, as in -- --vllm.num_engines 4")
        else:
            flags[key].append(word)
    return {key: True if not values else values if len(values) > 1 else values[0] for key, values in flags.items()}


def _refuse_owned(flags: Flags) -> None:
    for key in flags:
        if key in _OWNED:
            instead = f": use the setting {_OWNED[key]}" if _OWNED[key] else " here: the run sets it"
            raise UserError(f"--{key} cannot be given{instead}")

"""What `claw train --dry-run` says of the bundled trainer: everything named in the settings is found, nothing is run.

Not covered: whether the model fits into memory, whether an endpoint answers, and whether a sandbox starts.
"""

import asyncio

from claw_envs.core.env import ClawEnv
from claw_envs.lookup import lookup
from trainers import checkpoints
from trainers.config import Config
from trainers.plugins import close_judge, make_env, make_judge
from trainers.policies.model import resolve_model
from trainers.run import RunDirectory


def preview(config: Config, directory: RunDirectory) -> str:
    """Make one environment and the judge, find model and evaluation, and say what a run would do.

    Nothing is written but the embedded model, which is converted into the cache once.

    Raises:
        UserError: for settings that cannot work, as the run itself would complain.
    """
    if config.eval.function:
        lookup(config.eval.function, extra="train")
    asyncio.run(close_judge(make_judge(config.judge)))
    model = resolve_model(config.model)
    env = make_env(config)
    asyncio.run(env.aclose())
    rows = {
        "environment": _environment(config, env),
        "model": f"{model} on {config.device}, {_weights(config)}",
        "signal": f"{config.signal}, judge {_judge(config)}",
        "update": _update(config),
        "roll-out": (
            f"{config.rollout.parallel} episodes at once, up to {config.generation.max_new_tokens} tokens a turn at "
            f"temperature {config.generation.temperature:g}, staleness up to {config.rollout.max_staleness}"
        ),
        "scoring": f"{config.eval.function}, each {config.eval.every} updates" if config.eval.function else "none",
        "run": f"{directory.root}, {_progress(config, directory)}",
    }
    lines = [f"{name:<12} {text}" for name, text in rows.items()]
    return "\n".join([*lines, "Nothing was run. Without --dry-run this trains."])


def _environment(config: Config, env: ClawEnv) -> str:
    settings = ", ".join(f"{key}={value}" for key, value in config.env.items()) or "all settings at their defaults"
    return f"{config.family}, {len(env.tasks)} tasks ({settings})"


def _weights(config: Config) -> str:
    rank = config.lora.rank
    return f"LoRA of rank {rank}" if rank else "all weights trained"


def _judge(config: Config) -> str:
    judge = config.judge
    return "by rules" if judge.kind == "rules" else f"{judge.model} at {judge.base_url}, {judge.votes} votes"


def _update(config: Config) -> str:
    size, group, optim = config.batch_size, config.rollout.group_size, config.optim
    samples = f"{size} episodes: {size // group} tasks, {group} attempts each" if config.grouped else f"{size} turns"
    return f"{samples}; optimizer steps: {optim.epochs * optim.minibatches}, lr {optim.lr:g}"


def _progress(config: Config, directory: RunDirectory) -> str:
    saved = checkpoints.complete(directory.checkpoints)
    return f"{config.updates} updates" + (f", going on from {saved[-1].name}" if saved else ", from the first one")

"""What a run would do, in words: for `--dry-run`."""

import shlex
from pathlib import Path

from trainers.config import Config
from trainers.openrlhf.checks import Flags, number
from trainers.openrlhf.flags import command_line, engines, gpus, prompt_count, share


def describe(config: Config, flags: Flags, ids: list[str], warnings: list[str], run: Path) -> str:
    """What runs where, how much of it, the command line and OpenRLHF's warnings: a line each.

    Args:
        flags: of the run.
        ids: tasks that the environments hold.
        warnings: what OpenRLHF said about the flags.
        run: directory of the run.
    """
    prompts, attempts = number(flags, "rollout.batch_size"), number(flags, "rollout.n_samples_per_prompt")
    steps = prompts * attempts // number(flags, "train.batch_size") * number(flags, "train.max_epochs")
    ahead = number({"train.async_queue_size": 1} | flags, "train.async_queue_size")
    rows = {
        "run": f"{run.resolve()}, {_progress(flags, run)}",
        "model": flags["actor.model_name_or_path"],
        "gpus": _gpus(config, flags),
        "mode": f"asynchronous, up to {_count(ahead, 'batch', 'batches')} ahead"
        if flags.get("train.async_enable")
        else "in turns: roll out, then learn",
        "signal": config.signal,
        "judge": _judge(config),
        "teacher": _teacher(config),
        "batch": f"{_count(prompts, 'prompt')} x {_count(attempts, 'attempt')}, {_count(steps, 'optimizer step')}",
        "updates": f"{config.updates}, with {_count(prompt_count(config, flags), 'prompt')} "
        f"from {_count(len(ids), f'{config.family} task')}",
        "tokens": f"up to {number(flags, 'rollout.max_new_tokens')} a turn, {number(flags, 'data.max_len')} a sequence",
        "environments": _environments(config),
        "flags": shlex.join(command_line(flags)),
    }
    lines = [f"{name + ':':<14}{value}" for name, value in rows.items() if value]
    lines += [f"{'openrlhf:':<14}{warning}" for warning in warnings]
    return "\n".join([*lines, "Nothing was run. Without --dry-run this trains.\n"])


def _count(number: float, one: str, many: str = "") -> str:
    return f"{number:.15g} {one if number == 1 else many or one + 's'}"


def _progress(flags: Flags, run: Path) -> str:
    if not flags["ckpt.load_enable"]:
        return "new"
    latest = run / "checkpoints" / "_actor" / "latest"
    return f"goes on from {latest.read_text().strip()}" if latest.exists() else "begun again: no checkpoint yet"


def _gpus(config: Config, flags: Flags) -> str:
    roles, shared = gpus(flags), "0 (shares the actor's)"
    per_role = ", ".join(f"{role} {count or shared}" for role, count in roles.items())
    if config.cluster.cpu:
        return f"{sum(roles.values())}: {per_role}; none are needed: cluster.cpu"
    others = ["the judge's"] if config.judge.kind == "prm" else []
    others += ["the teacher's"] if config.cluster.teacher and _teacher(config) else []
    return f"{sum(roles.values())}: {per_role}" + (f"; {' and '.join(others)} are not counted" if others else "")


def _judge(config: Config) -> str:
    judge = config.judge
    if judge.kind == "rules":
        return "by rules"
    return (
        f"model {judge.model} at {judge.base_url}, {_count(judge.votes, 'vote')} a turn, "
        f"up to {_count(share(judge.workers, config), 'turn')} at once for each engine"
    )


def _teacher(config: Config) -> str:
    """Nothing where the signal needs none."""
    if config.signal not in ("opd", "combined"):
        return ""
    own = {"reference": "the reference model, the initial weights", "current": "the actor's current weights"}
    return config.cluster.teacher or own[config.teacher]


def _environments(config: Config) -> str:
    cluster, parallel, each = config.cluster, config.rollout.parallel, share(config.rollout.parallel, config)
    total = each * engines(config)
    said = f"{total} at once" + (f" (rollout.parallel {parallel} rounded up)" if total != parallel else "")
    if cluster.env_servers:
        place = f"on {', '.join(cluster.env_servers)}"
    elif cluster.env_actors:
        place = f"in {_count(cluster.env_actors, 'Ray actor')} with {_count(cluster.env_cpus, 'core')} each"
    else:
        place = "in the engines' processes"
    return f"{said}, {each} for each engine, {place}"

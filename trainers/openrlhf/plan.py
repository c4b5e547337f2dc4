"""What a run would do, in words: for `--dry-run`."""

from trainers.config import Config
from trainers.openrlhf.flags import Flags, gpus, number, prompt_count


def describe(config: Config, flags: Flags, ids: list[str], warnings: list[str]) -> str:
    """A few lines: what runs where, how much of it, and OpenRLHF's warnings.

    Args:
        flags: of the run.
        ids: tasks that the environments hold.
        warnings: what OpenRLHF said about the flags.
    """
    roles = gpus(flags)
    shared = "0 (shares the actor's)"
    per_role = ", ".join(f"{role} {count or shared}" for role, count in roles.items())
    batch, attempts = number(flags, "rollout.batch_size"), number(flags, "rollout.n_samples_per_prompt")
    steps = batch * attempts // number(flags, "train.batch_size") * config.optim.epochs
    mode = f"asynchronous, up to {number(flags, 'train.async_queue_size')} batches ahead"
    rows = {
        "model": flags["actor.model_name_or_path"],
        "gpus": f"{sum(roles.values())}: {per_role}{' (none are needed: cluster.cpu)' if config.cluster.cpu else ''}",
        "mode": mode if flags.get("train.async_enable") else "in turns: roll out, then learn",
        "signal": config.signal,
        "prompts": f"{prompt_count(config, flags)} of {len(ids)} {config.family} tasks",
        "batch": f"{batch} prompts x {attempts} attempts, {steps} optimizer steps, {config.updates} times",
        "tokens": f"up to {number(flags, 'rollout.max_new_tokens')} a turn, {number(flags, 'data.max_len')} a sequence",
        "environments": _place(config),
    }
    lines = [f"{name + ':':<14}{value}" for name, value in rows.items()]
    lines += [f"{'openrlhf:':<14}{warning}" for warning in warnings]
    return "\n".join(lines) + "\n"


def _place(config: Config) -> str:
    cluster = config.cluster
    if cluster.env_servers:
        place = f"on {', '.join(cluster.env_servers)}"
    elif cluster.env_actors:
        place = f"in {cluster.env_actors} Ray actors with {cluster.env_cpus:g} cores each"
    else:
        place = "in the engines' processes"
    return f"{config.rollout.parallel} at once, {place}"

from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from trainers.config import Config, load_config
from trainers.openrlhf.flags import command_line, engines, flags_of, gpus, prompt_count, share

BASE = {"signal": "step_index", "batch_size": "64", "rollout.group_size": "8", "optim.minibatches": "2"}


def _config(*arguments: str, **overrides: str) -> Config:
    config = load_config("toolcall", None, BASE | {key.replace("__", "."): value for key, value in overrides.items()})
    config.arguments = list(arguments)
    return config


def _flags(*arguments: str, resume: bool = False, **overrides: str) -> dict[str, Any]:
    return flags_of(_config(*arguments, **overrides), Path("runs/one"), model="model", resume=resume)


def test_a_batch_is_prompts_times_attempts_and_its_part_an_optimizer_step() -> None:
    flags = _flags(updates="5", optim__epochs="3", optim__warmup_steps="6")
    assert flags["rollout.batch_size"] * flags["rollout.n_samples_per_prompt"] == 64
    assert (flags["train.batch_size"], flags["train.max_epochs"]) == (32, 3)
    assert prompt_count(_config(updates="5"), flags) == 5 * 8
    assert flags["actor.lr_warmup_ratio"] * 5 * 2 * 3 == pytest.approx(6)


def test_a_turn_level_signal_makes_groups_too() -> None:
    flags = _flags(signal="binary", rollout__group_size="1")
    assert (flags["rollout.batch_size"], flags["rollout.n_samples_per_prompt"]) == (64, 1)


def test_the_loss_has_its_reference_only_with_a_coefficient() -> None:
    assert _flags(loss__kl_coef="0.01")["algo.kl.use_loss"] is True
    without = _flags(loss__kl_coef="0.0")
    assert "algo.kl.use_loss" not in without
    assert gpus(without) == {"actor": 1, "engines": 1}


def test_stale_tokens_are_corrected_up_to_the_cap() -> None:
    flags = _flags(loss__importance_cap="2.0")
    assert flags["algo.advantage.is_correction_mode"] == "clip"
    assert flags["algo.advantage.is_correction_threshold"] == [0, 2.0]
    assert "algo.advantage.is_correction_level" not in _flags()


def test_staleness_is_the_queue_of_the_asynchronous_mode() -> None:
    assert _flags(rollout__max_staleness="3")["train.async_queue_size"] == 3
    assert "train.async_enable" not in _flags(rollout__max_staleness="0")


def test_a_model_that_sees_has_room_for_as_many_screenshots_as_it_is_shown(tmp_path: Path) -> None:
    config = load_config("gui", None, BASE | {"env.images": "2"})
    assert flags_of(config, Path("runs/one"), model="hub/model", resume=False)["data.max_images_per_prompt"] == 2
    for written, images in [('{"vision_config": {}}', 2), ("{}", None)]:
        (tmp_path / "config.json").write_text(written)
        flags = flags_of(config, Path("runs/one"), model=tmp_path, resume=False)
        assert flags.get("data.max_images_per_prompt") == images


def test_a_teacher_behind_an_engine_is_shown_no_images() -> None:
    distilled = {"signal": "opd", "weights.opd_baseline": "false", "cluster.teacher": "vllm+http://t#big"}
    config = load_config("gui", None, BASE | distilled | {"env.images": "2"})
    with pytest.raises(UserError, match=r"cluster.teacher is shown no images"):
        flags_of(config, Path("runs/one"), model="hub/model", resume=False)
    config.env["images"] = 0
    flags_of(config, Path("runs/one"), model="hub/model", resume=False)


def test_a_teacher_that_is_no_engine_is_said_before_the_run() -> None:
    distilled = {"signal": "opd", "weights.opd_baseline": "false", "cluster.teacher": "http://t:8000/v1#big"}
    with pytest.raises(UserError, match=r"engines are written KIND\+http"):
        flags_of(load_config("terminal", None, BASE | distilled), Path("runs/one"), model="hub/model", resume=False)


def test_later_ones_win() -> None:
    toml = {"cluster__flags__actor__adam__eps": "1e-6", "cluster__flags__actor__entropy_coef": "0.1"}
    flags = _flags("--actor.entropy_coef", "0.2", "--actor.eps_clip_low_high=0.1", "--ds.overlap_comm", **toml)
    assert flags["actor.adam.eps"] == 1e-6
    assert flags["actor.entropy_coef"] == "0.2"
    assert flags["actor.eps_clip_low_high"] == "0.1"
    assert flags["ds.overlap_comm"] is True


def test_a_command_line_has_bare_flags_lists_and_leaves_out_what_is_off() -> None:
    words = command_line({"a.on": True, "a.off": False, "a.betas": [0.9, 0.95], "a.path": Path("x")})
    assert words == ["--a.on", "--a.betas", "0.9", "0.95", "--a.path", "x"]


def test_negative_numbers_belong_to_their_flag() -> None:
    words = ("--algo.advantage.is_correction_threshold", "-5", "5")
    assert _flags(*words)["algo.advantage.is_correction_threshold"] == ["-5", "5"]


def test_the_reference_model_is_as_large_as_the_actor_and_shares_its_gpus() -> None:
    flags = _flags("--actor.num_gpus_per_node", "4", "--vllm.num_engines", "2", "--vllm.tensor_parallel_size", "2")
    assert flags["ref.num_gpus_per_node"] == "4"
    assert gpus(flags) == {"actor": 4, "engines": 4, "reference": 0}
    assert engines(_config("--vllm.num_engines", "2")) == 2


def test_environments_are_shared_among_the_engines_and_none_is_lost() -> None:
    assert share(16, _config("--vllm.num_engines", "3")) == 6
    assert share(16, _config()) == 16


def test_machines_that_are_listed_belong_to_one_process() -> None:
    def lent(machines: str, *arguments: str, **overrides: str) -> dict[str, Any]:
        return _flags(*arguments, env__machines=machines, **overrides)

    two = ["--vllm.num_engines", "2"]
    for listed in ("vms.toml", "http://a:5000", '[{url = "http://a:5000"}]'):
        lent(listed)
        lent(listed, *two, cluster__env_actors="1")
        with pytest.raises(UserError, match=r"here 2 have environments.*set cluster.env_actors = 1"):
            lent(listed, *two)
        with pytest.raises(UserError, match="here 3 have environments"):
            lent(listed, cluster__env_actors="3")
    with pytest.raises(UserError, match=r"one of cluster.env_servers"):
        lent("vms.toml", cluster__env_servers='["http://a", "http://b"]')
    for made in ("docker", "mine.machines:Provider"):
        lent(made, *two)
    lent("vms.toml", *two, env__server="http://a")


def test_engines_share_the_actors_gpus_only_in_turns() -> None:
    together = {"cluster__flags__train__colocate_all": "true", "loss__kl_coef": "0.0"}
    assert gpus(_flags(rollout__max_staleness="0", **together)) == {"actor": 1, "engines": 0}
    assert gpus(_flags(rollout__max_staleness="1", **together)) == {"actor": 1, "engines": 1}


def test_a_run_resumes_where_it_is_told_to() -> None:
    assert _flags(resume=True)["ckpt.load_enable"] is True
    assert "--ckpt.load_enable" not in command_line(_flags())


@pytest.mark.parametrize(
    ("arguments", "overrides", "message"),
    [
        (["--train.agent_func_path", "x.py"], {}, "train.agent_func_path cannot be given here: the run sets it"),
        (["--rollout.n_samples_per_prompt", "4"], {}, "use the setting rollout.group_size"),
        (["--algo.advantage.gamma", "0.9"], {}, "use the setting signal"),
        (["--reward.clip_range", "-5", "5"], {}, "use the setting signal"),
        (["--rollout.top_p", "0.9"], {}, "cannot be given here"),
        ([], {"cluster.flags.data.max_len": "9"}, "use the setting cluster.context"),
        (["--data.max_images_per_prompt", "2"], {}, "use the setting env.images"),
        (["--algo.kl.init_coef", "0.1"], {}, "use the setting loss.kl_coef"),
        (["--algo.kl.use_loss"], {}, "use the setting loss.kl_coef"),
        (["vllm.num_engines", "4"], {}, "begin with --"),
        (["--train.batch_size", "many"], {}, "a whole number is needed, got 'many'"),
        ([], {"updates": "0"}, "updates must be at least 1"),
        ([], {"optim.minibatches": "3"}, "multiple of rollout.group_size x optim.minibatches, 8 x 3"),
        ([], {"optim.microbatch": "3"}, r"actor's 1 shards x 3 \(optim.microbatch, or train.micro_batch_size\)"),
        (["--train.micro_batch_size", "3"], {}, r"actor's 1 shards x 3 \(optim.microbatch, or train.micro_batch_size"),
        (["--actor.num_gpus_per_node", "3"], {}, "actor's 3 shards"),
        (["--ds.ring_attn_size", "2"], {}, "more processes than the actor has GPUs"),
        (["--vllm.num_engines", "0"], {}, "vllm.num_engines must be at least 1, got 0"),
        ([], {"cluster.flags.vllm.tensor_parallel_size": "0"}, "vllm.tensor_parallel_size must be at least 1, got 0"),
        (["--actor.num_nodes", "0"], {}, "actor.num_nodes must be at least 1, got 0"),
        (["--ref.num_gpus_per_node", "-1"], {}, "ref.num_gpus_per_node must be at least 1, got -1"),
        (["--train.batch_size", "0"], {}, "train.batch_size must be at least 1, got 0"),
        (["--train.micro_batch_size", "0"], {}, "train.micro_batch_size must be at least 1, got 0"),
        (["--rollout.micro_batch_size", "0"], {}, "rollout.micro_batch_size must be at least 1, got 0"),
        (["--train.async_queue_size", "0"], {}, "train.async_queue_size must be at least 1, got 0"),
        (
            ["--train.colocate_all", "--vllm.num_engines", "2"],
            {"rollout.max_staleness": "0"},
            "the engines have 2 GPUs and the actor 1",
        ),
        (
            ["--train.colocate_all", "--ref.num_gpus_per_node", "2"],
            {"cluster.flags.train.colocate_actor_ref": "false"},
            "the reference model shares the actor's GPUs",
        ),
        ([], {"cluster.context": "64"}, "context 64 must be above generation.max_new_tokens 64"),
        ([], {"cluster.env_actors": "17"}, "env_actors must be 0 to rollout.parallel, 16, got 17"),
        ([], {"cluster.env_actors": "-1"}, "env_actors must be 0 to rollout.parallel, 16, got -1"),
        (["--train.batch_size", "24"], {}, "must be a multiple of train.batch_size 24"),
        (["--ref.num_gpus_per_node", "2"], {}, "the reference model shares the actor's GPUs"),
        ([], {"eval.function": "a:b"}, "claw eval"),
        ([], {"signal": "opd"}, "weights.opd_baseline"),
        (
            [],
            {"signal": "combined", "weights.opd_baseline": "false", "loss.kl_coef": "0.0"},
            "set loss.kl_coef above 0",
        ),
        (
            [],
            {"lora.rank": "4", "cluster.flags.ds.zero_stage": "3"},
            "adapters are merged for the engines up to stage 2",
        ),
        ([], {"cluster.env_actors": "2", "cluster.env_servers": '["http://a"]'}, "one or the other"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_do(
    arguments: list[str], overrides: dict[str, str], message: str
) -> None:
    config = load_config("toolcall", None, BASE | overrides)
    config.arguments = arguments
    with pytest.raises(UserError, match=message) as error:
        flags_of(config, Path("runs/one"), model="model", resume=False)
    assert "\n" not in str(error.value)


def test_a_path_that_openrlhf_would_split_is_refused() -> None:
    with pytest.raises(UserError, match="a comma or an @"):
        flags_of(_config(), Path("runs/a,b"), model="model", resume=False)

"""Episodes in OpenRLHF's engine actor, up to the experience that OpenRLHF itself makes of each."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from claw_envs.chat.env import ChatEnv
from claw_envs.core.episode import Observation, Status, Turn, Verdict
from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import Task
from tests.trainers.openrlhf.parts import Broken, LocalEngine, execute, logprobs
from trainers.config import Config
from trainers.openrlhf import executor as module
from trainers.openrlhf.agent import AgentExecutor
from trainers.openrlhf.records import KEY, Record, unpack
from trainers.policies.render import Renderer

Configure = Callable[..., Config]
TASK = "student-wp-002"
CALL = "```python\nprint(6 * 7)\n```"


def engine(tiny: tuple[Any, Any], says: str | None = "Step by step.") -> LocalEngine:
    return LocalEngine(*tiny, says=(lambda ids: says) if says else None)


def one(tiny: tuple[Any, Any], *, task: str = TASK, **options: Any) -> dict[str, Any]:
    return asyncio.run(execute(AgentExecutor(), options.pop("engine", None) or engine(tiny), task, **options))


def record_of(response: dict[str, Any]) -> Record:
    return unpack(response["extra_logs"][KEY])


def experience(response: dict[str, Any], max_len: int = 1024) -> Any:
    from openrlhf.trainer.ppo_utils.samples_generator import SamplesGenerator

    return SamplesGenerator._process_response_into_experience(SimpleNamespace(), response, max_len=max_len)


def use(monkeypatch: pytest.MonkeyPatch, make: Callable[[], Any]) -> None:
    monkeypatch.setattr(module, "make_env", lambda config, like=None: make())


def test_what_was_sampled_is_what_openrlhf_trains(configure: Configure, tiny: tuple[Any, Any]) -> None:
    configure("toolcall", signal="step_index", generation__max_new_tokens=24, env__tools='["python"]')
    local = engine(tiny, CALL)
    response = one(tiny, engine=local, task=_toolcall_task())
    made = experience(response)
    turns = record_of(response).episode.turns
    assert len(turns) > 1
    ids = made.sequences[0].tolist()
    assert local.fed[-1] == ids[: len(local.fed[-1])]
    sampled = [token for turn in turns for token in turn.response_ids]
    assert [ids[1:][c] for c in torch.where(made.action_mask[0])[0].tolist()] == sampled
    assert len(response["action_ranges"]) == len(turns)
    assert "42" in local.tokenizer.decode(ids)  # the interpreter's answer stands between two spans
    own = logprobs(tiny[0], ids)
    mask = made.action_mask[0].bool()
    torch.testing.assert_close(made.rollout_log_probs[0][mask], own[mask], atol=1e-4, rtol=0)
    assert not made.rollout_log_probs[0][~mask].any()


def _toolcall_task() -> str:
    from claw_envs.core.tasksets import load_tasks

    return load_tasks("toolcall", None)[0].id


def test_without_correction_the_engine_is_not_asked_for_log_probs(configure: Configure, tiny: tuple[Any, Any]) -> None:
    configure(signal="binary")
    response = one(tiny, sampling={"logprobs": None})
    assert response["rollout_log_probs"] is None
    assert [turn.logprobs for turn in record_of(response).episode.turns] == [[], [], []]
    assert experience(response).rollout_log_probs is None


def test_attempts_at_a_task_have_seeds_of_their_own_and_the_same_ones_again(
    configure: Configure, tiny: tuple[Any, Any]
) -> None:
    configure(signal="binary")

    async def seeds() -> list[int | None]:
        executor, local = AgentExecutor(), engine(tiny)
        places = [("1", TASK), ("1", TASK), ("2", TASK)]
        answers = await asyncio.gather(*(execute(executor, local, task, label=label) for label, task in places))
        return [record_of(answer).episode.seed for answer in answers]

    first = asyncio.run(seeds())
    assert len(set(first)) == 3
    assert asyncio.run(seeds()) == first


def test_turns_are_judged_while_the_episode_goes_on_and_all_of_them_before_it_is_handed_back(
    configure: Configure, tiny: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(signal="binary")
    last = asyncio.Event()

    class Telling(LocalEngine):
        async def generate(self, ids: list[int], params: Any, multi_modal_data: Any = None) -> Any:
            if len(self.fed) == 2:
                last.set()
            return await super().generate(ids, params)

    local = Telling(*tiny, says=lambda ids: "Step by step.")

    class Late:
        async def judge(self, turn: Turn, history: Sequence[Turn], task: Task) -> Verdict:
            await last.wait()  # the first verdict comes after the last turn was begun
            return Verdict(score=1.0, raw=[f"{len(history)} before, {task.id}"])

    monkeypatch.setattr(module, "make_judge", lambda config: Late())
    response = one(tiny, engine=local)
    assert [turn.verdict.score for turn in record_of(response).episode.turns if turn.verdict] == [1.0, 1.0, 1.0]
    assert response["reward"] == 1.0


@pytest.mark.parametrize(("workers", "engines"), [(1, 1), (2, 2)])
def test_no_more_turns_are_judged_at_once_than_there_are_workers(
    configure: Configure, tiny: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch, workers: int, engines: int
) -> None:
    configure(signal="binary", judge__workers=workers, cluster__flags=f"{{vllm = {{num_engines = {engines}}}}}")
    busy, most = 0, 0

    class Counting:
        async def judge(self, turn: Turn, history: Sequence[Turn], task: Task) -> Verdict:
            nonlocal busy, most
            busy += 1
            most = max(most, busy)
            for _ in range(20):
                await asyncio.sleep(0)
            busy -= 1
            return Verdict(score=1.0)

    monkeypatch.setattr(module, "make_judge", lambda config: Counting())
    one(tiny)
    assert most == 1


def test_an_aborted_episode_is_tried_again_with_another_seed(
    configure: Configure, tiny: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(signal="step_index")
    env = Broken(times=2)
    use(monkeypatch, lambda: env)
    response = one(tiny)
    assert record_of(response).episode.status is Status.TRUNCATED
    assert len(set(env.seeds)) == 3


@pytest.mark.parametrize("error", [InfrastructureError, RuntimeError])
def test_one_that_stays_broken_comes_back_as_a_row_that_trains_nothing(
    configure: Configure, tiny: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    configure(signal="step_index", rollout__abort_retries=1)
    envs: list[Broken] = []
    use(monkeypatch, lambda: envs.append(Broken(error=error)) or envs[-1])
    response = one(tiny)
    record, made = record_of(response), experience(response)
    assert (record.episode.status, record.episode.turns, record.sequences) == (Status.ABORTED, [], [])
    assert "it broke" in str(record.episode.error)
    assert sum(len(env.seeds) for env in envs) == 2
    assert made.action_mask.tolist() == [[0]]
    assert (response["reward"], response["scores"], response["action_ranges"]) == (None, None, [])
    # a bug may leave the environment in any state
    assert [env.closed for env in envs] == ([False] if error is InfrastructureError else [True, True])


def test_an_environment_that_never_begins_is_given_up(
    configure: Configure, tiny: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stuck(ChatEnv):
        async def _start(self, task: Task) -> Observation:
            await asyncio.Event().wait()
            raise AssertionError

    configure(signal="binary", rollout__abort_retries=0)
    monkeypatch.setattr(module, "RESET_SECONDS", 0.01)
    use(monkeypatch, Stuck)
    assert record_of(one(tiny)).episode.status is Status.ABORTED


def test_a_judge_that_breaks_aborts_its_episode_and_not_the_engine(
    configure: Configure, tiny: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Bug:
        async def judge(self, turn: Turn, history: Sequence[Turn], task: Task) -> Verdict:
            raise KeyError("score")

    configure(signal="binary", rollout__abort_retries=0)
    monkeypatch.setattr(module, "make_judge", lambda config: Bug())
    episode = record_of(one(tiny)).episode
    assert (episode.status, episode.error) == (Status.ABORTED, "KeyError('score')")


def test_an_engine_that_gives_nothing_aborts_the_episode(configure: Configure, tiny: tuple[Any, Any]) -> None:
    class Dead(LocalEngine):
        async def generate(self, ids: list[int], params: Any, multi_modal_data: Any = None) -> Any:
            return None

    configure(signal="binary", rollout__abort_retries=0)
    episode = record_of(one(tiny, engine=Dead(*tiny))).episode
    assert (episode.status, episode.turns) == (Status.ABORTED, [])


def test_a_prompt_that_is_no_task_ends_the_run_with_its_line(configure: Configure, tiny: tuple[Any, Any]) -> None:
    configure(signal="binary")
    with pytest.raises(UserError, match="no task 'nonsense' in this set"):
        one(tiny, task="nonsense")


def test_settings_that_the_environment_does_not_take_end_the_run(configure: Configure, tiny: tuple[Any, Any]) -> None:
    configure(signal="binary", env__colour="green")
    with pytest.raises(UserError, match="takes no colour"):
        one(tiny)


def test_nothing_but_aborted_episodes_ends_the_run(
    configure: Configure, tiny: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(signal="binary", rollout__abort_retries=0, rollout__parallel=1)
    use(monkeypatch, Broken)

    async def run() -> None:
        executor = AgentExecutor()
        for _ in range(5):
            await execute(executor, engine(tiny), TASK)

    with pytest.raises(InfrastructureError, match="5 episodes in a row were aborted, the last one with: it broke"):
        asyncio.run(run())


def test_cancelling_a_sample_lets_go_of_everything(
    configure: Configure, tiny: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(signal="binary", rollout__parallel=1)
    envs = [Broken(times=1, hangs=True), Broken(times=0)]
    waiting = list(envs)
    use(monkeypatch, lambda: waiting.pop(0))

    async def run() -> dict[str, Any]:
        executor, local = AgentExecutor(), engine(tiny)
        sample = asyncio.create_task(execute(executor, local, TASK))
        await envs[0].hanging.wait()
        sample.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sample
        answer = await execute(executor, local, TASK)  # its place is free again
        await executor.pool.aclose()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return answer

    assert record_of(asyncio.run(run())).episode.status is Status.TRUNCATED
    assert [env.closed for env in envs] == [True, True]


def test_no_more_environments_are_made_than_may_run_at_once(
    configure: Configure, tiny: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(signal="binary", rollout__parallel=4, cluster__flags="{vllm = {num_engines = 2}}")
    envs: list[Broken] = []
    use(monkeypatch, lambda: envs.append(Broken(times=0)) or envs[-1])

    async def run() -> None:
        executor, local = AgentExecutor(), engine(tiny)
        await asyncio.gather(*(execute(executor, local, TASK) for _ in range(5)))

    asyncio.run(run())
    assert len(envs) == 2  # this engine's half
    assert sum(len(env.seeds) for env in envs) == 5


def test_the_first_environment_is_there_before_others_are_made_like_it(
    configure: Configure, tiny: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(signal="binary", rollout__parallel=3)
    likes: list[Any] = []

    def make(config: Config, like: Any = None) -> ChatEnv:
        likes.append(like)
        return Broken(times=0)

    monkeypatch.setattr(module, "make_env", make)

    async def run() -> None:
        executor, local = AgentExecutor(), engine(tiny)
        await asyncio.gather(*(execute(executor, local, TASK) for _ in range(3)))

    asyncio.run(run())
    assert [like is None for like in likes] == [True, False, False]


def test_a_response_is_put_together_beside_the_engines_loop(
    configure: Configure, tiny: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(signal="binary")
    threads: list[int] = []
    made = module.response_of

    def noted(*args: Any, **options: Any) -> dict[str, Any]:
        threads.append(threading.get_ident())
        return made(*args, **options)

    monkeypatch.setattr(module, "response_of", noted)
    one(tiny)
    assert threads
    assert threading.get_ident() not in threads


def test_an_engine_that_leaves_out_log_probs_aborts_the_episode(configure: Configure, tiny: tuple[Any, Any]) -> None:
    class Silent(LocalEngine):
        async def generate(self, ids: list[int], params: Any, multi_modal_data: Any = None) -> Any:
            answer = await super().generate(ids, params)
            answer.outputs[0].logprobs = None
            return answer

    configure(signal="binary", rollout__abort_retries=0)
    assert record_of(one(tiny, engine=Silent(*tiny))).episode.status is Status.ABORTED


@pytest.mark.parametrize("room", [-1, 1])
def test_a_conversation_that_fills_the_context_is_cut_there_and_scored(
    configure: Configure, tiny: tuple[Any, Any], room: int
) -> None:
    configure(signal="step_index")
    local = engine(tiny)
    one(tiny, engine=local)
    limit = len(local.fed[1]) + room  # no room for a second response, or for one token of it
    response = one(tiny, max_length=limit)
    episode, made = record_of(response).episode, experience(response, limit)
    assert (episode.status, episode.outcome) == (Status.TRUNCATED, 0.0)
    assert len(episode.turns) == (1 if room < 0 else 2)
    assert made.sequences.shape[1] <= limit
    assert int(made.action_mask.sum()) == sum(len(turn.response_ids) for turn in episode.turns)


def test_a_prompt_that_leaves_no_room_at_all_is_a_row_that_trains_nothing(
    configure: Configure, tiny: tuple[Any, Any]
) -> None:
    configure(signal="step_index")
    response = one(tiny, max_length=8)
    assert record_of(response).episode.status is Status.TRUNCATED
    assert (response["observation_tokens"], response["action_ranges"]) == ([0, 0], [])


def test_a_rewritten_history_travels_beside_the_row(configure: Configure, tiny: tuple[Any, Any]) -> None:
    configure(signal="step_index")
    model, tokenizer = tiny
    short = _showing_the_last_message_only(tokenizer)
    response = one(tiny, engine=LocalEngine(model, short, says=lambda ids: "Step by step."))
    record = record_of(response)
    assert len(record.sequences) == 2
    assert response["action_ranges"] == [tuple(response["action_ranges"][0])]
    for turn, place, ids in zip(record.episode.turns[1:], record.places[1:], record.sequences, strict=True):
        assert place is not None
        assert ids[place.start :] == turn.response_ids


def _showing_the_last_message_only(tokenizer: Any) -> Any:
    from copy import copy

    short = copy(tokenizer)
    short.chat_template = (
        "{% set m = messages[-1] %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n<|im_start|>assistant\n"
    )
    assert Renderer(short)
    return short

"""Benchmark `personal`: how well a model's first answers fit a preference that the user never states.

The 36 held-out problems, one answer each, greedy by default so that the figures do not depend on luck. The score is
that of `evals.personal.style` for the student and of `evals.personal.comment` for the teacher (0, .25, .5, .75 or 1),
or a judge's model's where one is given. Beside it, so that answers stay answers: correctness (student), words, the
share of empty and of cut-off answers, and their perplexity under a reference model that is given the same problem and
the preference in words.
"""

import math
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Protocol

from claw_envs.core.endpoints import split_endpoint
from claw_envs.core.episode import Episode, Turn
from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.core.tasksets import load_tasks
from evals.benchmark import Benchmark, Options, Scored, Scorer
from evals.in_memory import figures_of
from evals.metrics import mean
from evals.models import open_policy
from evals.personal.comment import comment_score
from evals.personal.correctness import is_correct
from evals.personal.hinted import HINTS, HintedPolicy
from evals.personal.style import style_score
from evals.results import EpisodeResult, by_task, mean_metrics
from trainers.policies.base import Policy, Prompt, Sampling
from trainers.policies.render import with_hint


class Reference(Protocol):
    """What the perplexity needs of a reference model; every `Policy` is one."""

    async def score(self, prompt: Prompt, response_ids: Sequence[int]) -> list[float]:
        """See `Policy.score`."""
        ...


class PersonalOptions(Options):
    """Settings of the benchmark.

    Attributes:
        persona: `student` or `teacher`.
        hinted: tell the model the preference: what it can do without training.
        reference: model for the perplexity, empty for none; answers from an endpoint have none.
        judge: endpoint of a judge's model that gives the score, as URL#MODEL; empty for the style scorer.
    """

    persona: str = "student"
    hinted: bool = False
    max_new_tokens: int = 128
    reference: str = "smollm2"
    judge: str = ""


def benchmark(
    tasks: str | None,
    options: PersonalOptions,
    *,
    reference: Reference | None = None,
    judge: Scorer | None = None,
) -> Benchmark:
    """The benchmark over the problems `tasks` (None: the held-out ones).

    Args:
        reference: for the perplexity, where the policy gives token ids; None leaves it out.
        judge: gives the score in place of the style scorer.

    Raises:
        UserError: if there is no such persona or task set.
    """

    if options.persona not in HINTS:
        raise UserError(f"no persona {options.persona!r}; there are: {', '.join(HINTS)}")
    hint = HINTS[options.persona]

    async def score(episode: Episode, task: Task) -> Scored:
        turn = episode.turns[0] if episode.turns else _silence(episode)
        metrics = _look(turn)
        if options.persona == "student":
            metrics["correctness"] = float(is_correct(turn.response, task.metadata["answer"]))
        if reference is not None and turn.response_ids:
            logprobs = await reference.score(with_hint(turn.messages, hint), turn.response_ids)
            metrics |= {"nll": -mean(logprobs), "tokens": float(len(logprobs))}
        if judge is not None:
            return Scored((await judge(episode, task)).score, metrics)
        if options.persona == "teacher":
            return Scored(comment_score(turn.response, task, finish_reason=turn.finish_reason), metrics)
        question = task.metadata["question"]
        return Scored(style_score(turn.response, question, finish_reason=turn.finish_reason), metrics)

    return Benchmark(
        name="personal",
        family="chat",
        tasks=load_tasks("chat", f"{options.persona}:{tasks or 'heldout'}")[: options.limit],
        score=score,
        sampling=Sampling(max_new_tokens=options.max_new_tokens, temperature=options.temperature),
        wrap=(lambda policy: HintedPolicy(policy, hint)) if options.hinted else (lambda policy: policy),
        env_kwargs={"max_steps": 1},
        metrics=_figures,
        settings={
            "tasks": tasks,
            "persona": options.persona,
            "hinted": options.hinted,
            "reference": options.reference,
            "judge": options.judge,
        },
    )


@asynccontextmanager
async def open_benchmark(tasks: str | None, options: PersonalOptions, *, local: bool) -> AsyncIterator[Benchmark]:
    """`benchmark` for the command line, with the reference and the judge that the options name.

    Args:
        local: whether the model gives token ids; without them there is nothing for a reference to score.
    """
    async with AsyncExitStack() as stack:
        reference: Reference | None = None
        judge: Scorer | None = None
        if local and options.reference:
            reference = await stack.enter_async_context(open_policy(options.reference, parallel=8))
        if options.judge:
            from evals.personal.judged import open_judge

            judge = await stack.enter_async_context(open_judge(*split_endpoint(options.judge), options.persona))
        yield benchmark(tasks, options, reference=reference, judge=judge)


async def evaluate(
    policy: Policy,
    *,
    reference: Reference | None = None,
    persona: str = "student",
    limit: int = 36,
    max_new_tokens: int = 128,
    temperature: float = 0.0,
    hinted: bool = False,
    seed: int = 0,
) -> dict[str, float]:
    """Score `policy` as it stands, in memory: what a trainer calls during a run, by dotted name.

    Args:
        reference: model for the perplexity; None leaves it out.
        persona: `student` or `teacher`.
        limit: the first so many problems.
        max_new_tokens: length limit of an answer, in tokens.
        temperature: 0 is greedy.
        hinted: tell the policy the preference.
        seed: of the sampling.

    Returns:
        `score` with its 95 % interval `score_low`, `score_high`; `correctness` (of the student's answers),
        `empty`, `cutoff` (shares), `words` (mean), and `perplexity` (see `perplexity`) where there is a reference.

    Raises:
        InfrastructureError: if not one answer could be scored.
    """
    options = PersonalOptions(
        persona=persona, limit=limit, max_new_tokens=max_new_tokens, temperature=temperature, hinted=hinted
    )
    ours = benchmark(None, options, reference=reference)
    return await figures_of(policy, ours, parallel=len(ours.tasks), seed=seed)


def perplexity(nlls: Sequence[float], tokens: Sequence[float]) -> float:
    """exp of the mean negative log-likelihood over all tokens of all answers, the end token included.

    Args:
        nlls: nats per token of each answer.
        tokens: number of tokens of each answer.
    """
    return math.exp(math.fsum(n * t for n, t in zip(nlls, tokens, strict=True)) / math.fsum(tokens))


def _silence(episode: Episode) -> Turn:
    """The answer of an episode that left no room for one."""
    return Turn(episode_id=episode.id, step=0, messages=[], response="")


def _look(turn: Turn) -> dict[str, float]:
    words = len(turn.response.split())
    return {"words": float(words), "empty": float(words == 0), "cutoff": float(turn.finish_reason == "length")}


def _figures(results: Sequence[EpisodeResult]) -> dict[str, float]:
    figures = mean_metrics(results)
    figures.pop("nll", None)
    figures.pop("tokens", None)
    answers = [each.metrics for group in by_task(results).values() for each in group if "nll" in each.metrics]
    if answers:
        figures["perplexity"] = perplexity([each["nll"] for each in answers], [each["tokens"] for each in answers])
    return figures

"""What a serving engine is to us: token ids in, ids and log-probs out, and new weights while requests are in flight.

`sglang.SGLangEngine` and `vllm.VLLMEngine` are clients of one server each, `replicas.Replicas` spreads requests over
several; all three are an `Engine`. Chat messages are not its business: `policy.ServedPolicy` renders them.
"""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from claw_envs.core.errors import InfrastructureError
from trainers.policies.base import Sampling

PauseMode = Literal["keep", "recompute", "wait", "abort"]
"""What becomes of the requests in flight while an engine is paused.

`keep` holds them and goes on with their old keys and values, `recompute` holds them and computes those anew with the
weights in place then, `wait` lets them finish first, `abort` ends them with what they have (`Sampled.finish_reason`).
New requests are accepted in every mode and wait for `resume`.
"""


class EngineDownError(InfrastructureError):
    """The server cannot be reached, fails, or answers nonsense: another replica may do better."""


class EngineLostError(EngineDownError):
    """The server was lost while it was at this request, which may be the reason."""


class EngineSlowError(EngineDownError):
    """The time for this call is over. The server may be well."""


class EngineRefusedError(InfrastructureError):
    """The server understood and said no: asking again, or another replica, gives the same answer."""


class NoRouteError(EngineRefusedError):
    """The server does not know this path: it is another version of the engine, or was started without the feature."""


class Sampled(NamedTuple):
    """One sampled response."""

    ids: list[int]
    """The end-of-turn token included where it was sampled."""
    logprobs: list[float]
    """Natural log, one for each id, of the distribution at the temperature that was sampled from."""
    versions: list[int]
    """Of the weights that sampled each id, by the engine's own tags."""
    finish_reason: str
    """`stop`, `length`, or `abort`: cut off by the server, not by us. It may go on from the ids that it has."""


class WeightGroup(NamedTuple):
    """A torch process group of a trainer (rank 0) and the engines' workers, over which weights are broadcast."""

    host: str
    port: int
    """Of the trainer's store."""
    rank: int
    """Of this engine's first worker; 1 for the first engine."""
    size: int
    """The trainer and all workers of all engines."""
    name: str = "claw-weights"
    backend: str = "nccl"
    """`gloo` on a CPU."""


class TensorSpec(NamedTuple):
    """One weight that will be broadcast."""

    name: str
    dtype: str
    """As torch names it, without `torch.`: `bfloat16`."""
    shape: tuple[int, ...]


class Engine(Protocol):
    """One model behind one or several servers. Use it from one event loop.

    Every call ends within a deadline. All raise `EngineDownError` where no sound answer could be had and
    `EngineRefusedError` where the server refused this one request; cancelling a call ends it on the server too.
    """

    @property
    def version(self) -> int:
        """Of the weights in use as far as known here; 0 for those that the server was started with."""
        ...

    @property
    def urls(self) -> list[str]:
        """Of the servers."""
        ...

    async def generate(
        self, ids: Sequence[int], sampling: Sampling, *, stop_ids: Sequence[int] = (), lora: str | None = None
    ) -> Sampled:
        """Sample a response to `ids`.

        Args:
            stop_ids: tokens that end the response, beside those that the server knows from its model.
            lora: an adapter that was loaded, None for the plain weights.

        Raises:
            ContextFull: if the server says that prompt and response don't fit its context.
        """
        ...

    async def score(self, ids: Sequence[int], start: int, *, lora: str | None = None) -> list[float]:
        """Natural-log probabilities at temperature 1 of `ids[start:]`, each after all before it; `start` is above 0."""
        ...

    async def pause(self, mode: PauseMode = "keep") -> None:
        """Stop sampling. May be called again."""
        ...

    async def resume(self) -> None:
        """Go on. May be called again."""
        ...

    async def update_from_disk(self, path: str, version: int) -> None:
        """Load the weights of a Hugging Face directory that the server can read. Nothing in flight is refused.

        The engine pauses itself, updates and resumes, also where the update fails; so do the other two.
        """
        ...

    async def update_from_tensors(self, state: Mapping[str, Any], version: int) -> None:
        """Hand over torch tensors by their names in the model's state dict, to servers on this machine."""
        ...

    async def join(self, group: WeightGroup) -> None:
        """Make the server's workers members of `group`; returns once all members are there, the trainer included."""
        ...

    async def update_distributed(
        self, specs: Sequence[TensorSpec], version: int, send: Callable[[], Awaitable[None]]
    ) -> None:
        """Receive `specs`, in their order, over the group that was joined.

        Args:
            send: broadcasts them as rank 0. It is awaited once the server has opened the update, beside the server's
                own receiving, and cancelled where the server fails. It must have its own time-out, since what blocks
                in a collective cannot be cancelled.
        """
        ...

    async def leave(self) -> None:
        """Leave the group. Nothing where none was joined."""
        ...

    async def workers(self) -> int:
        """Processes that hold the model, each a member of a group that is joined."""
        ...

    async def load_lora(self, name: str, path: str) -> None:
        """Load, or load again, an adapter of PEFT's format that the server can read."""
        ...

    async def unload_lora(self, name: str) -> None:
        """Forget an adapter."""
        ...

    async def abort(self) -> None:
        """End everything in flight, whoever asked for it."""
        ...

    async def health(self) -> bool:
        """Whether the server answers and could sample. Never raises for a server that is down."""
        ...

    async def refresh(self) -> int:
        """Ask the server for the version of its weights, take it as `version` and return it."""
        ...

    async def aclose(self) -> None:
        """Close the connections; the server lives on. May be called again."""
        ...


def version_of(tag: str | int | None) -> int:
    """The version behind an engine's weight tag: we tag with decimal numbers; whatever else is a start's own, 0."""
    text = str(tag)
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0


def token_versions(spans: Sequence[tuple[str | int | None, int, int]], count: int, default: int) -> list[int]:
    """One version a token, out of an engine's spans of (tag, first token, token after the last).

    Args:
        count: of tokens.
        default: of tokens that no span covers.
    """
    versions = [default] * count
    for tag, start, end in spans:
        for i in range(max(start, 0), min(end, count)):
            versions[i] = version_of(tag)
    return versions


def check_versions(url: str, versions: Sequence[int], known: int) -> None:
    """A server that was restarted has its first weights again: what it sampled is not the policy's.

    Args:
        versions: of a response's tokens.
        known: version that was loaded before the response was asked for.

    Raises:
        EngineDownError: if the server was restarted.
    """
    if versions and (versions[0] < known or list(versions) != sorted(versions)):
        raise EngineDownError(
            f"{url}: sampled with weights of version {min(versions)} after {known} were loaded: it was restarted"
        )


def check_logprobs(url: str, logprobs: Sequence[float], count: int) -> None:
    """Raises EngineDownError unless there is a log-prob, and a number, for each of `count` tokens."""
    if len(logprobs) != count or any(math.isnan(value) for value in logprobs):
        raise EngineDownError(f"{url}: log-probs that are not those of the tokens")


def check_start(ids: Sequence[int], start: int) -> None:
    """Raises ValueError where `Engine.score` has nothing to condition on."""
    if not 0 < start <= len(ids):
        raise ValueError(f"start must be in 1..{len(ids)}, got {start}")

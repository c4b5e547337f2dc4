"""What happened: observations, turns, verdicts, episodes. One definition for every package and for the disk."""

from enum import StrEnum
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

Message = dict[str, Any]
"""An OpenAI chat message: `role`, `content`, and where used `tool_calls` or `tool_call_id`."""


class Status(StrEnum):
    """How an episode stands."""

    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    TRUNCATED = "TRUNCATED"
    """A limit was reached; still scored."""
    FAILED = "FAILED"
    """Ended by the agent's own fault; scored."""
    ABORTED = "ABORTED"
    """Ended by infrastructure: never scored, never trained, retried and counted."""


class Answer(msgspec.Struct, frozen=True):
    """What one OpenAI tool call is answered with."""

    call_id: str
    text: str


class Observation(msgspec.Struct, kw_only=True):
    """The next state that an action produced.

    Attributes:
        role: who speaks: the `user`, a `tool`, or the `environment` itself (a format error, a limit).
        text: what the agent reads, the whole of it.
        exit_code: of the command that ran, None where none did.
        screenshot: uint8 array of shape (height, width, 3).
        axtree: accessibility tree as compact text.
        url: address of the page shown.
        answers: the text's parts, one for each OpenAI tool call of the action, in order; else empty.
    """

    role: Literal["user", "tool", "environment"]
    text: str
    exit_code: int | None = None
    screenshot: NDArray[np.uint8] | None = None
    axtree: str | None = None
    url: str | None = None
    answers: list[Answer] = []

    @property
    def is_screen(self) -> bool:
        """Whether there is more to it than its text."""
        return self.screenshot is not None or self.axtree is not None

    def without_screenshot(self) -> "Observation":
        """The same without its picture, which takes megabytes."""
        return self if self.screenshot is None else msgspec.structs.replace(self, screenshot=None)

    def messages(self) -> list[Message]:
        """The observation as the chat messages that the agent is shown next: its answers, else one user message."""
        if not self.answers:
            return [{"role": "user", "content": self.text}]
        return [{"role": "tool", "tool_call_id": answer.call_id, "content": answer.text} for answer in self.answers]


class Verdict(msgspec.Struct, kw_only=True):
    """A judge's reading of one next state.

    Attributes:
        score: -1, 0 or +1 (a composite may give a sum); None where the judge abstained or failed, which is left out
            of every mean and never counted as 0.
        votes: every vote, None for one that could not be read.
        hint: what the action should have done, in words for the agent.
        raw: the judge's own words, one entry a vote.
        cost: tokens spent, prompt and completion together.
        status: `ok`, `abstained` (nothing to say), `failed` (the judge could not be asked).
        error: why it failed.
    """

    score: float | None = None
    votes: list[float | None] = []
    hint: str | None = None
    raw: list[str] = []
    cost: int = 0
    status: Literal["ok", "abstained", "failed"] = "ok"
    error: str | None = None


class Turn(msgspec.Struct, kw_only=True):
    """One agent message, what it was sampled from, and what happened next.

    Attributes:
        messages: the prompt as chat messages, without its images: those are in the observations.
        shown: the same with its images, where a policy that is trained was shown any; else empty.
        examples: how many of them, after a system prompt, are worked examples and not of this conversation.
        tools: schemas that the policy showed with them; empty where the messages themselves explain the tools.
        prompt_ids: token ids of the prompt as they were fed to the policy.
        response_ids: token ids as they were sampled (the end token included where it was sampled).
        logprobs: natural-log probability of each response token when it was sampled.
        versions: policy version that sampled each response token.
        prompt_tokens, response_tokens: how many there are, as an endpoint counts them where it gives no ids; 0 where
            nobody tells.
        observation: the next state.
        opening: at step 0 the state before it, where that is more than a text, as a screen is; else None.
        reward: the environment's own reward for this step.
        timings: seconds by name (`generate`, `step`, `judge`).
    """

    episode_id: str
    step: int
    messages: list[Message]
    shown: list[Message] = []
    examples: int = 0
    tools: list[dict[str, Any]] = []
    response: str
    tool_calls: list[dict[str, Any]] = []
    prompt_ids: list[int] = []
    response_ids: list[int] = []
    logprobs: list[float] = []
    versions: list[int] = []
    prompt_tokens: int = 0
    response_tokens: int = 0
    finish_reason: str = "stop"
    observation: Observation | None = None
    opening: Observation | None = None
    reward: float = 0.0
    verdict: Verdict | None = None
    timings: dict[str, float] = {}

    @property
    def id(self) -> str:
        """Unique and stable: the same turn of the same episode has the same id after a restart."""
        return f"{self.episode_id}/{self.step}"

    def without_screenshots(self) -> "Turn":
        """The same without its pictures."""
        after, before = self.observation, self.opening
        return msgspec.structs.replace(
            self,
            shown=[],
            observation=after and after.without_screenshot(),
            opening=before and before.without_screenshot(),
        )

    @property
    def conversation(self) -> list[Message]:
        """What was said in this episode before the response: `messages` without system prompt and worked examples."""
        return [message for message in self.messages if message.get("role") != "system"][self.examples :]


class Episode(msgspec.Struct, kw_only=True):
    """One attempt at one task.

    Attributes:
        group_id: the attempts that are compared with each other share it.
        sample_index: position within the group.
        outcome: the verifier's score; None while running and where the episode was aborted.
        report: the verifier's own report.
    """

    id: str
    task_id: str
    family: str
    group_id: str = ""
    sample_index: int = 0
    seed: int | None = None
    turns: list[Turn] = []
    outcome: float | None = None
    status: Status = Status.RUNNING
    report: dict[str, Any] = {}
    error: str | None = None


def content_of(message: Message) -> str:
    """What a chat message says, as text; of parts that are none their type, as in `[image_url]`."""
    content = message.get("content") or ""
    if isinstance(content, list):
        return "\n".join(str(part.get("text", f"[{part.get('type')}]")) for part in content)
    return str(content)

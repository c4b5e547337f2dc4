"""The preference in words: what a model can do that is told it, and what its answers are held against.

The student's hint is, on purpose, one of the corrections that the simulated student gives in training: perplexity is
measured under the very words that a user says. The style scorer and the correctness check never see it."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from claw_envs.core.episode import Message
from trainers.policies.base import Completion, Policy, Prompt, Sampling
from trainers.policies.render import with_hint

HINTS = {
    "student": "Keep it to one plain sentence and put the quick sum in it.",
    "teacher": "Speak to the student by what they did: say what exactly is right or wrong in their work, "
    "and be warm and encouraging.",
}
"""What each persona wants, as one instruction to the model."""


class HintedPolicy:
    """A policy that is told the preference in every prompt: what the model can do without training."""

    def __init__(self, policy: Policy, hint: str) -> None:
        """
        Args:
            policy: answers; it stays the caller's to close.
            hint: added to the last user message.
        """
        self._policy, self._hint = policy, hint

    @property
    def version(self) -> int:
        """See `Policy.version`."""
        return self._policy.version

    async def generate(
        self, prompt: Prompt, sampling: Sampling, *, tools: Sequence[dict[str, Any]] | None = None
    ) -> Completion:
        """See `Policy.generate`; the prompt must be chat messages."""
        messages = cast(Sequence[Message], prompt)
        return await self._policy.generate(with_hint(messages, self._hint), sampling, tools=tools)

    async def score(self, prompt: Prompt, response_ids: Sequence[int]) -> list[float]:
        """See `Policy.score`; the prompt must be chat messages."""
        messages = cast(Sequence[Message], prompt)
        return await self._policy.score(with_hint(messages, self._hint), response_ids)

    async def update_weights(self, state: Mapping[str, Any], version: int) -> None:
        """See `Policy.update_weights`."""
        await self._policy.update_weights(state, version)

    async def aclose(self) -> None:
        """Does nothing: the policy underneath is the caller's."""

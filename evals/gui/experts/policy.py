"""What experts share: a policy of plain code, and the tool calls that it writes."""

from collections.abc import Mapping, Sequence
from typing import Any

from claw_envs.core.episode import content_of
from claw_envs.wire import Call, write
from evals.gui.experts.grammar import Line
from evals.gui.experts.page import Page, read_page
from trainers.policies.base import Completion, Prompt, Sampling


class Stuck(Exception):  # noqa: N818 - an answer, not a fault
    """A policy of plain code does not know what to do, as something is not where it should be."""


class PlainPolicy:
    """A `trainers.policies.base.Policy` without a model: it reads the newest observation and answers it.

    One object plays one episode.

    Attributes:
        said: messages so far.
    """

    version = 0
    said = 0

    def act(self, page: Page) -> str:
        """The next message.

        Raises:
            Stuck: if there is none.
        """
        raise NotImplementedError

    async def generate(
        self, prompt: Prompt, sampling: Sampling, *, tools: Sequence[dict[str, Any]] | None = None
    ) -> Completion:
        """See `Policy.generate`; there are no ids."""
        newest = prompt[-1]
        assert not isinstance(newest, int), "a policy of plain code reads messages"
        text = self.act(read_page(content_of(newest)))
        self.said += 1
        return Completion([], [], [], [], "stop", text)

    async def score(self, prompt: Prompt, response_ids: Sequence[int]) -> list[float]:
        """Nothing, as there are no ids."""
        return []

    async def update_weights(self, state: Mapping[str, Any], version: int) -> None:
        """There are none."""

    async def aclose(self) -> None:
        """There is nothing to release."""


def call(line: Line, page: Page) -> Call | None:
    """`line` as a tool call on the elements of `page`; None where an element is not there."""
    arguments = dict(line.arguments)
    for key, target in (("id", line.target), ("onto", line.onto)):
        if target is not None:
            node = page.find(target)
            if node is None:
                return None
            arguments[key] = node.id
    return Call(line.verb, arguments)


def message(call: Call) -> str:
    """`call` as an agent writes it."""
    return str(write([call], "hermes"))

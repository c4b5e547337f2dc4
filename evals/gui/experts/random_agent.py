"""An agent that does anything at all: what a benchmark's tasks are worth without knowing them."""

import random
import re

from claw_envs.wire import Call
from evals.gui.experts.page import Node, Page
from evals.gui.experts.policy import PlainPolicy, message

_QUOTED = re.compile(r"[\"“']([^\"”']{1,60})[\"”']")
_FIELDS = {"textbox", "searchbox", "combobox", "spinbutton"}


class RandomAgent(PlainPolicy):
    """Clicks on elements, fills fields with words of the task, presses keys, scrolls; sometimes it says
    that it is done. Every choice follows from the seed."""

    def __init__(self, seed: int) -> None:
        """
        Args:
            seed: of its choices.
        """
        self._random = random.Random(seed)
        self._words: list[str] = []

    def act(self, page: Page) -> str:
        """See `PlainPolicy.act`."""
        task, _, _ = page.text.partition("\n\n")  # of the first observation
        self._words = self._words or _QUOTED.findall(task) or task.split() or ["a"]
        return message(self._choose(page))

    def _choose(self, page: Page) -> Call:
        draw = self._random
        nodes = [node for node in page.nodes if node.box]
        kind = draw.choices(("click", "fill", "press", "scroll", "done"), (70, 15, 7, 5, 3))[0]
        fields = [node for node in nodes if node.role in _FIELDS]
        if kind == "fill" and fields:
            return Call("fill", {"id": draw.choice(fields).id, "text": draw.choice(self._words)})
        if kind == "press":
            return Call("press", {"keys": [draw.choice(("enter", "tab", "escape", "down", "space"))]})
        if kind == "scroll":
            return Call("scroll", {"direction": draw.choice(("up", "down"))})
        if kind == "done" or not nodes:
            return Call("done", {})
        node: Node = draw.choice(nodes)
        return Call("click", {"id": node.id})

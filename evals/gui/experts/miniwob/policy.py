"""The expert of a page as a policy: it goes through its moves, one message at a time."""

from claw_envs.core.task import Task
from claw_envs.wire import write
from evals.gui.experts.miniwob import choosing, clicking, dates, dragging, drawing, filling, mail  # noqa: F401
from evals.gui.experts.miniwob.registry import EXPERTS
from evals.gui.experts.miniwob.seen import Moves, Seen
from evals.gui.experts.page import Page
from evals.gui.experts.policy import PlainPolicy, Stuck

__all__ = ["EXPERTS", "MiniwobExpert"]


class MiniwobExpert(PlainPolicy):
    """Plays one episode of one page.

    The environment's `coordinates` have to be `pixels`: on the grid, lengths along both axes cannot be compared.
    """

    def __init__(self, page: str) -> None:
        """
        Args:
            page: name of the page; one of `EXPERTS`.
        """
        self._expert = EXPERTS[page]
        self._moves: Moves | None = None
        self._task = ""

    @classmethod
    def for_task(cls, task: Task) -> "MiniwobExpert":
        """The expert for one episode of `task`."""
        return cls(str(task.metadata["page"]))

    def act(self, page: Page) -> str:
        """See `PlainPolicy.act`."""
        try:
            if self._moves is None:
                self._task = _request(page.text)
                self._moves = self._expert(Seen(page, self._task))
                calls = next(self._moves)
            else:
                calls = self._moves.send(Seen(page, self._task))
        except StopIteration:
            raise Stuck(f"all was done, and the page has not ended\n{page.text}") from None
        except (IndexError, ValueError, KeyError) as error:
            raise Stuck(f"{error!r} at\n{page.text}") from error
        return str(write(calls, "hermes"))


def _request(text: str) -> str:
    """What the first observation says before it shows the page."""
    return text.partition("\n\n")[0]

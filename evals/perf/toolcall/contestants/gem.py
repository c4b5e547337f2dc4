"""gem's code tool: a new `python -c` for each call, blocking, so that each episode gets a thread.

`none`: on the host, after a search of the code for forbidden words. `bwrap`: in a new bubblewrap for each call. The
tool finds `python` on the path and, for bubblewrap, in `sys.prefix`, of which it shows nothing else: a virtual
environment's interpreter is a link that leads nowhere there, so it is told the prefix that the link leads to.
"""

import os
import sys
from typing import Any

from gem.tools.python_code_tool import PythonCodeTool

PACKAGES = ["gem-llm"]


def make(kind: str, settings: dict[str, Any]) -> "Gem":
    """The contestant `kind`; `settings["limit"]` is the time limit of a call in seconds."""
    os.environ["PATH"] = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
    sys.prefix = sys.base_prefix
    return Gem(kind, settings["limit"])


class Gem:
    """A tool an episode."""

    def __init__(self, sandbox: str, limit: float) -> None:
        self._sandbox, self._limit = sandbox, limit

    def start(self) -> Any:
        """A new tool; it starts nothing."""
        return PythonCodeTool(timeout=int(self._limit), sandbox_type=self._sandbox)

    def step(self, tool: Any, code: str) -> str:
        """One call."""
        return str(tool.execute_action(f"<python>{code}</python>")[2])

    def reset(self, tool: Any) -> Any:
        """Another tool."""
        return self.start()

    def stop(self, tool: Any) -> None:
        """Nothing to stop."""

    def containers(self) -> list[str]:
        """None."""
        return []

"""What a desktop costs on this machine: seconds to open it, and milliseconds to act on it and to look at it.

    python examples/desktop_times.py [namespace|docker]

Needs what `claw doctor` lists under the desktop. Medians; nothing else should run meanwhile.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from statistics import median
from typing import Any

from claw_envs.core.task import Task, VerifierSpec
from claw_envs.gui.acts import Click
from claw_envs.gui.desktop.screen import DesktopScreen
from claw_envs.gui.screen import Parts

TASK = Task(id="times", family="gui", instruction="Measure.", verifier=VerifierSpec(kind="osworld"))
APPLICATIONS = {"gnome-calculator": "a calculator", "libreoffice --calc": "a spreadsheet"}


async def seconds(work: Callable[[], Awaitable[Any]], times: int = 1) -> float:
    """The median of as many runs."""
    took = []
    for _ in range(times):
        begun = time.perf_counter()
        await work()
        took.append(time.perf_counter() - begun)
    return median(took)


async def main(sandbox: str) -> None:
    screen = DesktopScreen(sandbox=sandbox)
    picture, tree = Parts(axtree=False), Parts(screenshot=False)

    async def window() -> None:
        while len((await screen.look(tree)).elements or ()) < 30:  # the first of them are the window alone
            pass

    try:
        print(f"open, the first time        {await seconds(lambda: screen.open(TASK)):7.2f} s")
        print(f"open, the sandbox reset     {await seconds(lambda: screen.open(TASK), 5):7.2f} s")
        click = await seconds(lambda: screen.do(Click(5, 5), timeout=5), 20)
        print(f"click, until it has settled {1000 * click:7.0f} ms")
        print(f"screenshot as an array      {1000 * await seconds(lambda: screen.look(picture), 20):7.0f} ms")
        for command, name in APPLICATIONS.items():
            await screen.open(TASK)
            await screen.launch(command)
            print(f"{name}: its window".ljust(28) + f"{await seconds(window):7.2f} s")
            print(f"{name}: its tree".ljust(28) + f"{1000 * await seconds(lambda: screen.look(tree), 10):7.0f} ms")
    finally:
        await screen.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "namespace"))

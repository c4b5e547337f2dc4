"""Ways to see that the test is in order.

`python -m claw_envs.toolcall.bfcl install` makes the environment that the checkers run in, and prints its Python.
`python -m claw_envs.toolcall.bfcl gold [CATEGORY ...]` prints how many of BFCL's right answers are found right, and how
many with a mistake are found wrong.
"""

import argparse
import sys

import claw_envs  # noqa: F401 - registers the environments
from claw_envs.core.errors import UserError
from claw_envs.toolcall.bfcl.environment import interpreter
from claw_envs.toolcall.bfcl.gold import MISTAKES
from claw_envs.toolcall.bfcl.replay import Count, count_gold, count_mistakes
from claw_envs.toolcall.bfcl.tasks import categories, load

_WIDTH = 26


def main() -> int:
    """Run a command; 2 for a user's mistake."""
    parser = argparse.ArgumentParser(prog="python -m claw_envs.toolcall.bfcl")
    told = "make the environment of the checkers; or play the right answers, and mistakes, through ours"
    parser.add_argument("command", choices=["install", "gold"], help=told)
    parser.add_argument("categories", nargs="*", metavar="CATEGORY", help="of gold, or a set of them; all by default")
    parser.add_argument("--ids", action="store_true", help="name the tasks that came out otherwise")
    arguments = parser.parse_intermixed_args()
    try:
        if arguments.command == "install":
            print(interpreter())
        else:
            _table(arguments.categories or ["all"], ids=arguments.ids)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _table(names: list[str], *, ids: bool) -> None:
    chosen = [category for name in names for category in categories(name)]
    _line("category", "gold valid", *(f"{mistake} invalid" for mistake in MISTAKES))
    for category in chosen:
        tasks = load(category)
        counts = {"gold": count_gold(category, tasks)}
        if "relevance" not in category:  # where any call is as right as any other
            counts |= {mistake: count_mistakes(category, tasks, mistake) for mistake in MISTAKES}
        _line(category, *map(_share, counts.values()))
        for name, count in counts.items():
            if ids and count.others:
                print(f"  {name}: {' '.join(count.others)}")


def _share(count: Count) -> str:
    return f"{count.right}/{count.total}"


def _line(first: str, *cells: str) -> None:
    print(first.ljust(_WIDTH), *(cell.rjust(16) for cell in cells), flush=True)


if __name__ == "__main__":
    sys.exit(main())

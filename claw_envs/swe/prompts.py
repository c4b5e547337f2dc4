"""What the agent is told: how it works and how it ends before the first step, then the issue, then the turns left."""

from typing import Any

from claw_envs.core.task import Task
from claw_envs.swe.instance import REPOSITORY
from claw_envs.wire.toolset import Toolset

_SYSTEM = """You are a software engineer. You repair a repository by working in a Linux shell.
In each message say in a sentence or two what you want to find out or change, then write exactly one bash block. \
It is run, and you are shown its exit code and output.

```bash
ls -l
```

The working directory, variables and functions are kept from one command to the next. A command that runs longer than \
{seconds:g} seconds is stopped, and one that waits for input gets none. There is no network. Of a long output you see \
the beginning and the end.
{tools}
When the repair is done, write the word submit alone in a bash block; this ends your work:

```bash
submit
```"""
_TOOLS = """
In place of a bash block you may call tools, as in {example}. They are: {signatures}.
"""
_TASK = """The repository at {repository} has this issue:

<issue>
{issue}
</issue>

Change the files of the repository so that the issue is resolved for good. Tests that you cannot see will check that, \
and that what worked before still works.

A way to go about it:
1. Read the code that the issue is about.
2. Reproduce the issue with a small script in /tmp.
3. Change the source. Leave existing tests as they are; changes to them decide nothing.
4. Run your script again, then the tests of what you touched, and think of the cases at the edge.
5. Look at your changes with git diff, remove what does not belong, and submit.

What you submit is every change to the files in {repository} that .gitignore does not name; there is no need to commit.

{left}"""


def system_prompt(tools: Toolset[Any], *, step_timeout: float) -> str:
    """How the agent works.

    Args:
        tools: what it may call; those beside `bash` and `submit` are named.
        step_timeout: seconds that a command may take.
    """
    functions = [schema["function"] for schema in tools.schemas]
    beside = [function for function in functions if function["name"] not in ("bash", "submit")]
    named = ""
    if beside:
        signatures = ", ".join(f"{function['name']}({_arguments(function['parameters'])})" for function in beside)
        named = _TOOLS.format(example=tools.example(beside[0]["name"]), signatures=signatures)
    return _SYSTEM.format(seconds=step_timeout, tools=named)


def first_text(task: Task) -> str:
    """The first observation: the issue, and what to do about it."""
    return _TASK.format(repository=REPOSITORY, issue=task.instruction.strip(), left=turns_left(task.limits.max_steps))


def turns_left(count: int) -> str:
    """The last line of every observation but the last: how many messages the agent may still write."""
    if count == 1:
        return "[1 turn left: submit now, what is in the repository counts]"
    return f"[{count} turns left]"


def _arguments(schema: dict[str, Any]) -> str:
    required = schema.get("required", ())
    return ", ".join(name if name in required else f"{name}?" for name in schema["properties"])

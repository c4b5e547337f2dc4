"""Function-calling tests: the agent's calls are taken as its answer, or carried out turn by turn, then judged by BFCL.

In a task of one turn, the first message is the whole answer. In one of several, calls are carried out on simulated APIs
and answered with what these gave, a message without a call ends the user's turn, and the user goes on; after the last
turn, the state and the results are compared with those of the right calls. As in the package's own runner, a message
with calls too many in one turn ends the episode, which is judged as it stands, and a call that names no API method is
answered with Python's error.

Two things differ from that runner: a call that cannot be read is answered with what was wrong with it, where the runner
ends the turn; and a call that takes too long is stopped and forgotten, where the runner waits for ever.
"""

import asyncio
import json
import time
from typing import Any

from claw_envs.core.env import Outcome, Step
from claw_envs.core.episode import Observation, Status
from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.sandbox.lease import Lease
from claw_envs.toolcall.bfcl.client import Unanswered, Worker
from claw_envs.toolcall.bfcl.tasks import STEPS_PER_TURN
from claw_envs.toolcall.prompts import calling_prompt
from claw_envs.toolcall.results import Result, not_run, observation
from claw_envs.toolcall.tools.schema import typed
from claw_envs.wire.calls import Call, Form, Malformed, Parsed

_DEEPEST = 100
"""Levels of lists and objects in arguments; Python's own parser takes no more."""
REPLAY = 15.0
"""Seconds in which another worker must have repeated an episode's calls, else these were the agent's fault."""


class BfclExercise:
    """An `Exercise` for tasks of `claw_envs.toolcall.bfcl.tasks`. Needs no sandbox."""

    code_tool: str | None = None
    uses_sandbox = False

    def __init__(self, *, form: Form | None) -> None:
        """
        Args:
            form: how the agent is told to write calls; see `ToolCallEnv`. None: `hermes`.

        Raises:
            UserError: if the form knows nothing but code.
        """
        if form in ("fenced", "code"):
            raise UserError(f"form {form!r} cannot call BFCL's functions: use hermes, llama3 or openai")
        self.tools: tuple[dict[str, Any], ...] = ()
        self.system_prompt = ""
        self._form: Form = form or "hermes"
        self._worker = Worker()
        self._open = False

    async def start(self, task: Task, lease: Lease) -> Observation:
        """See `Exercise.start`."""
        if "category" not in task.verifier.options:
            raise UserError(f"task {task.id} is no BFCL task: load it with tasks='bfcl:CATEGORY'")
        if self._open:  # an episode that was left before its end
            await self.close()
        self._task, self._options = task, task.verifier.options
        self.tools = tuple(self._options["tools"])
        prompts = (self._options["system"], calling_prompt(self.tools, self._form))
        self.system_prompt = "\n\n".join(prompt for prompt in prompts if prompt)
        self._answer: list[dict[str, Any]] | None = None
        self._answered = False
        self._turns: list[list[list[dict[str, Any]]]] = [[]]
        if self._several:
            await self._begin()
        return Observation(role="user", text=task.instruction)

    @property
    def _several(self) -> bool:
        return "multi_turn" in self._options["category"]

    async def act(self, message: Parsed, *, timeout: float) -> Step:
        """See `Exercise.act`."""
        message = message._replace(calls=[_checked(call) for call in message.calls])
        if not self._several:
            return self._take(message)
        if not message.calls:
            return self._next_turn()
        return await self._carry_out(message, timeout)

    async def verify(self) -> Outcome:
        """See `Exercise.verify`."""
        asked: dict[str, Any] = {"category": self._options["category"], "id": self._task.id}
        if self._several:
            asked["turns"] = [[step for step in turn if step] for turn in self._turns]
        else:
            asked["calls"] = self._answer
        if self._open:
            self._open = False
            await self._worker.ask("end")
        verdict = {"valid": False, "error_type": "no_answer", "error": "the episode ended before an answer"}
        if self._answered or self._several:
            verdict = await self._worker.ask("check", timeout=self._task.verifier.timeout, **asked)
        report = {
            "correct": verdict["valid"],
            "calls": len(self._answer or []) + sum(len(step) for turn in self._turns for step in turn),
            "category": self._options["category"],
            "error_type": verdict["error_type"],
            "error": verdict["error"],
        }
        return Outcome(1.0 if verdict["valid"] else -1.0, report)

    async def close(self) -> None:
        """See `Exercise.close`."""
        self._open = False
        await self._worker.close()

    # --- one turn -----------------------------------------------------------------------------------------------

    def _take(self, message: Parsed) -> Step:
        """Take a message as the answer. One call that cannot be read spoils it, as in the package's own runner."""
        self._answered, self._answer = True, []
        results = []
        for call in message.calls:
            if isinstance(call, Malformed):
                self._answer = None
                results.append(not_run(call.problem))
            else:
                results.append(Result("taken", "", ran=False))
                if self._answer is not None:
                    self._answer.append(self._plain(call))
        if not results:
            return Step(Observation(role="environment", text="[taken]\nNo function was called."), Status.COMPLETED)
        return Step(observation(message, results, native=self._form == "openai"), Status.COMPLETED)

    # --- several turns ------------------------------------------------------------------------------------------

    async def _begin(self) -> None:
        self._open = True
        await self._worker.ask("begin", category=self._options["category"], id=self._task.id)

    async def _carry_out(self, message: Parsed, timeout: float) -> Step:
        deadline = time.monotonic() + timeout
        turn = self._turns[-1]
        turn.append([])
        results = [await self._call(call, deadline) for call in message.calls]
        end = Status.FAILED if len(turn) > STEPS_PER_TURN or not self._open else None
        return Step(observation(message, results, native=self._form == "openai"), end)

    async def _call(self, call: Call | Malformed, deadline: float) -> Result:
        if isinstance(call, Malformed):
            return not_run(call.problem)
        left = deadline - time.monotonic()
        if left <= 0:
            return not_run("this message's time was used up; send it again")
        plain = self._plain(call)
        try:
            text = await self._worker.ask("call", timeout=left, **plain)
        except Unanswered:
            await self._restore()
            return Result(f"stopped after {left:.3g} s", "It took too long, and changed nothing.", exit_code=1)
        self._turns[-1][-1].append(plain)
        text = text.encode("utf-8", "replace").decode()  # an API may give half a surrogate pair back
        failed = _failed(text)
        return Result("error" if failed else "ok", text, exit_code=int(failed))

    async def _restore(self) -> None:
        """Bring another worker to where the lost one was: the same calls give the same.

        Where these are too slow, the episode is at its end: an agent must not get out of a bad score by them.
        """
        await self._begin()
        try:
            async with asyncio.timeout(REPLAY):
                for call in (call for turn in self._turns for step in turn for call in step):
                    await self._worker.ask("call", **call)
        except TimeoutError:
            self._open = False

    def _next_turn(self) -> Step:
        number = len(self._turns)
        if number > len(self._options["turns"]):
            return Step(Observation(role="environment", text="The conversation has ended."), Status.COMPLETED)
        self._turns.append([])
        text = self._options["turns"][number - 1]
        added = self._options["later_tools"].get(str(number), [])
        self.tools += tuple(added)
        if self._form != "openai":
            text = "\n".join([*(json.dumps(tool["function"], ensure_ascii=False) for tool in added), text])
        return Step(Observation(role="user", text=text))

    def _plain(self, call: Call) -> dict[str, Any]:
        """A call as the worker takes it, with arguments of the form's own types."""
        schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in self.tools}
        known = call.name in schemas and not call.typed
        return {
            "name": call.name,
            "arguments": typed(call.arguments, schemas[call.name]) if known else call.arguments,
        }


def _checked(call: Call | Malformed) -> Call | Malformed:
    """A call whose arguments can be passed on."""
    if isinstance(call, Malformed):
        return call
    level: list[Any] = [call.arguments]
    for _ in range(_DEEPEST):
        level = [child for value in level for child in _children(value)]
    return Malformed(f"The arguments are nested deeper than {_DEEPEST} levels.", call.id) if level else call


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _failed(text: str) -> bool:
    """Whether what an API gave is an error: one that Python raised, or an object with `error`."""
    if text.startswith("Error during execution:"):
        return True
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, dict) and "error" in value

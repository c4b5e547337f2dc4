"""Runs inside the Python that has `bfcl-eval`: gives out its tasks, carries out calls, and checks answers.

Requests come as lines of JSON on stdin, one at a time, and each is answered by a line on stdout: `{"result": ...}`, or
`{"failure": <traceback>}` for a fault of ours. `tasks` and `answers` give out a category; `check` judges an answer;
`begin` opens an episode of several turns, in which `call` carries out a call, until `end`.

Each request, and each episode whole, has a forked process of its own. The package keeps its simulated APIs in global
variables, and the precision of its arithmetic in those of others, so one process would carry them from one episode to
the next. Limits keep a call such as `power(10, 10**10)` from taking the machine. An answer that the checkers cannot be
done with is wrong, or it would pay to give one; a call that takes too long is up to whoever waits for it, who kills
this process.

The package's `ast_checker` imports the table of all model handlers, and so every vendor's client, to ask one question:
whether a model had `.` in function names replaced by `_`. A table with one row stands in for it, and says yes. The
checkers themselves are the package's own.

The package hands calls to `eval`. What it gets is written here from parsed JSON: a method that the APIs have, names of
parameters, and literals. Nothing of this module is used by `claw_envs` but by running it, and it imports none of that.
"""

import ctypes
import functools
import importlib
import inspect
import json
import keyword
import os
import resource
import signal
import sys
import traceback
import types
from collections.abc import Callable
from typing import Any, NoReturn

MODEL = "claw"
MEMORY = 1 << 30
"""Bytes of address space of each process."""
CHECK_CPU = 10
"""Seconds of processor time of a check, which takes a hundredth of one."""
CPU = 3600
"""The same of anything else; ends what nobody waits for any more."""
PR_SET_PDEATHSIG = 1
"""Option of prctl(2): the signal that a process gets when its parent dies."""
ESCAPED = r"\x28"
"""A `(` in a text."""
LONGEST_REASON = 4000
LONGEST_RESULT = 1_000_000
"""Characters of what a call gives that the agent is shown."""

table = types.ModuleType("bfcl_eval.constants.model_config")
table.MODEL_CONFIG_MAPPING = {MODEL: types.SimpleNamespace(underscore_to_dot=True)}  # type: ignore[attr-defined]
sys.modules[table.__name__] = table

Request = dict[str, Any]
Verdict = dict[str, Any]

RIGHT: Verdict = {"valid": True, "error_type": None, "error": None}


class Package:
    """What is used of `bfcl-eval`."""

    def __init__(self) -> None:
        def of(module: str, name: str) -> Any:
            return getattr(importlib.import_module(f"bfcl_eval.{module}"), name)

        self._apis: dict[str, str] = of("constants.executable_backend_config", "CLASS_FILE_PATH_MAPPING")
        self.language = of("constants.enums", "Language")
        self.more_functions: str = of("constants.default_prompts", "DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC")
        self.tasks = functools.cache(of("utils", "load_dataset_entry"))
        self.answers = functools.cache(of("utils", "load_ground_truth_entry"))
        self.check_calls = of("eval_checker.ast_eval.ast_checker", "ast_checker")
        self.check_turns = of("eval_checker.multi_turn_eval.multi_turn_checker", "multi_turn_checker")
        self.execute = of("eval_checker.multi_turn_eval.multi_turn_utils", "execute_multi_turn_func_call")

    def prepare(self, category: str) -> None:
        """Read and import what requests about a category need: once, and not in the process of each."""
        rows = self.tasks(category, include_language_specific_hint=False)
        for name in {name for row in rows for name in row.get("involved_classes", ())}:
            importlib.import_module(self._apis[name])
        if "relevance" not in category:
            self.answers(category)

    def task(self, request: Request) -> dict[str, Any]:
        """The task as the checkers take it: functions of other languages are described with those languages' types."""
        rows = self.tasks(request["category"], include_language_specific_hint=False)
        task: dict[str, Any] = next(row for row in rows if row["id"] == request["id"])
        return task

    def answer(self, request: Request) -> list[Any]:
        """The right answer: calls with the values that are allowed, or for each turn the calls as text."""
        rows = self.answers(request["category"])
        answer: list[Any] = next(row["ground_truth"] for row in rows if row["id"] == request["id"])
        return answer


class Instances:
    """The simulated APIs of one task of several turns, as the package keeps them."""

    def __init__(self, package: Package, request: Request) -> None:
        task = package.task(request)
        self._execute = functools.partial(
            package.execute,
            initial_config=task["initial_config"],
            involved_classes=task["involved_classes"],
            model_name=MODEL,
            test_entry_id=task["id"],
            long_context="long_context" in request["category"],
        )
        _, instances = self._execute([])
        members = [inspect.getmembers(instance, inspect.ismethod) for instance in instances.values()]
        self._methods = {name for found in members for name, _ in found if not name.startswith("_")}

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        """What a call gives, as the agent is shown it."""
        if problem := self._problem(name, arguments):
            return f"Error during execution: {problem}"
        results, _ = self._execute([self.written(name, arguments)])
        return str(results[0])[:LONGEST_RESULT]

    def written(self, name: str, arguments: dict[str, Any]) -> str:
        """A call as the package takes it. One that must not be evaluated becomes one that raises `NameError`.

        The package looks for `name(` in the whole text to put the API's instance before it. In texts that the agent
        wrote, `(` is therefore escaped.
        """
        if self._problem(name, arguments):
            return "unknown_function()"
        values = [f"{key}={repr(value).replace('(', ESCAPED)}" for key, value in arguments.items()]
        return f"{name}({', '.join(values)})"

    def _problem(self, name: str, arguments: dict[str, Any]) -> str | None:
        """Why a call must not be evaluated, in the words that Python would use where it would get so far."""
        if name not in self._methods:
            return f"name {name!r} is not defined"
        wrong = next((key for key in arguments if not key.isidentifier() or keyword.iskeyword(key)), None)
        return None if wrong is None else f"{name}() got an unexpected keyword argument {wrong!r}"


def tasks(package: Package, request: Request) -> list[dict[str, Any]]:
    """A category as the agent is to see it, with the user's words where a turn only brings new functions."""
    rows: list[dict[str, Any]] = package.tasks(request["category"])
    added = [{"role": "user", "content": package.more_functions}]
    return [row | {"question": [turn or added for turn in row["question"]]} for row in rows]


def answers(package: Package, request: Request) -> dict[str, Any]:
    """The right answers of a category by task id, with the functions in their languages' own types."""
    described = package.tasks(request["category"], include_language_specific_hint=False)
    functions = {row["id"]: row["function"] for row in described}
    rows = package.answers(request["category"])
    return {row["id"]: {"answer": row["ground_truth"], "functions": functions[row["id"]]} for row in rows}


def check(package: Package, request: Request) -> Verdict:
    """Judge an answer: `calls` of a single turn, None where they could not be read, or `turns` of steps of calls.

    It may take `cpu` seconds of processor time, `CHECK_CPU` where the request names none.
    """
    if "turns" in request:
        return judge_turns(package, request)
    return judge_relevance(request) if "relevance" in request["category"] else judge_calls(package, request)


def judge_relevance(request: Request) -> Verdict:
    """Whether calling a function at all was right; what cannot be read is no call."""
    if "irrelevance" in request["category"]:
        return wrong("irrelevance_error:decoder_success", "a function was called") if request["calls"] else RIGHT
    return RIGHT if request["calls"] else wrong("relevance_error:decoder_failed", "no function was called")


def judge_calls(package: Package, request: Request) -> Verdict:
    """Compare calls with the right ones by the package's `ast_checker`."""
    category, calls = request["category"], request["calls"]
    if not calls:
        why = "no function was called" if calls is not None else "a call could not be read"
        return wrong("ast_decoder:decoder_failed", why)
    language = next((name for name in ("javascript", "java") if name in category), "python")
    return verdict(
        package.check_calls,
        package.task(request)["function"],
        [{call["name"]: call["arguments"]} for call in calls],
        package.answer(request),
        package.language(language),
        category,
        MODEL,
    )


def judge_turns(package: Package, request: Request) -> Verdict:
    """Compare the state and the results after each turn by the package's `multi_turn_checker`."""
    answer, turns = package.answer(request), request["turns"]
    if len(turns) != len(answer):
        why = f"the episode ended in turn {len(turns)} of {len(answer)}"
        return wrong("multi_turn:force_terminated", why)
    written = Instances(package, request).written
    steps = [[[written(call["name"], call["arguments"]) for call in step] for step in turn] for turn in turns]
    return verdict(package.check_turns, steps, answer, package.task(request), request["category"], MODEL)


def verdict(checker: Callable[..., dict[str, Any]], *arguments: Any) -> Verdict:
    """What one of the package's checkers says."""
    try:
        result = checker(*arguments)
    except Exception as error:  # they stumble over some values, such as a Java number of 5000 digits
        return wrong("checker_raised", f"{type(error).__name__}: {error}")
    if result["valid"]:
        return RIGHT
    reasons = result["error"] if "error" in result else [result["error_message"]]
    return wrong(result["error_type"], *reasons, result.get("details", {}).get("differences", ""))


def wrong(kind: str, *reasons: object) -> Verdict:
    """A verdict against the answer."""
    return {"valid": False, "error_type": kind, "error": " ".join(map(str, reasons))[:LONGEST_REASON].strip()}


def episode(package: Package, request: Request) -> str:
    """Carry out calls until the episode ends, or nobody asks any more."""
    instances = Instances(package, request)
    respond({"result": "begun"})
    for line in iter(sys.stdin.buffer.readline, b""):
        request = json.loads(line)
        if request["op"] == "end":
            return "ended"
        respond({"result": instances.call(request["name"], request["arguments"])})
    os._exit(0)


OPERATIONS: dict[str, Callable[[Package, Request], Any]] = {
    "tasks": tasks,
    "answers": answers,
    "check": check,
    "begin": episode,
}


def serve(package: Package) -> None:
    """Answer requests, each in a process of its own, until there are no more."""
    for line in iter(sys.stdin.buffer.readline, b""):
        request = json.loads(line)
        if request["op"] in OPERATIONS:
            package.prepare(request["category"])
        child = os.fork()
        if not child:
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            seconds = request.get("cpu", CHECK_CPU) if request["op"] == "check" else CPU
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
            answered(package, request)
        _, status = os.waitpid(child, 0)
        if request["op"] == "check" and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
            respond({"result": wrong("checker_ran_over", "checking the answer took too long")})
        elif status:
            sys.exit(f"bfcl worker: {request['op']} ended with status {status}")


def answered(package: Package, request: Request) -> NoReturn:
    """Answer one request, then end this process."""
    try:
        respond({"result": OPERATIONS[request["op"]](package, request)})
    except Exception:
        respond({"failure": traceback.format_exc()})
    os._exit(0)


def respond(answer: dict[str, Any]) -> None:
    """Write a line to whoever asked."""
    responses.write(json.dumps(answer) + "\n")
    responses.flush()


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    responses = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the package prints
    serve(Package())

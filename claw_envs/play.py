"""`claw play`: a person steps an environment by hand, in the terminal.

A message may have several lines; a lone `.` or the end of input (Ctrl-D) sends it. An empty message, or Ctrl-C, ends.
"""

import sys
from typing import Any

import msgspec

from claw_envs.core.env import ClawEnv
from claw_envs.make import make_env

_HELP = "Type a message; a line with a single '.' sends it. Ctrl-C, or Ctrl-D with nothing typed, ends."


def play(name: str, *, task: str | None, source: str | None, seed: int | None, settings: dict[str, str]) -> None:
    """Play one episode on standard input and output.

    Raises:
        UserError: unknown family, task, set or constructor argument.
    """
    arguments = {key: value_of(text) for key, text in settings.items()} | ({"tasks": source} if source else {})
    env = make_env(name, arguments, said="--set")
    try:
        _episode(env, task=task, seed=seed)
    except KeyboardInterrupt:
        print("\nended")
    finally:
        env.close()


def value_of(text: str) -> Any:
    """`3`, `true`, `[1, 2]` as JSON; everything else is itself a string."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _episode(env: ClawEnv, *, task: str | None, seed: int | None) -> None:
    _, info = env.reset(seed=seed, options={} if task is None else {"task": task})
    print(f"Task {info['task_id']} ({env.family}), at most {env.task.limits.max_steps} messages. {_HELP}")
    if info["system_prompt"]:
        print(f"\n[system]\n{info['system_prompt']}")
    if info["tools"]:
        print("\n[tools] (? marks what may be left out)", *map(_signature, info["tools"]), sep="\n")
    while True:
        print(f"\n[{env.last_observation.role}]\n{env.last_observation.text}")
        if info["status"] != "RUNNING":
            return
        message = _read_message()
        if message is None:
            print("ended")
            return
        _, reward, _, _, info = env.step(message)
        seconds = info["timings"].get("step", 0.0)
        print(f"\n-- step {info['step_index']}: reward {reward:g}, {info['status']}, {seconds:.2f} s")
        if "report" in info:
            print(f"-- report {msgspec.json.encode(info['report'], enc_hook=repr).decode()}")


def _signature(tool: dict[str, Any]) -> str:
    """`run_command(command, timeout?)` of an OpenAI function schema."""
    function = tool["function"]
    parameters = function.get("parameters", {})
    needed = parameters.get("required", ())
    names = (name if name in needed else f"{name}?" for name in parameters.get("properties", {}))
    return f"{function['name']}({', '.join(names)})"


def _read_message() -> str | None:
    """The lines up to a lone `.` or the end of input; None where there is nothing more to come."""
    if sys.stdin.isatty():
        print("\n[you]")
    lines: list[str] = []
    for line in sys.stdin:
        if line.rstrip("\r\n") == ".":
            break
        lines.append(line)
    return "".join(lines).rstrip("\n") or None

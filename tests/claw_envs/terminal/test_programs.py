"""Interactive programs as an agent uses them: real ones, in real sandboxes."""

import asyncio
import re
import shutil
from collections.abc import Callable
from typing import Any

import pytest

from claw_envs.core.loop import run_sync
from claw_envs.terminal.env import TerminalEnv

from .acting import SUBMIT, bash, calls

MakeEnv = Callable[..., TerminalEnv]


class Agent:
    """Makes calls one at a time and reads the answers."""

    def __init__(self, env: TerminalEnv) -> None:
        self.env = env
        self.info: dict[str, Any] = {}

    def do(self, name: str, **arguments: Any) -> str:
        observation, *_, self.info = self.env.step(calls((name, arguments)))
        return str(observation["text"])

    def start(self, command: str, expected: str = "") -> int:
        """Start a program and wait until `expected` is on its screen; its number."""
        text = self.do("start_process", command=command)
        found = re.match(r"\[process (\d+) running \| 24x80 \| cursor \d+,\d+", text)
        assert found, text
        self._until(int(found[1]), text, expected)
        return int(found[1])

    def press(self, process: int, keys: str | list[str], expected: str) -> str:
        return self._until(process, self.do("send_keys", process=process, keys=keys), expected)

    def type(self, process: int, text: str, expected: str) -> str:
        return self._until(process, self.do("write_to_process", process=process, text=text), expected)

    def _until(self, process: int, text: str, expected: str) -> str:
        """A busy machine may be quiet for a while before a program has answered: look again, as an agent would."""
        for _ in range(20):
            if expected in text:
                return text
            text = self.do("view_process", process=process, wait=5)
        raise AssertionError(f"{expected!r} never came: {text}")


@pytest.fixture
def agent(make_env: MakeEnv) -> Agent:
    return Agent(make_env(max_steps=500))


def test_a_python_session(agent: Agent) -> None:
    process = agent.start("python3 -i -q", ">>>")
    agent.type(process, "def double(x):\n    return 2 * x\n\n", "...\n>>>")
    agent.type(process, "double(21)\n", "\n42\n>>>")
    # a signal that comes just before one long sleep would be noticed after it
    agent.type(process, "import time; print('be' + 'gins'); [time.sleep(0.1) for _ in range(6000)]\n", "\nbegins")
    assert "KeyboardInterrupt\n>>>" in agent.press(process, "C-c", "KeyboardInterrupt\n>>>")
    text = agent.type(process, "exit(3)\n", "ended")
    assert text.startswith(f"[process {process} ended, exit 3]\n")
    assert agent.env.last_observation.exit_code == 3
    assert agent.do("view_process", process=process) == (
        f"[not run]\nProcess {process} has ended, or was stopped; none is running; start one first."
    )


@pytest.mark.skipif(shutil.which("less") is None, reason="less is not installed here")
def test_less_pages_and_searches(agent: Agent) -> None:
    agent.env.step(bash("seq -f 'line %g' 500 > lines"))
    process = agent.start("less lines", "line 23")
    assert "line 24" in agent.press(process, "Space", "line 46")
    text = agent.press(process, ["/line 400", "Enter"], "line 400")
    assert "line 300" not in text
    assert agent.press(process, "q", "ended").startswith(f"[process {process} ended, exit 0")


def test_cat_ends_with_the_input(agent: Agent) -> None:
    process = agent.start("cat > copy; echo copied")
    agent.type(process, "héllo\nwörld\n", "wörld")
    agent.press(process, "C-d", "copied")
    observation, *_ = agent.env.step(bash("cat copy"))
    assert observation["text"].endswith("héllo\nwörld")


@pytest.mark.skipif(shutil.which("vim") is None, reason="vim is not installed here")
def test_vim_edits_a_file(agent: Agent) -> None:
    process = agent.start("vim -u NONE notes", '"notes"')
    agent.press(process, ["ifirst", "Enter", "sceond", "Escape"], "sceond")
    agent.press(process, [":s/sceond/second/", "Enter"], "second")
    agent.press(process, [":wq", "Enter"], "ended")
    observation, *_ = agent.env.step(bash("cat notes"))
    assert observation["text"].endswith("\nfirst\nsecond")


FULL_SCREEN = """
import curses
def main(screen):
    chosen = 0
    while True:
        screen.erase()
        for i, name in enumerate(["apple", "banana", "cherry"]):
            screen.addstr(i + 1, 4, ("> " if i == chosen else "  ") + name)
        screen.addstr(23, 0, "%d x %d" % screen.getmaxyx())
        key = screen.getch()
        if key == 10: return chosen
        chosen += (key == curses.KEY_DOWN) - (key == curses.KEY_UP)
print("chosen", curses.wrapper(main))
"""


def test_a_full_screen_program(agent: Agent) -> None:
    agent.do("write_file", path="menu.py", content=FULL_SCREEN)
    process = agent.start("python3 menu.py", "24 x 80")
    text = agent.press(process, "Down Down", "> cherry")
    assert "\n\n      apple\n      banana\n    > cherry\n" in text
    agent.press(process, "Up", "> banana")
    assert agent.press(process, "Enter", "chosen").endswith("chosen 1")


def test_a_password_is_not_shown(agent: Agent) -> None:
    process = agent.start("read -s -p 'secret? ' x </dev/tty; echo; echo got ${#x}", "secret?")
    text = agent.type(process, "hunter2\n", "got 7")
    assert "hunter2" not in text


def test_job_control_in_a_shell(agent: Agent) -> None:
    agent.do("write_file", path="wait.py", content="import time\nprint('begins')\nwhile True: time.sleep(600)\n")
    process = agent.start("PS1='$ ' bash --norc", "$")
    agent.type(process, "python3 -u wait.py\n", "begins")
    agent.press(process, "C-z", "Stopped")
    agent.type(process, "kill -9 %1; wait; echo 'all' gone\n", "all gone")
    agent.press(process, "C-d", "ended")


def test_the_cursor_is_told_and_asked_for(agent: Agent) -> None:
    program = (
        "import os, sys, termios, tty\n"
        "tty.setcbreak(0); sys.stdout.write('abc\\x1b[6n'); sys.stdout.flush()\n"
        "print(); print(repr(os.read(0, 20))); input('more? ')\n"
    )
    agent.do("write_file", path="ask.py", content=program)
    process = agent.start("python3 ask.py", "more?")
    text = agent.do("view_process", process=process)
    assert text.splitlines()[1:] == ["abc", r"b'\x1b[1;4R'", "more?"]
    assert f"[process {process} running | 24x80 | cursor 3,7]" in text


def test_output_that_scrolled_by_is_shown_once(agent: Agent) -> None:
    process = agent.start("seq 1 100; read x; seq 101 150; read y", "\n100")
    text = agent.type(process, "\n", "\n150")
    assert "\n77\n" not in text
    process = agent.start("echo begin; read x; clear; seq 1 100; cat", "begin")
    text = agent.type(process, "\n", "\n1\n2\n")
    assert re.search(r"\| \d+ lines scrolled by\]\n", text)


def test_a_flood_is_cut_and_the_program_can_be_stopped(make_env: MakeEnv) -> None:
    agent = Agent(make_env(step_timeout=1.0))
    text = agent.do("start_process", command="yes flood")
    assert "bytes cut]" in text.partition("\n")[0]
    assert len(text) < 70_000
    assert agent.do("run_command", command="echo still here").endswith("still here")
    assert agent.do("stop_process", process=1).startswith("[process 1 stopped")
    assert agent.do("run_command", command="pgrep -c yes").endswith("\n0")


def test_hostile_output_does_not_end_the_episode(make_env: MakeEnv) -> None:
    agent = Agent(make_env())
    process = agent.start(r"printf '\033[?5A\033[9999999999999999999m\033[9K\033#8\033[?3h\377\033]0;'; cat")
    text = agent.do("stop_process", process=process)
    assert text.startswith(f"[process {process} stopped")
    assert agent.info["status"] == "RUNNING"


def test_programs_begin_where_the_shell_is(agent: Agent) -> None:
    agent.env.step(bash("mkdir -p 'a b'; cd 'a b'"))
    text = agent.do("start_process", command="pwd; sleep 0.01")
    assert "/app/a b" in text
    agent.env.step(bash("rmdir '/app/a b'"))
    assert "ended, exit" in agent.do("start_process", command="pwd; cat")


def test_a_process_that_is_not_there_is_named(agent: Agent) -> None:
    text = agent.do("view_process", process=3)
    assert text == "[not run]\nThere is no process 3; none is running; start one first."
    agent.start("cat")
    assert agent.do("send_keys", process=2, keys="q") == "[not run]\nThere is no process 2; there are 1."


def test_only_so_many_run_at_a_time(agent: Agent) -> None:
    for _ in range(8):
        agent.start("cat")
    assert "8 processes are running (1, 2, 3, 4, 5, 6, 7, 8)" in agent.do("start_process", command="cat")
    agent.do("stop_process", process=4)
    assert agent.start("cat") == 9


def test_a_command_that_is_too_long_is_not_run(agent: Agent) -> None:
    assert agent.do("start_process", command="echo " + "x" * 200_000).startswith("[not run]\nThe command cannot be")
    assert agent.start("cat") == 1


def test_input_that_nobody_reads_is_told(make_env: MakeEnv) -> None:
    agent = Agent(make_env(step_timeout=0.5))
    process = agent.start("stty raw -echo; echo ready; sleep 600", "ready")
    text = agent.do("write_to_process", process=process, text="x" * 900_000)
    assert "not everything was sent" in text


def test_a_program_that_ended_takes_no_input_and_is_shown_once(agent: Agent) -> None:
    process = agent.start("read x; echo bye; exit 5")
    assert agent.env._machine is not None
    terminal = agent.env._machine._programs._programs[process].terminal

    async def type_and_wait() -> None:
        await terminal.write(b"\n")
        await asyncio.wait_for(terminal.ended, 30)

    run_sync(type_and_wait())
    text = agent.do("write_to_process", process=process, text="late\n")
    assert text == f"[process {process} ended, exit 5 | nothing was sent]\n\nbye"
    assert agent.do("view_process", process=process).startswith("[not run]")


def test_every_kind_of_call_in_one_message(agent: Agent) -> None:
    observation, *_ = agent.env.step(
        calls(
            ("start_process", {"command": "cat"}),
            ("write_to_process", {"process": 1, "text": "x"}),
            ("view_process", {"process": 1}),
            ("stop_process", {"process": 1}),
        )
    )
    heads = [line for line in observation["text"].splitlines() if line.startswith("[")]
    assert [head.partition(" | ")[0] for head in heads] == [
        "[1/4 start_process", "[2/4 write_to_process", "[3/4 view_process", "[4/4 stop_process"
    ]  # fmt: skip
    assert [answer.call_id for answer in agent.env.last_observation.answers] == [f"call_{i}" for i in range(4)]


def test_programs_do_not_outlive_the_episode(agent: Agent) -> None:
    agent.start("sleep 6002")
    agent.env.reset()
    assert agent.do("run_command", command="pgrep -fc '^sleep 6002'").endswith("\n0")
    assert "no process 1" in agent.do("view_process", process=1)
    agent.start("trap '' TERM HUP INT; sleep 6002")
    _, reward, terminated, _, info = agent.env.step(SUBMIT)
    assert (reward, terminated, info["status"]) == (0.0, True, "COMPLETED")


def test_a_sandbox_that_dies_while_a_program_runs_aborts_the_episode(agent: Agent) -> None:
    process = agent.start("cat")
    sandbox: Any = agent.env._lease.sandbox
    sandbox._holder.kill()
    agent.do("view_process", process=process, wait=20)
    assert agent.info["status"] == "ABORTED"


@pytest.mark.filterwarnings("ignore:the local sandbox")
@pytest.mark.parametrize("backend", ["local", "docker"])
def test_other_backends_run_programs_too(
    make_task: Callable[..., Any], backend: str, request: pytest.FixtureRequest
) -> None:
    if backend == "docker":
        request.getfixturevalue("engine")
    env = TerminalEnv(str(make_task()), backend=backend, max_steps=100)
    env.reset()
    agent = Agent(env)
    agent.env.step(bash("mkdir sub; cd sub"))
    process = agent.start("python3 -i -q", ">>>")
    agent.type(process, "6 * 7\n", "42")
    agent.type(process, "import os; os.get_terminal_size()\n", "columns=80, lines=24")
    agent.type(process, "while True: pass\n\n", "while True")
    agent.press(process, "C-c", "KeyboardInterrupt")
    assert agent.type(process, "exit(4)\n", "ended").startswith("[process 1 ended, exit 4]")
    agent.do("write_file", path="f", content="x")
    assert agent.do("run_command", command="cat f").endswith("/sub]\nx")
    env.close()

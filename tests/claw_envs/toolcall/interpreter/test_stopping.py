"""Code that runs over, breaks the interpreter, or is not waited for."""

import ast
import asyncio
from pathlib import Path

import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox import make_sandbox
from claw_envs.toolcall.interpreter import line
from claw_envs.toolcall.interpreter.session import Interpreter

from .conftest import Python
from .test_running import GONE, KEPT


def test_code_that_runs_over_is_interrupted_and_keeps_its_variables(python: Python) -> None:
    result = python("x = 1\nprint('begun')\nwhile True:\n    x += 1", timeout=0.3)
    assert result.text.startswith("begun\nTraceback (most recent call last):\n")
    assert result.text.endswith(f"KeyboardInterrupt\n[interrupted after 0.3 s; {KEPT}")
    assert (result.error, result.timed_out, result.restarted) == (True, True, False)
    assert python("x > 1").text == "True"


def test_copies_that_code_forks_are_interrupted_silently(python: Python) -> None:
    result = python("import os\nos.fork(); os.fork()\nwhile True: pass", timeout=0.3)
    assert result.text.count("KeyboardInterrupt") == 1


@pytest.mark.parametrize("code", ["import time; time.sleep(600)", "os.system('sleep 600')", "open('p')"])
def test_waiting_code_is_interrupted(python: Python, code: str) -> None:
    python("import os\nif not os.path.exists('p'): os.mkfifo('p')\nx = 1")
    assert python(code, timeout=0.3).timed_out
    assert python("x").text == "1"


@pytest.mark.parametrize(
    "code",
    [
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
        "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())\nwhile True: pass",
        "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    ],
)
def test_code_that_does_not_react_is_killed(python: Python, code: str) -> None:
    python("x = 1")
    result = python("print('begun')\n" + code, timeout=0.3)
    assert result.text == f"begun\n[killed after 0.3 s, as it did not react to an interrupt: {GONE}"
    assert (result.error, result.timed_out, result.restarted) == (True, True, True)
    assert python("x").text.endswith("NameError: name 'x' is not defined")


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("import os; os._exit(7)", "exited with code 7"),
        ("import os; os.kill(os.getpid(), 9)", "was killed, if not by the code then for its memory,"),
        ("import ctypes; ctypes.string_at(0)", "was ended by SIGSEGV"),
        ("import os; os.closerange(3, 1000)", "exited with code 1"),
    ],
)
def test_an_interpreter_that_dies_is_replaced(python: Python, code: str, how: str) -> None:
    result = python(f"print('said')\n{code}")
    assert result.text.startswith("said\n")
    assert result.text.endswith(f"[the interpreter {how} and was replaced: {GONE}")
    assert (result.error, result.timed_out, result.restarted) == (True, False, True)
    assert python("1 + 1") == ("2", False, False, 0, False)


def test_one_that_dies_between_calls_is_told_of_in_the_next(python: Python) -> None:
    python.sh("rm -f end; mkfifo end")
    pid = python(
        "import os, threading\nend = threading.Thread(target=lambda: open('end').read() and os._exit(0))\n"
        "end.start()\nos.getpid()"
    )
    python.sh(f"echo x > end; while ! grep -q ') Z' /proc/{pid.text}/stat; do sleep 0.02; done")
    result = python("1")
    assert result.text == f"[the interpreter had ended since the last call: {GONE}\n1"
    assert (result.error, result.restarted) == (False, True)


@pytest.mark.parametrize("number", [9, 15])
def test_a_killed_driver_is_replaced_and_takes_all_with_it(python: Python, number: int) -> None:
    pids = python("import os, subprocess\np = subprocess.Popen(['sleep', '1000'])\nprint(os.getpid(), p.pid)").text
    result = python(f"import time\nos.kill(os.getppid(), {number})\nwhile True: time.sleep(1)")
    assert result == (f"[the interpreter has ended and was replaced: {GONE}", True, False, 0, True)
    alive = "; ".join(f"! grep -q '^State:.[RSDT]' /proc/{pid}/status || echo {pid}" for pid in pids.split())
    assert python.sh(f"({alive}) 2>/dev/null") == ""
    assert python("1").text == "1"


def test_a_stopped_driver_is_replaced(python: Python, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line, "SPARE", 0.5)
    result = python("import os, signal; os.kill(os.getppid(), signal.SIGSTOP)", timeout=0.5)
    assert result == (f"[the interpreter did not stop after 0.5 s and was replaced: {GONE}", True, True, 0, True)
    assert python("1").text == "1"


def test_a_call_can_be_cancelled(python: Python) -> None:
    python.sh("rm -f begun; mkfifo begun")

    async def cancel() -> None:
        call = asyncio.ensure_future(
            python.interpreter.run("open('begun', 'w').write('x')\nwhile True: pass", timeout=600)
        )
        await python.sandbox.exec(["cat", "begun"], timeout=60)
        assert not call.done()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    python.wait(cancel())
    assert python("1").text == f"[the interpreter had ended since the last call: {GONE}\n1"
    assert python("1").text == "1"


def test_calls_wait_for_each_other(python: Python) -> None:
    async def both() -> list[str]:
        run = python.interpreter.run
        results = await asyncio.gather(run("x = 1", timeout=60), run("x += 1", timeout=60), run("x", timeout=60))
        return [result.text for result in results]

    assert python.wait(both()) == ["", "", "2"]


def test_what_the_agent_left_running_does_not_keep_a_new_one_from_starting() -> None:
    """With every process that it may have taken, no interpreter starts before those are killed."""
    bomb = (
        "import os, time\n"
        "first, driver = os.getpid(), os.getppid()\n"
        "while True:\n"
        "    try:\n"
        "        if os.fork() == 0: os.setsid()\n"
        "    except OSError:\n"
        "        if os.getpid() == first: os.kill(driver, 9)\n"
        "        time.sleep(0.01)"
    )

    async def main() -> str:
        sandbox = make_sandbox(SandboxSpec(pids=24), "namespace")
        await sandbox.start()
        try:
            python = Interpreter(sandbox)
            first = await python.run(bomb, timeout=60)
            assert first.restarted
            return (await python.run("'fine'", timeout=60)).text
        finally:
            await sandbox.close()

    assert asyncio.run(main()).endswith("'fine'")


def test_a_lost_sandbox_is_an_error_of_ours() -> None:
    async def main() -> None:
        sandbox = make_sandbox(SandboxSpec(), "namespace")
        await sandbox.start()
        python = Interpreter(sandbox)
        await python.start()
        call = asyncio.ensure_future(python.run("while True: pass", timeout=600))
        await asyncio.sleep(0)
        await sandbox.close()
        for _ in range(2):
            with pytest.raises(InfrastructureError):
                await call
            call = asyncio.ensure_future(python.run("1", timeout=60))
        with pytest.raises(InfrastructureError):
            await call

    asyncio.run(main())


@pytest.mark.filterwarnings("ignore:the local sandbox isolates nothing")
def test_a_sandbox_without_python_is_the_users_mistake() -> None:
    async def main() -> None:
        sandbox = make_sandbox(SandboxSpec(env={"PATH": "/nowhere"}), "local")
        await sandbox.start()
        try:
            with pytest.raises(UserError, match="needs python3 in the sandbox's image"):
                await Interpreter(sandbox).start()
        finally:
            await sandbox.close()

    asyncio.run(main())


@pytest.mark.parametrize("name", ["driver.py", "worker.py"])
def test_what_runs_inside_is_older_python(name: str) -> None:
    ast.parse(Path(line.__file__).with_name(name).read_text(), feature_version=(3, 8))

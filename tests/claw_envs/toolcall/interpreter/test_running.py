"""What code does in the interpreter, and what is shown of it."""

import re

import pytest

from .conftest import Python

KEPT = "variables are kept]"
GONE = "all variables, functions and imports are gone]"


def test_state_survives_and_the_last_expression_is_shown(python: Python) -> None:
    python("import math\nclass A:\n    def f(self): return math.factorial(self.n)")
    python("a = A(); a.n = 5")
    assert python("a.f()").text == "120"
    assert python("print('x'); 'y'; _ = 3; a.n").text == "x\n5"
    assert python("None").text == ""
    assert python("_").text == "3"  # as it was set


def test_the_value_before_is_an_underscore(python: Python) -> None:
    python("6 * 7")
    assert python("_ + 1").text == "43"


def test_output_keeps_its_order_whoever_writes_it(python: Python) -> None:
    code = (
        "import os, subprocess, sys\n"
        "print('one')\n"
        "subprocess.run('echo two; echo three >&2', shell=True)\n"
        "print('four', file=sys.stderr)\n"
        "os.write(1, b'five\\n')\n"
        "os.system('echo six')\n"
        "print('seven')"
    )
    assert python(code).text == "one\ntwo\nthree\nfour\nfive\nsix\nseven"


def test_what_the_c_library_holds_back_is_shown(python: Python) -> None:
    assert python("import ctypes\nctypes.CDLL(None).puts(b'from C') and None").text == "from C"


def test_a_traceback_is_the_codes_own(python: Python) -> None:
    python("def f(n):\n    return 1 / n")
    result = python("x = 1\nf(0)")
    lines = [line for line in result.text.splitlines() if set(line) - set(" ^~")]
    assert result.error
    assert lines == [
        "Traceback (most recent call last):",
        '  File "<call 2>", line 2, in <module>',
        "    f(0)",
        '  File "<call 1>", line 2, in f',
        "    return 1 / n",
        "ZeroDivisionError: division by zero",
    ]
    chained = python("try: f(0)\nexcept ZeroDivisionError: [][1]").text
    assert "During handling of the above exception" in chained
    assert "worker" not in chained
    assert python("x").text == "1"  # what ran before it is kept


def test_a_syntax_error_shows_where(python: Python) -> None:
    result = python("x = 1\nx = = 2")
    assert result.error
    assert result.text.startswith('  File "<call 1>", line 2\n    x = = 2\n')
    assert result.text.endswith("SyntaxError: invalid syntax")


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("", ""),
        ("# nothing", ""),
        ("\ufeff1 + 1", "2"),
        ("x = 1\r\nx + 1\r\n", "2"),
        ("if True:\n\tx = 3\nx", "3"),
        ("'é€😀'", "'é€😀'"),
        ("print('\\ud800')", "\\ud800"),
        ("'\\0'", "'\\x00'"),
        ("print('a\\0b')", "a\0b"),
        ("len('''" + "x" * 1_000_000 + "''')", "1000000"),
        ("\f1", "1"),
        ("import asyncio\nawait asyncio.sleep(0, 'slept')", "'slept'"),
        ("async def f(): return 4\nx = await f()\nx", "4"),
        ("__name__", "'__main__'"),
        ("import pickle\ndef f(): pass\npickle.loads(pickle.dumps(f)) is f", "True"),
        ("import inspect\ndef f(): return 5\ninspect.getsource(f)", "'def f(): return 5\\n'"),
    ],
)
def test_any_text_can_be_run(python: Python, code: str, text: str) -> None:
    assert python(code) == (text, False, False, 0, False)


@pytest.mark.parametrize(
    ("code", "ends"),
    [
        ("1\0", "(ValueError|SyntaxError): source code (string )?cannot contain null bytes"),
        ("'\ud800'", "UnicodeEncodeError: .*surrogates not allowed"),
        ("if True:\n\tx = 1\n        y = 2", "TabError: .*|IndentationError: .*"),
        ("  x = 1", "IndentationError: unexpected indent"),
        ("(" * 1_000_000, "SyntaxError: too many nested parentheses|MemoryError.*"),
        ("return 1", "SyntaxError: 'return' outside function"),
        ("input()", "EOFError: EOF when reading a line"),
        ("def f(): f()\nf()", "RecursionError: .*"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        (
            "class E(Exception):\n    def __str__(self): 1 / 0\nraise E",
            ".*E: <(exception str\\(\\) failed|unprintable E object)>",
        ),
        ("import sys\nsys.modules.pop('traceback').format_exception = None\n1 / 0", "ZeroDivisionError.*"),
    ],
)
def test_what_cannot_be_run_says_why(python: Python, code: str, ends: str) -> None:
    result = python(code)
    assert re.fullmatch(ends, result.text.splitlines()[-1].strip()), result.text[-300:]
    assert (result.error, result.restarted) == (True, False)
    assert python("'fine'").text == "'fine'"


def test_leaving_is_told_and_keeps_the_variables(python: Python) -> None:
    python("import sys; x = 1")
    assert python("print('so'); exit()") == (f"so\n[exit code 0; {KEPT}", False, False, 0, False)
    assert python("sys.exit(3)") == (f"[exit code 3; {KEPT}", True, False, 0, False)
    assert python("sys.exit('why')") == (f"why\n[exit code 1; {KEPT}", True, False, 0, False)
    assert python("print(x)").text == "1"


def test_long_output_keeps_head_and_tail(python: Python) -> None:
    result = python("print('a' * 6_000 + 'b' * 20_000 + 'c' * 6_000)")
    assert result.truncated_bytes == 32_001 - 10_000
    assert result.text == "a" * 5_000 + "\n[... 22001 bytes of output omitted ...]\n" + "c" * 4_999
    assert python("'€' * 5_000").truncated_bytes == 5_003  # a cut character is replaced, not an error


def test_memory_runs_out_for_the_code_only(python: Python) -> None:
    python("x = 1")
    result = python("y = bytearray(300 << 20)")
    assert (result.error, result.text.splitlines()[-1]) == (True, "MemoryError")
    assert python("def f():\n    kept = []\n    while True: kept.append(' ' * 1_000_000)\nf()").text.endswith(
        "\nMemoryError"
    )
    assert python("x").text == "1"
    result = python("kept = []\nwhile True: kept.append(' ' * 100_000)")
    end = f"MemoryError\n[the interpreter was killed, if not by the code then for its memory, and was replaced: {GONE}"
    assert result.text.endswith(end)
    assert python("1").text == "1"


def test_a_copy_that_code_forks_does_not_take_the_next_call(python: Python) -> None:
    code = "import os\nif os.fork() == 0:\n    print('child')\nelse:\n    os.wait()\n    print('parent')"
    assert python(code).text == "child\nparent"
    assert python("1").text == "1"


def test_modules_beside_the_code_can_be_imported_and_do_not_stand_in_for_others(python: Python) -> None:
    python("open('beside.py', 'w').write('x = 5'); open('select.py', 'w').write('1 / 0')")
    assert python("import beside; beside.x").text == "5"
    python("import os; os._exit(0)")
    assert python("1").text == "1"
    python("import os; os.kill(os.getppid(), 9)")
    assert python("1").text == "1"


@pytest.mark.parametrize(
    "harm",
    [
        "import sys; sys.stdout = sys.stderr = sys.stdin = None",
        "import sys; sys.stdout.close(); sys.stderr.close(); sys.__stdout__ = None",
        "import os; os.close(0); os.close(1); os.close(2)",
        "import os; os.set_blocking(1, False)",
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)",
        "import atexit; atexit.register(print, 'late')",
        "import sys; sys.displayhook = None; sys.displayhook = sys.__displayhook__",
    ],
)
def test_the_next_call_starts_with_a_sound_way_in_and_out(python: Python, harm: str) -> None:
    python("x = 1")
    assert not python(harm).restarted
    assert python("print(x); x + 1") == ("1\n2", False, False, 0, False)
    assert python("while True: pass", timeout=0.2).text.endswith(f"[interrupted after 0.2 s; {KEPT}")


def test_output_between_calls_belongs_to_none(python: Python) -> None:
    python.sh("mkfifo go done")
    python("import subprocess\nlate = subprocess.Popen('read x < go; echo LATE; echo > done', shell=True)")
    python.sh("echo > go; cat done")
    assert python("late.wait()").text == "0"

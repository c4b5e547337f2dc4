"""An agent's pyautogui code: the events it makes, and everything that it must not be able to do."""

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from claw_envs.gui.desktop.inside.pyautogui import MOST_CODE, carry_out
from tests.claw_envs.gui.desktop.inside.hands import Hands

EVENTS: dict[str, list[str]] = json.loads((Path(__file__).parent / "pyautogui_events.json").read_text())
"""Code -> the events of the X server when pyautogui 0.9.54 itself ran it, without moves that move nothing."""


def ran(code: str, *, timeout: float = 30.0) -> tuple[str | None, Hands]:
    hands = Hands()
    return carry_out(code, hands, timeout=timeout, sleep=hands.sleep), hands


def events(code: str) -> list[str]:
    error, hands = ran(code)
    assert error is None
    return hands.events


def problem(code: str) -> str:
    error, _ = ran(code)
    assert error is not None, "it was carried out"
    return error


@pytest.mark.parametrize("code", EVENTS)
def test_it_does_what_pyautogui_does(code: str) -> None:
    assert events(code) == EVENTS[code]


PYTHON = {
    "imports": ("import pyautogui\nimport time\npyautogui.press('a')", "a"),
    "another name": ("import pyautogui as pg, time as t\npg.press('a'); t.sleep(1)", "a"),
    "names of functions": ("from pyautogui import press as p, hotkey\nfrom time import sleep\nsleep(0.1)\np('a')", "a"),
    "variables": ("k = 'a'\nn: int = 2\nn += 1\npyautogui.press(k, n)", "aaa"),
    "several at once": ("a, (b, c) = 'x', ['y', 'z']\npyautogui.press([c, b, a])", "zyx"),
    "arithmetic": ("pyautogui.press('a', (7 // 2 + 2 * 3) % 4 - -1)", "aa"),
    "comparisons": (
        "if 1 < 2 <= 2 and not 3 == 4 or False:\n  pyautogui.press('a')\nelse:\n  pyautogui.press('b')",
        "a",
    ),
    "elif": ("x = 3\nif x == 1: pass\nelif x in [2, 3]: pyautogui.press('b')", "b"),
    "a conditional expression": ("pyautogui.press('a' if 'lo' in 'hello' else 'b')", "a"),
    "for over a range": ("for i in range(1, 6, 2): pyautogui.press(str(i))", "135"),
    "for over a list of pairs": ("for a, b in [('x', 2), ('y', 1)]:\n  pyautogui.press(a, presses=b)", "xxy"),
    "for over enumerate": ("for i, c in enumerate('ab'): pyautogui.press([c, str(i)])", "a0b1"),
    "for over zip": ("for a, b in zip('ab', 'xy'): pyautogui.press([a, b])", "axby"),
    "break, continue, else": (
        "for i in range(9):\n  if i == 1: continue\n  if i == 3: break\n  pyautogui.press(str(i))\n"
        "for i in []: pass\nelse: pyautogui.press('e')",
        "02e",
    ),
    "f-strings": ("n = 7\nfor c in f'{n:03d}{\"x\"!r}': pyautogui.press(c)", "007'x'"),
    "methods": ("for c in ' A,b '.strip().lower().replace(',', '').split('x')[0]: pyautogui.press(c)", "ab"),
    "a list that grows": ("k = []\nk.append('a')\nk.append('b')\npyautogui.press(k[::-1] + k[:1])", "baa"),
    "stars": ("pyautogui.press(*['a', 2])", "aa"),
    "print is heard by nobody": ("print('hello', 3)\npyautogui.press('a')", "a"),
    "points": ("p = pyautogui.position()\npyautogui.press(str(p.x // 100 + p[1] // 400))", "7"),
    "sizes": ("w, h = pyautogui.size()\nif pyautogui.size().width == w: pyautogui.press('a')", "a"),
    "constants": ("pyautogui.FAILSAFE = False\nif pyautogui.RIGHT == 'right': pyautogui.press('a')", "a"),
    "comments and texts of several lines": ("'''\nfirst\n'''\n# then\npyautogui.press('a')  # a", "a"),
}


@pytest.mark.parametrize(("code", "pressed"), PYTHON.values(), ids=PYTHON)
def test_the_python_that_there_is(code: str, pressed: str) -> None:
    assert events(code) == [event for key in pressed for event in (f"down {key}", f"up {key}")]


def test_a_click_may_glide_there_by_a_curve_and_be_logged() -> None:
    code = "pyautogui.click(700, 400, duration=0.2, tween=pyautogui.easeInOutQuad, logScreenshot=True, _pause=False)"
    assert events(code)[-3:] == ["move 700 400", "press left", "release left"]


def test_a_box_is_clicked_in_its_middle() -> None:
    assert events("pyautogui.click((100, 100, 20, 40))")[0] == "move 110 120"


def test_a_text_holds_any_character() -> None:
    assert "down é" in events("pyautogui.write('é🙂')")


REFUSED = {
    "import os": "can be imported",
    "import os.path": "can be imported",
    "from os import system": "can be imported",
    "from . import pyautogui": "ImportFrom",
    "from pyautogui import *": "name what you import",
    "import pyperclip": "only pyautogui and time can be imported, not pyperclip",
    "__import__('os')": "'__import__'",
    "open('/etc/passwd')": "'open'",
    "eval('1')": "'eval'",
    "exec('1')": "'exec'",
    "getattr(pyautogui, 'size')": "'getattr'",
    "pyautogui.__dict__()": "there is no pyautogui.__dict__",
    "pyautogui.os.system('x')": ".system",
    "pyautogui.sleep.__globals__": "__globals__",
    "().__class__": "__class__",
    "'{0.__class__}'.format(1)": ".format()",
    "'%s' % 1": "Mod of str and int",
    "f'{1:>{10**9}}'": "Pow",
    "f'{1:>999999999}'": "no format",
    "time.time()": "only time.sleep",
    "lambda: 1": "no Lambda",
    "[x for x in 'ab']": "no ListComp",
    "{'a': 1}": "no Dict",
    "while True: pass": "no While",
    "def f(): pass": "no FunctionDef",
    "class A: pass": "no ClassDef",
    "try: pass\nfinally: pass": "no Try",
    "del pyautogui": "no Delete",
    "assert False": "no Assert",
    "global x": "no Global",
    "with open('x') as f: pass": "no With",
    "with pyautogui.position(): pass": "pyautogui.hold",
    "pyautogui = 1\npyautogui.click()": "line 2: there is no .click() of int",
    "pyautogui.click = 1": "cannot be set",
    "time.sleep = 1": "cannot be set",
    "x = [1]\nx[0] = 2": "line 2: only variables",
    "b'ab'": "no values such as bytes",
    "2 ** 9": "Pow of int and int",
    "1 << 99": "LShift",
    "~1": "UnaryOp",
    "1 / 0": "division by zero",
    "[1][3]": "out of range",
    "'a' + 1": "can only concatenate",
    "sorted([1, 'a'])": "not supported",
    "a": "there is no 'a' here",
    "a, b = 1": "2 variables take as many",
    "pyautogui()": "nothing that can be called",
    "break": "outside of any loop",
    "pyautogui.click(**{})": "Dict",
    "pyautogui.click(1, 2, 3, 4, 5, 6, 7, 8, 9)": "too many positional arguments",
    "pyautogui.click(z=1)": "unexpected keyword argument 'z'",
    "pyautogui.click('button.png')": "look at the screen",
    "pyautogui.click([1, 2, 3])": "a point is two numbers",
    "pyautogui.click(True, 1)": "x is a number of pixels, not True",
    "pyautogui.click(1e12, 1)": "x is a number of pixels",
    "pyautogui.click(float('nan'), 1)": "too large",
    "pyautogui.click(float('inf'), 1)": "too large",
    "pyautogui.click(button='up')": "a button is",
    "pyautogui.click(clicks=100000)": "at most 200",
    "pyautogui.press('enter', presses=-1)": "at most 200",
    "pyautogui.press('nokey')": "there is no key 'nokey'",
    "pyautogui.press([])": "keys are a text",
    "pyautogui.press(3)": "keys are a text",
    "pyautogui.hotkey()": "keys are a text",
    "pyautogui.hotkey('ctrl', 1)": "a key is named by a text",
    "pyautogui.hotkey('ctrl', 'nokey')": "there is no key 'nokey'",
    "with pyautogui.hold('nokey'): pass": "there is no key 'nokey'",
    "pyautogui.write(5)": "a text",
    "pyautogui.write('a' * 20001)": "a text of at most",
    "pyautogui.scroll('up')": "number of notches",
    "pyautogui.screenshot()": "there is no pyautogui.screenshot",
    "pyautogui.locateOnScreen('a.png')": "there is no pyautogui.locateOnScreen",
    "pyautogui.alert('hello')": "there is no pyautogui.alert",
    "time.sleep(-1)": "a number of seconds",
    "time.sleep('1')": "a number of seconds",
    "pyautogui.PAUSE = 'a'\npyautogui.press('a')\npyautogui.press('a')": "PAUSE is a number of seconds",
    "pyautogui.click(": "line 1: ",
    "  pyautogui.click()": "unexpected indent",
    "'\0'": "",
    "'\ud800'": "no code can hold",
}


@pytest.mark.parametrize("code", REFUSED)
def test_what_there_is_not(code: str) -> None:
    assert REFUSED[code] in problem(code)


BOMBS = {
    "a long loop": "for i in range(4000):\n for j in range(4000): pass",
    "a long range": "range(1000000000)",
    "a text again and again": "x = 'ab'\nfor i in range(99): x = x + x",
    "a repeated text": "'a' * 900000000000",
    "a repeated list": "900000000000 * [1]",
    "a list again and again": "x = [1]\nfor i in range(99): x += x",
    "lists in lists": "x = [1]\nfor i in range(99): x = [x, x]\nstr(x)",
    "a list in itself": "x = []\nx.append(x)\nstr(x)",
    "a great number": "x = 99\nfor i in range(99): x = x * x",
    "a number of many digits": f"int('{'9' * 15000}')",
    "rounded to many digits": "round(5, -1000000000)",
    "joined": "x = 'a' * 40000\nx.join(['b'] * 4000)",
    "replaced": "('a' * 50000).replace('a', 'b' * 50000)",
    "in parentheses": "(" * 9000,
    "negated": "-" * 9000 + "1",
    "not, not, not": "not " * 4000 + "1",
    "added": "1" + "+1" * 9000,
    "attributes of attributes": "a" + ".b" * 9000,
    "parts of parts": "a" + "[0]" * 6000,
    "calls of calls": "print" + "()" * 9000,
    "ifs in ifs": "\n".join(" " * n + "if 1:" for n in range(150)) + "\n" + " " * 150 + "pass",
    "too much code": "#" * (MOST_CODE + 1),
}


@pytest.mark.parametrize("name", BOMBS)
def test_no_code_takes_the_time_or_the_memory_of_the_desktop(name: str) -> None:
    started = time.process_time()
    error, _ = ran(BOMBS[name])
    assert error
    assert len(error) < 500
    assert time.process_time() - started < 5


def test_time_is_bounded() -> None:
    error, hands = ran("pyautogui.press('a')\ntime.sleep(20)\ntime.sleep(20)", timeout=30.0)
    assert error is None, "as nobody really slept"
    error, hands = ran("pyautogui.press('a')\ntime.sleep(31)", timeout=30.0)
    assert error == "line 2: there are 30 seconds for the code, and its pauses take longer"
    assert hands.events == ["down a", "up a"], "what came before is done"
    assert hands.slept == []


def test_between_calls_there_is_a_pause_as_pyautogui_makes_it() -> None:
    _, hands = ran("pyautogui.press('a')")
    assert hands.slept == [], "none after the last call"
    _, hands = ran("pyautogui.PAUSE = 0.5\npyautogui.press('a')\npyautogui.position()\npyautogui.press('b')")
    assert hands.slept == [0.5]


def test_what_is_held_is_let_go_when_the_code_fails() -> None:
    for code in (
        "with pyautogui.hold('shift'):\n  pyautogui.press('nokey')",
        "with pyautogui.hold(['shift', 'nokey']): pass",
        "pyautogui.hotkey('shift', 'nokey')",
        "pyautogui.dragTo(1, 2, duration='long')",
    ):
        error, hands = ran(code)
        assert error, code
        assert hands.events in (["down shift", "up shift"], ["press left", "release left"]), code


def test_it_names_the_line() -> None:
    assert problem("x = 1\n\nfor i in range(2):\n  pyautogui.press('a')\n  y").startswith("line 5: ")


def test_nothing_that_an_agent_writes_makes_it_raise() -> None:
    chance = random.Random(7)
    pieces = [
        *("pyautogui", ".", "click", "press", "(", ")", "'a'", "'enter'", ",", "=", "for i in ", "range(3)", ":"),
        *("\n", "  ", "if ", "x", "1", "-2.5", "[", "]", "f'{x}'", "+", "*", "%", "with ", "hold", "and ", "not "),
        *("time.sleep", "import ", "None", "True", ";", "else", "{", "}", "lambda", "**", "is ", "in ", "\\", "\ud800"),
    ]
    for _ in range(3000):
        code = "".join(chance.choice(pieces) for _ in range(chance.randint(1, 25)))
        error, _ = ran(code, timeout=5.0)
        assert error is None or isinstance(error, str)
    for _ in range(500):
        whole = chance.choice(list(EVENTS))
        at = chance.randrange(len(whole))
        ran(whole[:at] + chance.choice(pieces) + whole[at + 1 :])


def test_it_needs_nothing_but_the_standard_library() -> None:
    """The desktop's own Python has none of the project's packages."""
    root = Path(__file__).parents[5] / "claw_envs" / "gui" / "desktop" / "inside"
    script = (
        "import sys, types\n"
        "for name in ('claw_envs', 'claw_envs.gui', 'claw_envs.gui.desktop', 'claw_envs.gui.desktop.inside'):\n"
        "    sys.modules[name] = types.ModuleType(name)\n"
        f"    sys.modules[name].__path__ = [{str(root)!r}]\n"
        "from claw_envs.gui.desktop.inside.pyautogui import carry_out\n"
        "print(carry_out('1 +', None, timeout=1))\n"
    )
    done = subprocess.run([sys.executable, "-ISc", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "line 1: invalid syntax\n"

"""The rules judge on turns of chat and terminal."""

import asyncio
from typing import Any

import msgspec
import pytest

from claw_envs.core.episode import Observation, Turn, Verdict
from claw_envs.core.task import VerifierSpec
from judges import RulesJudge

from .turns import CHAT, TERMINAL, chat_turn, shell_turn


def judged(turn: Turn) -> Verdict:
    chat = turn.observation is not None and turn.observation.role == "user"
    return asyncio.run(RulesJudge().judge(turn, [], CHAT if chat else TERMINAL))


def bash(command: str) -> str:
    return f"I try this.\n\n```bash\n{command}\n```"


def test_a_reaction_gives_score_and_hint() -> None:
    assert judged(chat_turn("Thanks!")) == Verdict(score=1.0, votes=[1.0])
    verdict = judged(chat_turn("No, just tell me the answer."))
    assert (verdict.score, verdict.hint) == (-1.0, "just tell me the answer.")
    assert judged(chat_turn("What's a good name for a hamster?")).score == 0.0


def test_the_question_is_taken_from_the_conversation() -> None:
    turn = chat_turn("How far is it from Lima to Quito?")
    turn.messages = [{"role": "user", "content": "How far is it from Lima to Quito?"}]
    assert judged(turn).score == -1.0
    turn.examples = 1  # then nobody has asked it yet
    assert judged(turn).score == 0.0


@pytest.mark.parametrize(
    ("command", "code", "output", "score"),
    [
        ("ls", 0, "a.txt", 1),
        ("cat nothing", 1, "cat: nothing: No such file or directory", -1),
        ("nosuch", 127, "bash: nosuch: command not found", -1),
        ("grep -q needle hay.txt", 1, "", 1),
        ("cd src && grep -rn 'a | b; c' . | grep x", 1, "", 1),
        ("grep needle nothing", 2, "grep: nothing: No such file or directory", -1),
        ("sudo LC_ALL=C /usr/bin/diff a b", 1, "1c1\n< x", 1),
        ("[ -f a.txt ]", 1, "", 1),
        ("test -d src", 1, "", 1),
        ("git diff --exit-code", 1, "diff --git a b", 1),
        ("git commit -m x", 1, "nothing to commit", -1),
        ("cd nowhere && grep x y", 1, "bash: cd: nowhere: No such file or directory", -1),
        ("grep x y; python t.py", 1, "AssertionError", -1),
        ("python t.py # then ; grep", 1, "", -1),
        ("echo 'x; grep'; false", 1, "", -1),
        ("yes | head -1", 141, "y", 1),
        ("make", 2, "make: *** [all] Error 1", -1),
        ("pytest -q tests/test_a.py", 1, "1 failed, 3 passed", None),
        ("cd /testbed && timeout 60 python3.11 -W ignore -m pytest", 1, "ERROR tests/test_a.py\n1 failed", None),
        ("PYTHONPATH=src python -m unittest -v", 1, "FAILED (failures=1)", None),
        ("./tests/runtests.py queries", 1, "FAILED (errors=1)", None),
        ("python -Wall tests/runtests.py queries", 1, "FAILED (errors=1)", None),
        ("python manage.py test", 1, "FAILED (failures=1)", None),
        ("pytest -q", 0, "4 passed", 1),
        ("pytest nosuch.py", 4, "ERROR: file or directory not found: nosuch.py", -1),
        ("pytest -q", 5, "no tests ran", -1),
        ("python -m pytest", 1, "/usr/bin/python: No module named pytest", -1),
        ("python -m json.tool pytest", 1, "Expecting value", -1),
        ("python reproduce.py", 1, "AssertionError", -1),
        ("pytest -q; false", 1, "1 failed", -1),
        ("sleep 99", None, "[stopped after 20 s | /app]", -1),
        ("submit", None, "[submitted]\nThe work is being checked.", None),
        ("exit", None, "[no exit code | /app]", None),
    ],
)
def test_a_command_s_result(command: str, code: int | None, output: str, score: float | None) -> None:
    verdict = judged(shell_turn(output, code=code, response=bash(command)))
    assert verdict.score == score
    assert verdict.status == ("abstained" if score is None else "ok")


def test_the_command_of_a_tool_call() -> None:
    turn = shell_turn("", code=1, response="I look for it.")
    for arguments in ('{"command": "grep x y"}', {"command": "grep x y"}):
        turn.tool_calls = [{"function": {"name": "run_command", "arguments": arguments}}]
        assert judged(turn).score == 1.0
    broken: list[Any] = ['{"command": ', "[1]", {"path": "x"}]
    for arguments in broken:
        turn.tool_calls = [{"function": {"name": "run_command", "arguments": arguments}}]
        assert judged(turn).score == -1.0


@pytest.mark.parametrize(
    ("response", "code", "score"),
    [
        ('I look.\n<tool_call>{"name": "bash", "arguments": {"command": "grep -n x y"}}</tool_call>', 1, 1),
        ("<tool_call>\n<function=bash>\n<parameter=command>\ngrep x y\n</parameter>\n</function>\n</tool_call>", 1, 1),
        ('<tool_call>{"name": "bash", "arguments": {"command": "python x.py"}}</tool_call>', 1, -1),
        (
            'grep, or\n<tool_call>{"name": "edit_file", "arguments": {"path": "a", "old": "b", "new": ""}}</tool_call>',
            1,
            -1,
        ),
        ('<tool_call>{"name": "edit_file", "arguments": {"path": "a", "old": "b", "new": "c"}}</tool_call>', 0, 1),
        ("<think>```bash\ngrep x y\n```</think>\n```bash\nmake\n```", 1, -1),
        ("test", 1, -1),
    ],
)
def test_the_command_is_read_as_the_environment_reads_it(response: str, code: int, score: float) -> None:
    assert judged(shell_turn("", code=code, response=response)).score == score


def test_an_edit_that_fails_is_no_search_without_a_match() -> None:
    turn = shell_turn("`old` does not occur in a.py", code=1, response="grep")
    turn.tool_calls = [{"function": {"name": "edit_file", "arguments": '{"path": "a.py", "old": "x", "new": "y"}'}}]
    assert judged(turn).score == -1.0


def test_code_that_fails_is_no_search_without_a_match() -> None:
    turn = shell_turn("[error]", code=1, response="```python\nimport sys\ntest and sys.exit(1)\n```\ntest")
    python = msgspec.structs.replace(TERMINAL, family="toolcall")
    assert asyncio.run(RulesJudge().judge(turn, [], python)).score == -1.0
    turn.observation = Observation(role="tool", text="[ok]\n17", exit_code=0)
    assert asyncio.run(RulesJudge().judge(turn, [], python)).score == 1.0


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("[not run]\nThere was no command in the message. Write one in a bash block:", -1),
        ("[not run]\nThere were 2 bash blocks; put all commands of one message in one bash block.", -1),
        ("There are no tools in this conversation. Answer the user in plain text.", -1),
        ("It is Tuesday.", None),
    ],
)
def test_a_message_of_the_environment(text: str, score: float | None) -> None:
    assert judged(shell_turn(text, code=None, role="environment")).score == score


@pytest.mark.parametrize(
    ("text", "score"), [("Traceback (most recent call last):\n  File", -1), ("ValueError: x", -1), ("42", None)]
)
def test_a_tool_without_exit_code(text: str, score: float | None) -> None:
    assert judged(shell_turn(text, code=None)).score == score


@pytest.mark.parametrize("piece", ["[", "[]\n", "a", "'", "\n", "x=1 ", "; ", "```\n", "# "])
def test_a_flood_does_not_hold_the_judge_up(piece: str) -> None:
    turn = shell_turn(piece * 50_000, code=1, response=bash(piece * 50_000))
    assert judged(turn).score == -1.0
    assert judged(shell_turn(piece * 50_000, code=None)).status in ("ok", "abstained")


def test_no_next_state_is_no_verdict() -> None:
    assert judged(Turn(episode_id="e", step=0, messages=[], response="x")).status == "abstained"


def test_a_user_who_reads_from_a_script_does_not_react() -> None:
    turn = chat_turn("No, that is wrong. Book the other flight.")
    scripted = msgspec.structs.replace(CHAT, family="toolcall", verifier=VerifierSpec(kind="bfcl"))
    assert asyncio.run(RulesJudge().judge(turn, [], scripted)).status == "abstained"
    assert judged(turn).score == -1.0

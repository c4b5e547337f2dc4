"""Experts over observations: what they write, what they wait for, when they give up."""

import asyncio

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task, VerifierSpec
from claw_envs.gui.actions.parse import parse
from claw_envs.gui.acts import Act, ClickElement, Done, Fill, Hotkey, Wait
from claw_envs.wire.calls import Malformed
from evals.gui.experts.policy import Stuck
from evals.gui.experts.random_agent import RandomAgent
from evals.gui.experts.script import ScriptedExpert
from trainers.policies.base import Sampling

FIRST = '[1] textbox "Search" (0,0,10,10)\n[2] button "Go" (20,0,10,10)\n[9 turns left]'
LINES = ['fill textbox "Search" with "lamp </tool_call>"', 'click button "Go"', "done"]


def said(expert: ScriptedExpert | RandomAgent, *texts: str) -> list[Act | Malformed]:
    """What the environment reads in the answers to observations."""

    async def answers() -> list[str]:
        return [(await expert.generate([{"role": "user", "content": text}], Sampling())).text for text in texts]

    messages = asyncio.run(answers())
    assert expert.said == len(texts)
    return [call.act for message in messages for call in parse(message, size=(1280, 720))]


def test_one_line_a_message() -> None:
    acts = said(ScriptedExpert(LINES), FIRST, f"[ok]\n{FIRST}", f"[ok]\n{FIRST}")
    assert acts == [Fill("1", "lamp </tool_call>"), ClickElement("2"), Done()]


def test_what_is_missing_is_waited_for() -> None:
    empty = "[ok]\n[8 turns left]"
    acts = said(ScriptedExpert(LINES[1:]), empty, empty, f"[ok]\n{FIRST}", f"[ok]\n{FIRST}")
    assert acts == [Wait(1), Wait(2), ClickElement("2"), Done()]


def test_what_is_to_be_seen_costs_nothing_where_it_is_there() -> None:
    empty, lines = (
        "[ok]\n[8 turns left]",
        ['see textbox "Search"', 'see button "Go"', "press enter", "see button", "done"],
    )
    assert said(ScriptedExpert(lines), empty, FIRST, empty, f"[ok]\n{FIRST}") == [
        Wait(1), Hotkey(("enter",)), Wait(1), Done()
    ]  # fmt: skip


def test_what_is_refused_is_tried_again() -> None:
    refused = f"[error: it is covered]\n{FIRST}"
    acts = said(ScriptedExpert(LINES[1:]), FIRST, refused, f"[ok]\n{FIRST}")
    assert acts == [ClickElement("2"), ClickElement("2"), Done()]


def test_it_gives_up() -> None:
    with pytest.raises(Stuck, match=r'line 1, click button "Go": no such element in\n\[ok\]'):
        said(ScriptedExpert(LINES[1:]), *["[ok]\n[8 turns left]"] * 9)
    with pytest.raises(Stuck, match='line 1, click button "Go": it is covered'):
        said(ScriptedExpert(LINES[1:]), FIRST, *[f"[error: it is covered]\n{FIRST}"] * 9)
    with pytest.raises(Stuck, match="the solution has ended, the episode has not"):
        said(ScriptedExpert(["press enter"]), FIRST, f"[ok]\n{FIRST}")


def test_a_task_brings_its_solution() -> None:
    task = Task(id="a", family="gui", instruction="", verifier=VerifierSpec(kind="webapp"))
    with pytest.raises(UserError, match="task a has no `solution`"):
        ScriptedExpert.for_task(task)
    with pytest.raises(UserError, match="no action 'jump'"):
        ScriptedExpert(["done", "jump"])


def test_a_random_agent_does_the_same_for_the_same_seed_and_all_kinds_of_things() -> None:
    texts = ["Search for 'blue lamp'.\n\n" + FIRST] + [f"[ok]\n{FIRST}"] * 300
    acts = said(RandomAgent(3), *texts)
    assert acts == said(RandomAgent(3), *texts)
    assert acts != said(RandomAgent(4), *texts)
    assert {type(act).__name__ for act in acts} == {"ClickElement", "Fill", "Hotkey", "Scroll", "Done"}
    assert {act.text for act in acts if isinstance(act, Fill)} == {"blue lamp"}

"""What an LLM judge is shown."""

from typing import Literal

import pytest

from claw_envs.core.episode import Turn
from judges.material import instructions, prompt
from judges.parse import hint_vote, vote

from .turns import CHAT, TERMINAL, chat_turn, shell_turn


@pytest.mark.parametrize("kind", ["prm", "hint"])
@pytest.mark.parametrize("family", ["chat", "terminal", "toolcall", "swe", "gui"])
def test_a_judge_that_repeats_its_instructions_has_not_answered(kind: Literal["prm", "hint"], family: str) -> None:
    text = instructions(kind, family)
    for end in range(len(text) + 1):
        assert vote(text[:end]) is None
        assert hint_vote(text[:end]) == (None, None)


def test_families_have_their_own_instructions() -> None:
    families = ("chat", "terminal", "toolcall", "swe", "gui", "generic")
    assert len({instructions("prm", family) for family in families}) == 6
    assert len({instructions("hint", family) for family in families}) == 6
    assert instructions("hint", "another") == instructions("hint", "generic")


def test_everything_is_fenced_in_order() -> None:
    turn = chat_turn("Thanks!", response="It is five.", tool_calls=[{"function": {"name": "add"}}])
    turn.messages = [
        {"role": "system", "content": "hidden"},
        *({"role": "user", "content": f"message {i}"} for i in range(9)),
        {"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {}}]},
    ]
    system, user = prompt("prm", turn, CHAT)
    assert system == {"role": "system", "content": instructions("prm", "chat")}
    text = user["content"]
    parts = [CHAT.instruction, "message 4", "message 8", "see\n[image_url]", "It is five.", '"add"', "Thanks!"]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "hidden" not in text
    assert "message 3" not in text


def test_worked_examples_are_not_of_the_conversation() -> None:
    turn = chat_turn("Thanks!", response="It is five.")
    examples = [{"role": "user", "content": "How many?"}, {"role": "assistant", "content": "Four."}]
    turn.messages = [{"role": "system", "content": "hidden"}, *examples, {"role": "user", "content": "Two and three?"}]
    turn.examples = 2
    text = prompt("prm", turn, CHAT)[1]["content"]
    assert "Two and three?" in text
    assert "How many?" not in text
    assert "Four." not in text


def test_the_exit_code_is_told_and_long_output_is_cut() -> None:
    text = prompt("prm", shell_turn("a" + "-" * 50_000 + "z", code=3), TERMINAL, system="Judge.")[1]["content"]
    assert "exit code 3" in text
    assert "a----" in text
    assert "----z" in text
    assert "46002 characters left out" in text
    assert len(text) < 6_000


def test_a_turn_without_next_state_cannot_be_shown() -> None:
    with pytest.raises(ValueError, match="no next state"):
        prompt("prm", Turn(episode_id="e", step=0, messages=[], response="x"), CHAT)

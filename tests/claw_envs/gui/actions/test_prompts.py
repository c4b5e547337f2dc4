"""The prompts teach what the parser reads."""

import json
import re

import pytest

from claw_envs.gui import acts
from claw_envs.gui.actions import SPACES, Space, parse, prompt
from claw_envs.gui.actions.frame import COORDINATES, Coordinates
from claw_envs.gui.actions.vocabulary import COMPUTER_13, COMPUTER_USE, ELEMENTS
from claw_envs.wire.calls import Malformed

SIZE = (1280, 720)


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("space", SPACES)
def test_every_example_in_a_prompt_is_read(space: Space, coordinates: Coordinates) -> None:
    text, _ = prompt(space, coordinates, SIZE)
    examples = re.findall(r"```.*?```|<tool_call>\n.*?</tool_call>", text, re.DOTALL)
    assert examples
    for example in examples:
        for parsed in parse(example, size=SIZE, coordinates=coordinates, takes_code=True):
            assert not isinstance(parsed.act, Malformed), example


@pytest.mark.parametrize("tools", [ELEMENTS, COMPUTER_USE, COMPUTER_13])
def test_every_tool_s_example_is_read(tools: object) -> None:
    assert isinstance(tools, type(ELEMENTS))
    for schema in tools.schemas:
        (parsed,) = parse(tools.example(schema["function"]["name"]), size=SIZE)
        assert not isinstance(parsed.act, Malformed), parsed


@pytest.mark.parametrize("space", SPACES)
def test_a_prompt_says_what_coordinates_are_and_how_it_ends(space: Space) -> None:
    grid, _ = prompt(space, "grid", SIZE)
    pixels, _ = prompt(space, "pixels", SIZE)
    assert ("999, 999" in grid) == (space != "pyautogui"), "code means pixels"
    assert "1279" in pixels
    assert "719" in pixels
    assert re.search(r"ends? (there|your work)", grid)


def test_the_middle_of_the_screen_is_shown_in_the_agent_s_coordinates() -> None:
    for coordinates, middle in (("grid", "[500, 500]"), ("pixels", "[640, 360]")):
        text, _ = prompt("computer_use", coordinates, SIZE)  # type: ignore[arg-type]  # of a tuple's texts
        assert middle in text
    (parsed,) = parse('{"action_type": "CLICK", "x": 500, "y": 500}', size=SIZE)
    assert parsed.act == acts.Click(640, 360)


def test_a_desktop_has_no_tabs() -> None:
    web, web_tools = prompt("elements", "grid", SIZE)
    desktop, desktop_tools = prompt("elements", "grid", SIZE, browser=False)
    assert "goto(url)" in web
    assert "goto" not in desktop
    assert len(web_tools) - len(desktop_tools) == 7


def test_a_browser_s_questions_can_be_answered_in_every_space_but_code() -> None:
    for space in ("elements", "computer_use", "computer_13"):
        assert "answer the question" in prompt(space, "grid", SIZE)[0].lower()  # type: ignore[arg-type]  # of a tuple's
    assert "ANSWER" not in prompt("computer_13", "grid", SIZE, browser=False)[0]


def test_a_desktop_s_prompt_says_how_windows_come_to_the_front() -> None:
    said = "brings it to the front"
    assert said in prompt("elements", "grid", SIZE, browser=False)[0]
    assert said not in prompt("elements", "grid", SIZE)[0]


def test_schemas_are_json() -> None:
    for space in SPACES:
        _, tools = prompt(space, "grid", SIZE)
        assert all(tool["type"] == "function" for tool in json.loads(json.dumps(tools)))

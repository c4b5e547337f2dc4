"""The tools' schemas and examples."""

import pytest

from claw_envs.terminal.tools import TOOLS, TOOLSET
from claw_envs.wire.calls import Malformed

FUNCTIONS = {schema["function"]["name"]: schema["function"] for schema in TOOLSET.schemas}


def test_schemas_name_the_tools_and_their_arguments() -> None:
    assert list(FUNCTIONS) == list(TOOLS) == list(TOOLSET.names.values())
    assert FUNCTIONS["run_command"]["parameters"]["required"] == ["command"]
    assert FUNCTIONS["send_keys"]["parameters"]["properties"]["keys"]["anyOf"][0] == {"type": "string"}
    assert set(FUNCTIONS["write_file"]["parameters"]["properties"]) == {"path", "content"}


@pytest.mark.parametrize("name", TOOLS)
def test_each_tool_is_described_and_its_example_can_be_read(name: str) -> None:
    assert FUNCTIONS[name]["description"]
    assert "\n" not in FUNCTIONS[name]["description"]
    kind, arguments = TOOLS[name]
    assert isinstance(TOOLSET.read(name, arguments), kind)


def test_types_are_strict_unless_the_form_has_none() -> None:
    assert isinstance(TOOLSET.read("view_process", {"process": "1"}), Malformed)
    assert TOOLSET.read("view_process", {"process": "1"}, strict=False) == TOOLSET.read("view_process", {"process": 1})

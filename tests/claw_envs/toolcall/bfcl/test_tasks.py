"""What the agent is to see of a task."""

import msgspec
import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.core.tasksets import load_tasks
from claw_envs.toolcall.bfcl.schemas import tools
from claw_envs.toolcall.bfcl.tasks import CATEGORIES, SETS, categories

from .sample import task, tasks_of


@pytest.mark.usefixtures("checker")
def test_a_task_holds_no_answer_and_survives_the_disk() -> None:
    sample = task("simple_python_0")
    assert sample.instruction == "Find the area of a triangle with a base of 10 units and height of 5 units."
    assert sample.verifier.options.keys() == {"category", "system", "tools", "turns", "later_tools"}
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(sample), type=Task) == sample


@pytest.mark.usefixtures("checker")
def test_the_family_loads_a_category_by_name() -> None:
    assert load_tasks("toolcall", "bfcl:simple_javascript") == tasks_of("simple_javascript")


@pytest.mark.usefixtures("checker")
def test_who_speaks_is_told_where_several_have() -> None:
    shown = [task for task in tasks_of("live_irrelevance") if "[assistant]" in task.instruction]
    assert len(shown) == 8
    assert all(task.instruction.startswith("[user]\n") for task in shown)


@pytest.mark.usefixtures("checker")
def test_what_the_system_says_is_not_part_of_the_question() -> None:
    with_system = [task for task in tasks_of("live_simple") if task.verifier.options["system"]]
    assert len(with_system) == 11
    assert not any(task.verifier.options["system"] in task.instruction for task in with_system)


@pytest.mark.usefixtures("checker")
def test_functions_that_come_later_are_no_tools_at_first() -> None:
    options = task("multi_turn_miss_func_0").verifier.options
    later = [tool["function"]["name"] for tool in options["later_tools"]["3"]]
    assert later == ["sort"]
    assert "sort" not in [tool["function"]["name"] for tool in options["tools"]]
    assert "more functions" in options["turns"][2]


@pytest.mark.usefixtures("checker")
def test_values_of_other_languages_are_texts() -> None:
    (tool,) = task("simple_java_1").verifier.options["tools"]
    kinds = {schema["type"] for schema in tool["function"]["parameters"]["properties"].values()}
    assert kinds == {"string"}
    assert tool["function"]["name"] == "SQLCompletionAnalyzer_makeProposalsFromObject"


def test_types_are_those_of_json_all_the_way_down() -> None:
    described = {
        "name": "a.b",
        "description": "Does.",
        "parameters": {
            "type": "dict",
            "required": ["point"],
            "properties": {
                "point": {"type": "tuple", "items": {"type": "float"}},
                "rows": {
                    "type": "array",
                    "items": {"type": "dict", "properties": {"any": {"type": "any", "optional": True}}},
                },
            },
        },
    }
    assert tools([described]) == [
        {
            "type": "function",
            "function": {
                "name": "a_b",
                "description": "Does.",
                "parameters": {
                    "type": "object",
                    "required": ["point"],
                    "properties": {
                        "point": {"type": "array", "items": {"type": "number"}},
                        "rows": {
                            "type": "array",
                            "items": {"type": "object", "properties": {"any": {"type": "string"}}},
                        },
                    },
                },
            },
        }
    ]


def test_sets_are_made_of_categories() -> None:
    assert all(set(members) <= set(CATEGORIES) for members in SETS.values())
    assert categories("multi_turn") == SETS["multi_turn"]
    assert categories("multiple") == ("multiple",)
    with pytest.raises(UserError, match="no BFCL category 'simple'; there are: simple_python, "):
        categories("simple")

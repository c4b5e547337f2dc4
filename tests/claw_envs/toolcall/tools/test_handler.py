"""Tools from JSON schemas: which schemas, which arguments, and what the handler gets."""

import asyncio
import copy
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.toolcall.tools.arguments import MAX_DEPTH, MAX_UNIQUE, MAX_VALUES
from claw_envs.toolcall.tools.handler import SchemaTool, schema_tools
from tests.claw_envs.toolcall.tools.calling import PATIENT, called

PARAMETERS = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 1},
        "days": {"type": "integer", "minimum": 1},
        "unit": {"enum": ["C", "F"]},
        "places": {"type": "array", "items": {"$ref": "#/$defs/place"}, "uniqueItems": True},
    },
    "required": ["city"],
    "$defs": {
        "place": {
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
            "additionalProperties": False,
        }
    },
}
BARE = {"name": "forecast", "description": "Tell the weather.", "parameters": PARAMETERS}
TAKES = (
    'It takes city (string), days (integer, optional), unit ("C" or "F", optional), places (array of object, optional).'
)


def nothing(arguments: dict[str, Any]) -> None: ...


@pytest.mark.parametrize("schema", [BARE, {"type": "function", "function": BARE}, {"type": "function", **BARE}])
def test_schemas_are_taken_whole_or_bare(schema: dict[str, Any]) -> None:
    tool = SchemaTool(schema, lambda arguments: arguments["city"].upper())
    assert tool.schema == {"type": "function", "function": BARE}
    assert called(tool, city="Rome").text == "ROME"


def test_a_schema_without_parameters_takes_nothing() -> None:
    tool = SchemaTool({"name": "now"}, lambda arguments: len(arguments))
    assert called(tool).text == "0"
    assert tool.check({"zone": "UTC"}) == "there is no argument `zone`. It takes nothing."


def test_an_asynchronous_handler() -> None:
    async def handler(arguments: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(0)
        return arguments

    assert called(SchemaTool(BARE, handler), city="Rome").text == '{"city": "Rome"}'


def test_one_handler_for_many_is_told_the_name() -> None:
    async def handler(name: str, arguments: dict[str, Any]) -> str:
        return f"{name} {arguments}"

    tools = schema_tools([BARE, {"type": "function", "function": {"name": "now"}}], handler)
    assert [tool.name for tool in tools] == ["forecast", "now"]
    assert called(tools[0], city="Rome").text == "forecast {'city': 'Rome'}"
    assert called(tools[1]).text == "now {}"


def test_a_handlers_exception_is_a_result() -> None:
    result = called(SchemaTool(BARE, lambda arguments: arguments["town"]), city="Rome")
    assert (result.text, result.error) == ("KeyError: 'town'", True)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "the argument `city` is missing."),
        ({"city": 7}, "argument `city`: 7 is not of type 'string'."),
        ({"city": ""}, "argument `city`: '' should be non-empty."),
        ({"city": "Rome", "days": "2"}, "argument `days`: '2' is not of type 'integer'."),
        ({"city": "Rome", "days": True}, "argument `days`: True is not of type 'integer'."),
        ({"city": "Rome", "days": 0}, "argument `days`: 0 is less than the minimum of 1."),
        ({"city": "Rome", "unit": "K"}, "argument `unit`: 'K' is not one of ['C', 'F']."),
        ({"city": "Rome", "town": "Rome"}, "there is no argument `town`."),
        ({"city": "Rome", "places": [{}]}, "in argument `places[0]`: the argument `name` is missing."),
        ({"city": "Rome", "places": [{"name": 1}]}, "argument `places[0].name`: 1 is not of type 'string'."),
        ({"city": "Rome", "places": [{"name": "a", "b": 1}]}, "in argument `places[0]`: there is no argument `b`."),
        (
            {"city": "Rome", "places": [{"name": "a"}] * 2},
            "argument `places`: [{'name': 'a'}, {'name': 'a'}] has non-unique elements.",
        ),
    ],
)
def test_arguments_that_do_not_fit_are_named_with_what_would(arguments: dict[str, Any], problem: str) -> None:
    assert SchemaTool(BARE, nothing).check(arguments) == f"{problem} {TAKES}"


def test_a_schema_that_refers_to_itself() -> None:
    nested = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/nested"}}]}
    parameters = {"properties": {"value": {"$ref": "#/$defs/nested"}}, "$defs": {"nested": nested}}
    tool = SchemaTool({"name": "flat", "parameters": parameters}, nothing)
    assert tool.check({"value": ["a", ["b"]]}) is None
    assert "It takes value (string or array of string or array of" in str(tool.check({"value": 3}))


def test_hostile_arguments_are_refused_shortly() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    tool = SchemaTool(
        {"name": "any", "parameters": {"type": "object", "properties": {"value": {}, "text": {"maxLength": 1}}}},
        nothing,
    )
    unique = SchemaTool({"name": "unique", "parameters": {"properties": {"value": {"uniqueItems": True}}}}, nothing)
    for asked, arguments, why in [
        (tool, {"value": deep}, f"more than {MAX_DEPTH} levels deep"),
        (tool, {"value": [[]] * MAX_VALUES}, f"more than {MAX_VALUES} values"),
        (tool, {"text": "\n" * 1_000_000}, "is too long"),
        (tool, {"a\n" * 1_000_000: 1}, "there is no argument"),
        (unique, {"value": [{"a": i} for i in range(MAX_UNIQUE + 1)]}, f"more than {MAX_UNIQUE} items"),
    ]:
        told = asked.check(arguments)
        assert told is not None
        assert why in told
        assert len(told) < 500
        assert "\n" not in told


def test_further_arguments_are_fine_where_the_schema_speaks_of_them() -> None:
    for more in ({"additionalProperties": {"type": "integer"}}, {"patternProperties": {"^x": {}}}, {"allOf": [{}]}):
        tool = SchemaTool({"name": "open", "parameters": {"type": "object", "properties": {}, **more}}, nothing)
        assert tool.check({"x": 1}) is None


def test_an_older_draft_is_read_as_what_it_is() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "properties": {"age": {"type": "integer", "minimum": 0, "exclusiveMinimum": True}},
    }
    tool = SchemaTool({"name": "old", "parameters": schema}, nothing)
    assert tool.check({"age": 1}) is None
    assert "less than or equal to the minimum" in str(tool.check({"age": 0}))


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        (None, "a tool's schema is"),
        ({}, "a tool's schema is"),
        ({"name": 7}, "a tool's schema is"),
        ({"name": "two words"}, "a tool's name is"),
        ({"name": "a", "parameters": []}, None),
        ({"name": "a", "parameters": "none"}, "a: `parameters` must be"),
        ({"name": "a", "parameters": {"type": "array"}}, "a: `parameters` must be"),
        ({"name": "a", "parameters": {"type": "dict"}}, "a: `parameters` must be"),
        (
            {"name": "a", "parameters": {"properties": {"b": {"type": "str"}}}},
            r"a: its parameters are no JSON schema: 'str' .*\(at \$\.properties\.b\.type\)",
        ),
        ({"name": "a", "parameters": {"required": "b"}}, "a: its parameters are no JSON schema"),
        ({"name": "a", "parameters": {"properties": {"b": {"$ref": "#/$defs/none"}}}}, "does not hold what .*none"),
        (
            {"name": "a", "parameters": {"properties": {"b": {"$ref": "http://127.0.0.1:9/x"}}}},
            "does not hold what .*127",
        ),
    ],
)
def test_what_is_no_schema_is_the_users_mistake(schema: Any, problem: str | None) -> None:
    if problem is None:
        SchemaTool(schema, nothing)
        return
    with pytest.raises(UserError, match=problem):
        SchemaTool(schema, nothing)


def test_a_tool_can_be_copied_as_gymnasium_copies_what_an_environment_is_made_with() -> None:
    tool = copy.deepcopy(SchemaTool(BARE, lambda arguments: arguments["city"]))
    assert asyncio.run(tool.call({"city": "Rome"}, timeout=PATIENT)).text == "Rome"
    assert tool.check({}) == f"the argument `city` is missing. {TAKES}"


@pytest.mark.parametrize("key", ["parameters", "inputSchema", "input_schema"])
def test_the_parameters_go_by_the_names_that_are_in_use(key: str) -> None:
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tool = SchemaTool({"name": "weather", key: parameters}, lambda arguments: "sunny")
    assert tool.schema["function"]["parameters"]["required"] == ["city"]
    assert tool.check({"city": "Oslo"}) is None
    assert "missing" in str(tool.check({}))

"""Python functions as tools: what schema they get, which arguments they take, what is told of them."""

import asyncio
import dataclasses
import enum
import functools
import math
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import msgspec
import pytest

from claw_envs.core.errors import UserError
from claw_envs.toolcall.tools.function import FunctionTool
from tests.claw_envs.toolcall.tools.calling import PATIENT, called


class Unit(enum.Enum):
    C = "celsius"
    F = "fahrenheit"


class Span(TypedDict):
    start: int
    end: int


@dataclasses.dataclass
class Place:
    name: str
    height: float = 0.0


class Point(NamedTuple):
    x: int
    y: int


class Box(msgspec.Struct):
    corner: Point
    size: Annotated[int, msgspec.Meta(gt=0)]


def forecast(city: str, days: int = 1, unit: Literal["C", "F"] = "C", near: str | None = None) -> str:
    """Tell the weather.

    It is never right,
    nor wrong.

    Args:
        city: where, by its
            local name.
        days (int): how many: at most ten.
        unknown: no such parameter.

    Returns:
        A text.
    """
    return f"{city} {days} {unit} {near}"


def parameters_of(function: Callable[..., Any]) -> dict[str, Any]:
    parameters: dict[str, Any] = FunctionTool(function).schema["function"]["parameters"]
    return parameters


def test_the_schema_is_of_the_signature_and_the_docstring() -> None:
    assert FunctionTool(forecast).schema == {
        "type": "function",
        "function": {
            "name": "forecast",
            "description": "Tell the weather.\nIt is never right, nor wrong.",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "description": "where, by its local name."},
                    "days": {"type": "integer", "description": "how many: at most ten.", "default": 1},
                    "unit": {"enum": ["C", "F"], "default": "C"},
                    "near": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
                },
                "required": ["city"],
                "additionalProperties": False,
            },
        },
    }


def test_name_and_description_can_be_given() -> None:
    tool = FunctionTool(lambda city: city, name="echo", description="Say it again.")
    assert tool.name == "echo"
    assert tool.schema["function"]["description"] == "Say it again."
    assert called(tool, city="Rome").text == "Rome"


def test_words_beside_an_annotation_describe_the_parameter() -> None:
    def look(
        city: Annotated[str, "where"], days: Annotated[int, msgspec.Meta(description="how many", ge=1)], other: str
    ) -> None:
        """Look.

        Args:
            city: not this.
            other: but this.
        """

    properties = parameters_of(look)["properties"]
    assert [properties[name]["description"] for name in ("city", "days", "other")] == ["where", "how many", "but this."]
    assert properties["days"]["minimum"] == 1


def test_arguments_become_what_the_annotations_say() -> None:
    def take(unit: Unit, span: Span, place: Place, points: list[Point], box: Box, rest: dict[str, float]) -> str:
        assert isinstance(unit, Unit)
        assert isinstance(place, Place)
        assert isinstance(box, Box)
        assert all(isinstance(point, Point) for point in points)
        return f"{unit.name} {span['end']} {place.height} {points[0].y} {box.size} {rest}"

    result = called(
        FunctionTool(take),
        unit="celsius",
        span={"start": 1, "end": 2},
        place={"name": "Rome"},
        points=[[3, 4]],
        box={"corner": [0, 0], "size": 5},
        rest={"a": 1},
    )
    assert (result.text, result.error) == ("C 2 0.0 4 5 {'a': 1.0}", False)


TAKES = (
    'It takes city (string), days (integer, optional), unit ("C" or "F", optional), near (string or null, optional).'
)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "the argument `city` is missing."),
        ({"town": "Rome"}, "there is no argument `town`."),
        ({"city": 7}, "argument `city`: Expected `str`, got `int`."),
        ({"city": "Rome", "days": "2"}, "argument `days`: Expected `int`, got `str`."),
        ({"city": "Rome", "days": 1.5}, "argument `days`: Expected `int`, got `float`."),
        ({"city": "Rome", "days": True}, "argument `days`: Expected `int`, got `bool`."),
        ({"city": "Rome", "days": None}, "argument `days`: Expected `int`, got `null`."),
        ({"city": "Rome", "unit": "K"}, "argument `unit`: Invalid enum value 'K'."),
        ({"city": ["Rome"]}, "argument `city`: Expected `str`, got `array`."),
    ],
)
def test_arguments_that_do_not_fit_are_named_with_what_would(arguments: dict[str, Any], problem: str) -> None:
    assert FunctionTool(forecast).check(arguments) == f"{problem} {TAKES}"


def test_a_place_inside_an_argument_is_named() -> None:
    def take(places: list[Place]) -> None: ...

    told = FunctionTool(take).check({"places": [{"name": "Rome"}, {"name": 7}]})
    assert told == "argument `places[1].name`: Expected `str`, got `int`. It takes places (array of object)."


def test_hostile_arguments_are_told_shortly() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for arguments in ({"city": deep}, {"city": "Rome", "unit": "K" * 1_000_000}, {"a\n" * 1_000_000: 1}):
        told = FunctionTool(forecast).check(arguments)
        assert told is not None
        assert len(told) < 500
        assert "\n" not in told


def test_arguments_without_annotation_may_be_anything() -> None:
    tool = FunctionTool(lambda value: type(value).__name__, name="kind")
    assert [called(tool, value=value).text for value in (1, "a", [1], None)] == ["int", "str", "list", "NoneType"]


# --- what can be a tool ---------------------------------------------------------------------------------------------


class Shop:
    def __init__(self) -> None:
        self.sold = 0

    def sell(self, count: int) -> int:
        """Sell some."""
        self.sold += count
        return self.sold

    def __call__(self, count: int) -> int:
        """Take some back."""
        self.sold -= count
        return self.sold

    @staticmethod
    def open(day: str) -> bool:
        return day != "Sunday"


def test_methods_and_callable_objects() -> None:
    shop = Shop()
    assert called(FunctionTool(shop.sell), count=5).text == "5"
    assert called(FunctionTool(shop), count=2).text == "3"
    assert called(FunctionTool(Shop.open), day="Sunday").text == "false"
    assert [FunctionTool(each).name for each in (shop.sell, shop, Shop.open)] == ["sell", "Shop", "open"]
    assert FunctionTool(shop).schema["function"]["description"] == "Take some back."


def test_what_a_partial_has_bound_is_not_the_agents() -> None:
    tool = FunctionTool(functools.partial(forecast, "Rome", unit="F"))
    assert tool.name == "forecast"
    assert list(tool.schema["function"]["parameters"]["properties"]) == ["days", "near"]
    assert called(tool, near="sea").text == "Rome 1 F sea"
    assert "no argument `unit`" in str(tool.check({"unit": "C"}))


def test_positional_and_keyword_only_parameters() -> None:
    def mixed(a: int = 1, b: int = 2, /, c: int = 3, *, d: int = 4) -> str:
        return f"{a} {b} {c} {d}"

    assert called(FunctionTool(mixed), b=7, d=8).text == "1 7 3 8"


def test_a_parameter_may_have_any_name() -> None:
    def odd(timeout: float, args: int, kwargs: int, name: str, self: int) -> str:
        return f"{timeout} {args} {kwargs} {name} {self}"

    arguments = {"timeout": 1, "args": 2, "kwargs": 3, "name": "n", "self": 4}
    assert asyncio.run(FunctionTool(odd).call(arguments, timeout=PATIENT)).text == "1.0 2 3 n 4"


def test_decorated_functions_keep_their_signature() -> None:
    @functools.wraps(forecast)
    def wrapper(*args: Any, **kwargs: Any) -> str:
        return forecast(*args, **kwargs).upper()

    assert called(FunctionTool(wrapper), city="Rome").text == "ROME 1 C NONE"


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (lambda *cities: None, "an agent cannot fill `\\*cities`"),
        (lambda **cities: None, "an agent cannot fill `\\*\\*cities`"),
        (math.gcd, "an agent cannot fill"),
        (lambda city: None, "a tool's name is .* got '<lambda>'"),
        (Shop, "is no function"),
        (7, "is no function"),
        (functools.partial(Shop), "is no function"),
    ],
)
def test_what_cannot_be_a_tool_is_the_users_mistake(function: Any, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        FunctionTool(function)


def test_types_that_json_does_not_know_are_the_users_mistake() -> None:
    def takes_a_set_of_shops(shops: set[Shop]) -> None: ...

    def takes_a_ghost(ghost: "Ghost") -> None: ...  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(UserError, match=r"takes_a_set_of_shops: an agent cannot send that: .*Shop"):
        FunctionTool(takes_a_set_of_shops)
    with pytest.raises(UserError, match=r"takes_a_ghost: its annotations cannot be read: .*Ghost"):
        FunctionTool(takes_a_ghost)


def test_a_default_that_json_cannot_say_is_left_out() -> None:
    def take(a: Any = Shop, b: Unit = Unit.C) -> None: ...  # type: ignore[assignment]

    assert parameters_of(take)["properties"] == {"a": {}, "b": {"$ref": "#/$defs/Unit", "default": "celsius"}}
    assert parameters_of(take)["$defs"]["Unit"]["enum"] == ["celsius", "fahrenheit"]

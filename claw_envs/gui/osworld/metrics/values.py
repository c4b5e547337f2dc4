"""Metrics over values: what a command printed, a list of names, a tree of folders."""

import ast
from typing import Any

from claw_envs.core.errors import UserError
from claw_envs.gui.osworld.metrics.reading import json_of

_TIME_ZONE_LINE = 3
"""Of what `timedatectl status` prints."""


def exact_match(result: Any, rules: dict[str, Any]) -> float:
    """What was found is what is expected."""
    return float(result == rules["expected"])


def compare_answer(result: Any, rules: dict[str, Any], **options: Any) -> float:
    """As `exact_match`, where something was found."""
    return float(bool(result) and result == rules["expected"])


def match_in_list(result: Any, rules: dict[str, Any]) -> float:
    """What was found is among what is expected."""
    return float(result in rules["expected"])


def is_in_list(result: Any, rules: dict[str, Any]) -> float:
    """What is expected is in what was found."""
    return float(_holds(result, rules["expected"]))


def literal_match(result: Any, expected: Any, **options: Any) -> float:
    """What was found reads as what is expected; options: `type` (`str` or `list`), `ignore_case`."""

    def read(value: Any) -> str:
        return str(value).lower() if options.get("ignore_case") else str(value)

    if options.get("type", "str") == "str":
        return float(read(result) == read(expected))
    if not isinstance(result, list | tuple):
        return 0.0
    return float([read(each) for each in result] == [read(each) for each in expected])


def fuzzy_match(result: Any, rules: dict[str, Any]) -> float:
    """How much of the two texts is the same."""
    return similarity(result, rules["expected"]) if isinstance(result, str) else 0.0


def check_include_exclude(result: Any, rules: dict[str, Any]) -> float:
    """All of `include` is in what was found, and nothing of `exclude`."""
    if not isinstance(result, str | list):
        return 0.0
    included = all(_holds(result, each) for each in rules.get("include", []))
    return float(included and not any(_holds(result, each) for each in rules.get("exclude", [])))


def is_in_vm_clickboard(rules: dict[str, Any], result: Any) -> float:
    """All that is expected is in what was found; the task gives the two in this order."""
    expected = rules["expected"]
    return float(all(_holds(result, each) for each in (expected if isinstance(expected, list) else [expected])))


def is_extension_installed(result: Any, rules: dict[str, Any], **options: Any) -> float:
    """The list that was found has a name in it, or has it not (`type`: `contain` or `not_contain`)."""
    return float(isinstance(result, str) and _holds(result, rules["expected"]) == (rules["type"] == "contain"))


def check_direct_json_object(result: Any, rules: dict[str, Any]) -> float:
    """The expected fields have their values; where `expect_in_result`, one of several, or a part of the text."""
    found = json_of(result.strip().replace("'", '"')) if isinstance(result, str) else result
    if not isinstance(found, dict):
        return 0.0
    return float(all(_field(found.get(key), value, rules) for key, value in rules["expected"].items()))


def _field(found: Any, expected: Any, rules: dict[str, Any]) -> bool:
    if not rules.get("expect_in_result", False):
        if rules["expected"].get("ignore_list_order") and isinstance(expected, list):
            return isinstance(found, list) and sorted(map(str, found)) == sorted(map(str, expected))
        return bool(found == expected)
    if isinstance(expected, list):
        return any(each in found if isinstance(found, list) else each == found for each in expected)
    return isinstance(expected, str) and _holds(found, expected)


def check_moved_jpgs(result: Any, rules: dict[str, Any]) -> float:
    """A folder holds exactly what is expected, by name."""
    children = result.get("children") if isinstance(result, dict) else None
    if not isinstance(children, list) or not all(isinstance(child, dict) for child in children):
        return 0.0
    return float(sorted(str(child.get("name")) for child in children) == sorted(rules["expected"]))


def is_utc_0(result: Any) -> float:
    """`timedatectl status` says that the time zone has no offset."""
    lines = result.split("\n") if isinstance(result, str) else []
    return float(len(lines) > _TIME_ZONE_LINE and lines[_TIME_ZONE_LINE].endswith("+0000)"))


def check_text_enlarged(result: Any) -> float:
    """A factor is above 1."""
    try:
        return float(float(result) > 1.0)
    except (TypeError, ValueError):
        return 0.0


def check_gnome_favorite_apps(result: Any, rules: dict[str, Any]) -> float:
    """GNOME's favourites, as `gsettings` prints them, are those that are expected, in any order."""
    try:
        found = ast.literal_eval(result.strip()) if isinstance(result, str) else None
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return 0.0
    return float(isinstance(found, list) and sorted(map(str, found)) == sorted(rules["expected"]))


def similarity(one: str, other: str) -> float:
    """How much of two texts is the same, 0 to 1: twice the longest common subsequence over both lengths.

    Raises:
        UserError: if rapidfuzz is missing.
    """
    try:
        from rapidfuzz import fuzz
    except ImportError as error:
        raise UserError('this evaluator needs rapidfuzz: pip install "claw-envs[gui]"') from error
    return float(fuzz.ratio(one, other)) / 100


def _holds(found: Any, wanted: Any) -> bool:
    """Whether `wanted` is in `found`, where that can be."""
    if isinstance(found, str):
        return isinstance(wanted, str) and wanted in found
    return isinstance(found, list | tuple) and wanted in found


ALL = (
    exact_match,
    compare_answer,
    match_in_list,
    is_in_list,
    literal_match,
    fuzzy_match,
    check_include_exclude,
    is_in_vm_clickboard,
    is_extension_installed,
    check_direct_json_object,
    check_moved_jpgs,
    is_utc_0,
    check_text_enlarged,
    check_gnome_favorite_apps,
)

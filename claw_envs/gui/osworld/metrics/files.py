"""Metrics over text files: what was found is the path of a copy, or None where there was no file."""

import csv
import difflib
import io
import re
from collections.abc import Callable
from typing import Any

from claw_envs.core.errors import UserError
from claw_envs.gui.osworld.metrics.reading import json_of, matches, text_of

_TIME_OF_DAY = re.compile(r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)")


def compare_text_file(result: Any, expected: Any, **options: Any) -> float:
    """The two are the same; options: `ignore_blanks` (runs of blank characters count as one space), `ignore_case`."""
    found, wanted = text_of(result), _expected(expected)
    if found is None:
        return 0.0
    if options.get("ignore_blanks"):
        found, wanted = (" ".join(text.split()) for text in (found, wanted))
    if options.get("ignore_case"):
        found, wanted = found.lower(), wanted.lower()
    return float(found == wanted)


def compare_config(result: Any, rules: dict[str, Any], **options: Any) -> float:
    """The file holds at least what is expected, as JSON or as text; where `containment_ok` is off, nothing more."""
    found, wanted = text_of(result), rules["expected"]
    if found is None:
        return 0.0
    value, least = json_of(found), json_of(wanted)
    both = value is not None and least is not None
    if options.get("containment_ok", True):
        return float(_contains(value, least) if both else wanted.strip() in found)
    return float(found == wanted or (both and value == least))


def _contains(found: Any, least: Any) -> bool:
    if isinstance(least, dict):
        return isinstance(found, dict) and all(key in found and _contains(found[key], least[key]) for key in least)
    return bool(found == least)


def file_contains(result: Any, rules: dict[str, Any]) -> float:
    """Every text that is expected is in the file."""
    found = text_of(result)
    return float(found is not None and all(text in found for text in rules["expected"]))


def check_line_number(result: Any, rules: dict[str, Any]) -> float:
    """As many lines as expected have a time of day in them."""
    found = text_of(result)
    if found is None:
        return 0.0
    return float(sum(bool(_TIME_OF_DAY.search(line)) for line in found.splitlines()) == int(rules["expected"]))


def diff_text_file(result: Any, expected: Any) -> float:
    """How many of the lines are the same."""
    found = text_of(result)
    if found is None:
        return 0.0
    return difflib.SequenceMatcher(a=found.splitlines(), b=_expected(expected).splitlines()).ratio()


def check_list(result: Any, rules: dict[str, Any]) -> float:
    """Each pattern of `expect` is in some line, and none of `unexpect` in any."""
    found = text_of(result)
    if found is None:
        return 0.0
    lines = found.splitlines()

    def somewhere(pattern: str) -> bool:
        return any(re.search(pattern, line) for line in lines)

    return _as_wanted(rules, somewhere)


def check_csv(result: Any, rules: dict[str, Any]) -> float:
    """Some row has the values of each of `expect`, and none those of any of `unexpect`."""
    found = text_of(result)
    if found is None:
        return 0.0
    try:
        rows = list(csv.DictReader(io.StringIO(found)))
    except csv.Error:
        return 0.0

    def somewhere(pattern: dict[str, str]) -> bool:
        return any(all(row.get(key) == value for key, value in pattern.items()) for row in rows)

    return _as_wanted(rules, somewhere)


def _as_wanted(rules: dict[str, Any], somewhere: Callable[[Any], bool]) -> float:
    return float(all(map(somewhere, rules.get("expect", []))) and not any(map(somewhere, rules.get("unexpect", []))))


def compare_csv(result: Any, expected: Any, **options: Any) -> float:
    """The lines are those of the expected file, or of one of them; options: `strict` (blanks count), `ignore_case`."""

    def lines(text: str) -> list[str]:
        read = text.splitlines() if options.get("strict", True) else [line.strip() for line in text.splitlines()]
        return [line.lower() for line in read] if options.get("ignore_case") else read

    found = text_of(result)
    files = [expected] if isinstance(expected, str) else expected
    return float(found is not None and any(lines(found) == lines(_expected(file)) for file in files))


def check_json(result: Any, rules: dict[str, Any], is_yaml: bool = False) -> float:
    """What lies at each rule's `key`, a path, is as `method` and `ref` say; for `unexpect` it is not so."""
    text = text_of(result)
    found = _yaml(text) if is_yaml else json_of(text)
    if found is None:
        return 0.0

    def as_ruled(rule: dict[str, Any]) -> bool:
        value = found
        for key in rule["key"]:
            try:
                value = value[key]
            except (KeyError, IndexError, TypeError):
                return False
        return matches(value, rule)

    return _as_wanted({"expect": [], **rules}, as_ruled)


def _yaml(text: str | None) -> Any:
    try:
        import yaml
    except ImportError as error:
        raise UserError('this evaluator needs PyYAML: pip install "claw-envs[gui]"') from error
    try:
        return None if text is None else yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError):
        return None


def check_json_settings(result: Any, rules: dict[str, Any], **options: Any) -> float:
    """An editor's settings have the values that are expected, among others."""
    found = json_of(text_of(result))
    if not isinstance(found, dict):
        return 0.0
    return float(all(key in found and found[key] == value for key, value in rules["expected"].items()))


def check_json_keybindings(result: Any, rules: dict[str, Any], **options: Any) -> float:
    """An editor's list of shortcuts has the expected one; a first line of comment is passed over."""
    text = text_of(result)
    if text is None:
        return 0.0
    found = [read for read in (json_of(text), json_of(text.partition("\n")[2])) if isinstance(read, list)]
    return float(bool(found) and rules["expected"] in found[0])


def compare_terminal_and_txt(result: Any, output: Any) -> float:
    """The file holds what a terminal shows."""
    return float(bool(output) and text_of(result) == output)


def _expected(path: str) -> str:
    """The text of a file that the task names."""
    text = text_of(path)
    if text is None:
        raise ValueError(f"{path}: the expected file cannot be read")
    return text


ALL = (
    compare_text_file,
    compare_config,
    file_contains,
    check_line_number,
    diff_text_file,
    check_list,
    check_csv,
    compare_csv,
    check_json,
    check_json_settings,
    check_json_keybindings,
    compare_terminal_and_txt,
)

"""Every metric over what it should accept, what it should not, and what an agent may leave to break it."""

import json
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import InfrastructureError
from claw_envs.gui.osworld.metrics import METRICS
from claw_envs.gui.osworld.metrics.reading import matches

TREE = (
    '<desktop-frame xmlns:st="https://accessibility.ubuntu.example.org/ns/state"><application name="Files">'
    '<frame name="Home" st:active="true"><label name="Name">hello</label></frame></application>'
    '<document-frame name="Slides View"/></desktop-frame>'
)
ZONE = "Local time: x\nUniversal time: x\nRTC time: x\n Time zone: Atlantic/Faroe (WET, +0000)\n"
BAR = {
    "bookmark_bar": {
        "children": [
            {"type": "folder", "name": "Liked Authors", "children": [{"type": "url", "url": "b2"}]},
            {"type": "url", "url": "a"},
        ]
    }
}
SAVING = (
    '<oor:items xmlns:oor="http://openoffice.org/2001/registry">'
    '<item oor:path="/org.openoffice.Office.Common/Save/Document">'
    '<prop oor:name="AutoSaveTimeIntervall"><value>3</value></prop></item></oor:items>'
)
URL = "https://x.example/a?b=c"

VALUES: list[tuple[str, Any, Any, float]] = [
    ("exact_match", "a\n", {"expected": "a\n"}, 1),
    ("exact_match", "a", {"expected": "a\n"}, 0),
    ("compare_answer", "", {"expected": ""}, 0),
    ("match_in_list", "b", {"expected": ["a", "b"]}, 1),
    ("match_in_list", "c", {"expected": ["a", "b"]}, 0),
    ("is_in_list", ["a", "b"], {"expected": "b"}, 1),
    ("is_in_list", "abc", {"expected": "bc"}, 1),
    ("is_in_list", None, {"expected": "bc"}, 0),
    ("literal_match", 3, "3", 1),
    ("fuzzy_match", "abcd", {"expected": "abcd"}, 1),
    ("fuzzy_match", "abcd", {"expected": "abce"}, 0.75),
    ("check_include_exclude", "one two", {"include": ["one"], "exclude": ["three"]}, 1),
    ("check_include_exclude", "one two", {"include": ["one"], "exclude": ["two"]}, 0),
    ("check_include_exclude", "one two", {"include": ["three"]}, 0),
    ("is_in_vm_clickboard", {"expected": ["a", "b"]}, "xaxb", 1),
    ("is_extension_installed", "a.b\n", {"type": "contain", "expected": "a.b"}, 1),
    ("is_extension_installed", "a.b\n", {"type": "not_contain", "expected": "a.b"}, 0),
    ("check_direct_json_object", "{'a': 1}", {"expected": {"a": 1}}, 1),
    (
        "check_direct_json_object",
        {"a": "xyz", "b": ["q"]},
        {"expect_in_result": True, "expected": {"a": "y", "b": ["p", "q"]}},
        1,
    ),
    ("check_direct_json_object", {"a": 1}, {"expected": {"a": 2}}, 0),
    ("check_direct_json_object", {"q": ["cup", "pot"]}, {"expect_in_result": True, "expected": {"q": "pot"}}, 1),
    ("check_direct_json_object", {"q": "5"}, {"expect_in_result": True, "expected": {"q": 5}}, 0),
    ("check_moved_jpgs", {"children": [{"name": "b"}, {"name": "a"}]}, {"expected": ["a", "b"]}, 1),
    ("check_moved_jpgs", {"children": [{"name": "a"}]}, {"expected": ["a", "b"]}, 0),
    ("is_utc_0", ZONE, None, 1),
    ("is_utc_0", ZONE.replace("+0000", "+0100"), None, 0),
    ("check_text_enlarged", "1.25\n", None, 1),
    ("check_text_enlarged", "1.0", None, 0),
    ("check_gnome_favorite_apps", "['b', 'a']\n", {"expected": ["a", "b"]}, 1),
    ("check_gnome_favorite_apps", "__import__('os').getpid()", {"expected": []}, 0),
    ("check_font_size", {"default_font_size": 20}, {"type": "range", "min": 16, "max": 99}, 1),
    ("check_font_size", {"default_font_size": 16}, {"type": "value", "value": 16}, 1),
    ("is_expected_bookmarks", BAR, {"type": "bookmark_bar_folders_names", "names": ["Liked Authors"]}, 1),
    ("is_expected_bookmarks", BAR, {"type": "bookmark_bar_websites_urls", "urls": ["a"]}, 1),
    ("is_expected_bookmarks", BAR, {"type": "liked_authors_websites_urls", "urls": [["b1", "b2"]]}, 1),
    ("is_expected_active_tab_approximate", URL, {"type": "url", "url": "https://x.example/a?z"}, 1),
    ("is_expected_active_tab_approximate", {"url": URL}, {"type": "url", "url": "https://x.example/b"}, 0),
    ("is_expected_url_pattern_match", URL, {"expected": ["^https", "b=c$"]}, 1),
    (
        "check_accessibility_tree",
        TREE,
        [{"xpath": "//frame[@st:active='true']/label", "text": "hello", "exact": True}],
        1,
    ),
    (
        "check_accessibility_tree",
        TREE,
        [{"selectors": ["application[name=Files] label"], "text": "hullo", "exact": False}],
        0.8,
    ),
    ("check_accessibility_tree", TREE, [{"selectors": ["button"]}], 0),
    ("check_left_panel", TREE, None, 1),
    ("check_left_panel", TREE.replace("Slides View", "x"), None, 0),
]

_ONE = "check_one_instance_when_started_from_file"


def _rule(*key: str | int, **method: Any) -> dict[str, Any]:
    return {"key": list(key), "method": next(iter(method)), "ref": next(iter(method.values()))}


FILES: list[tuple[str, str, Any, float]] = [
    ("compare_text_file", "a  b\n", "A b", 0),
    ("compare_config", '{"a": 1}', {"expected": '{"a": 1}'}, 1),
    ("file_contains", "one two", {"expected": ["one", "two"]}, 1),
    ("file_contains", "one two", {"expected": ["one", "three"]}, 0),
    ("check_line_number", "12:00:01 x\ny\n13:00:01 z\n", {"expected": "2"}, 1),
    ("diff_text_file", "a\nb\n", "a\nb\n", 1),
    ("diff_text_file", "a\nb\n", "a\nc\n", 0.5),
    ("check_list", "alpha\nbeta\n", {"expect": ["^al", "ta$"], "unexpect": ["gamma"]}, 1),
    ("check_list", "alpha\nbeta\n", {"expect": ["gamma"]}, 0),
    ("check_list", "alpha\nbeta\n", {"unexpect": ["beta"]}, 0),
    ("check_csv", "a,b\n1,2\n3,4\n", {"expect": [{"a": "3", "b": "4"}], "unexpect": [{"a": "9"}]}, 1),
    ("check_csv", "a,b\n1,2\n", {"expect": [{"a": "1", "b": "3"}]}, 0),
    ("compare_csv", "a,b\n", "a,b\n", 1),
    ("check_json", '{"a": {"b": [1, "xy"]}}', {"expect": [_rule("a", "b", 0, eq=1), _rule("a", "b", 1, re="^x")]}, 1),
    ("check_json", '{"a": 1}', {"expect": [_rule("z", eq=1)]}, 0),
    ("check_json", '{"a": 1}', {"unexpect": [_rule("a", eq=1)]}, 0),
    ("check_json_settings", '{"a.b": 50, "c": 1}', {"expected": {"a.b": 50}}, 1),
    ("check_json_settings", '{"a.b": 51}', {"expected": {"a.b": 50}}, 0),
    ("check_json_keybindings", '// comment\n[{"key": "ctrl+j"}]', {"expected": {"key": "ctrl+j"}}, 1),
    ("check_json_keybindings", "[]", {"expected": {"key": "ctrl+j"}}, 0),
    ("check_qt_bgcone", "qt-bgcone=0\n", {"expected_qt_bgcone": 0}, 1),
    ("check_qt_bgcone", "#qt-bgcone=0\n", {"expected_qt_bgcone": 0}, 0),
    ("check_qt_max_volume", "qt-max-volume=200\n", {"expected_qt_max_volume": 200}, 1),
    ("check_qt_minimal_view", "", {"expected_qt_minimal_view": 1}, 0),
    ("check_play_and_exit", "#play-and-exit=1\n", {"expected_play_and_exit": 0}, 1),
    (_ONE, "one-instance-when-started-from-file=0\n", {"expected_one_instance_when_started_from_file": 0}, 1),
    ("is_vlc_recordings_folder", "input-record-path=/home/user\n", {"recording_file_path": "/home/user"}, 1),
    ("check_qt_slider_colours", "qt-slider-colours=1;2;3;4;5;6\n", {"type": "blackish"}, 1),
    ("check_qt_slider_colours", "", {"type": "blackish"}, 0),
    ("check_config_status", '(theme "Light")\n', {"key": "theme", "value": '"Light"'}, 1),
    ("check_config_status", "# x\n(hide-docks no)\n", {"key": "hide-docks", "value": "yes"}, 0),
    ("check_auto_saving_time", SAVING, {"minutes": 3}, 1),
    ("check_auto_saving_time", SAVING, {"minutes": 5}, 0),
    ("compare_terminal_and_txt", "seen\n", "seen\n", 1),
]  # fmt: skip
PATHS = ("compare_text_file", "diff_text_file", "compare_csv")
"""Those for which what is expected is a file, too."""


@pytest.mark.parametrize(("name", "result", "expected", "score"), VALUES)
def test_values(name: str, result: Any, expected: Any, score: float) -> None:
    arguments = (result,) if expected is None else (result, expected)
    assert METRICS[name](*arguments) == pytest.approx(score)


def expected_of(name: str, expected: Any, folder: Path) -> Any:
    if name not in PATHS:
        return expected
    (folder / "expected").write_text(expected)
    return str(folder / "expected")


@pytest.mark.parametrize(("name", "text", "expected", "score"), FILES)
def test_files(name: str, text: str, expected: Any, score: float, tmp_path: Path) -> None:
    (tmp_path / "found").write_text(text)
    assert METRICS[name](str(tmp_path / "found"), expected_of(name, expected, tmp_path)) == pytest.approx(score)


def test_options(tmp_path: Path) -> None:
    found, expected = tmp_path / "found", tmp_path / "expected"
    found.write_text("A \t b\n\n")
    expected.write_text("a b")
    compare = METRICS["compare_text_file"]
    assert compare(str(found), str(expected), ignore_blanks=True) == 0
    assert compare(str(found), str(expected), ignore_blanks=True, ignore_case=True) == 1
    found.write_text(" A,b\n")
    expected.write_text("a,b\n")
    assert METRICS["compare_csv"](str(found), [str(expected)], strict=False, ignore_case=True) == 1
    assert METRICS["literal_match"](["A"], ["a"], type="list", ignore_case=True) == 1
    found.write_text('{"a": {"b": 1, "c": 2}, "d": 3}')
    rules = {"expected": '{"a": {"b": 1}}'}
    assert METRICS["compare_config"](str(found), rules) == 1
    assert METRICS["compare_config"](str(found), rules, containment_ok=False) == 0
    assert METRICS["compare_config"](str(found), {"expected": found.read_text().replace(" ", "")}, containment_ok=False)
    found.write_text('// mine\n{"a": {"b": 1}}\n')
    assert METRICS["compare_config"](str(found), rules) == 1
    assert METRICS["compare_config"](str(found), {"expected": "project"}) == 0
    found.write_text("a:\n  b: 5\n")
    wanted = {"expect": [{"key": ["a", "b"], "method": "approx:1", "ref": 5.5}]}
    assert METRICS["check_json"](str(found), wanted, is_yaml=True) == 1


@pytest.mark.parametrize(
    ("value", "method", "ref", "found"),
    [
        (3, "ge", 3, True),
        (3, "lt", 3, False),
        ("x", "lt", 3, False),
        ("Hello", "re.IGNORECASE", "^hello$", True),
        (7, "re", "7", False),
        (2, "range.te", [0, 2], True),
        (0, "range.te", [0, 2], False),
        ("'b,a'", "str_set_eq", ["a", "b"], True),
        ("b,a", "str_list_eq", ["a", "b"], False),
        ("3.05", "approx:0.1", 3, True),
    ],
)
def test_rules(value: Any, method: str, ref: Any, found: bool) -> None:
    assert matches(value, {"method": method, "ref": ref}) is found


def test_a_rule_that_there_is_not_is_raised() -> None:
    with pytest.raises(ValueError, match="no method 'like'"):
        matches("x", {"method": "like", "ref": "x"})


HOSTILE: list[Any] = [
    None, "", "/no/such/file", "\0", "/", "[" * 100_000, "\ud800", 7, 1.5, True, [], [None, {}], {}, {"children": 3},
    {"children": [3]}, {"url": None}, {"url": "http://[bad"}, {"default_font_size": "big"}, {"bookmark_bar": []},
    {"bookmark_bar": {"children": [{"type": "folder", "name": []}, {"type": "url", "url": {}}]}},
    b"\xff", "http://[bad", "nan", "1e999",
]  # fmt: skip


@pytest.mark.parametrize("name", sorted(METRICS))
def test_whatever_an_agent_leaves_is_a_score(name: str, tmp_path: Path) -> None:
    if name in ("check_accessibility_tree", "check_left_panel"):
        pytest.skip("a tree is the machine's")
    cases = [(given, expected) for given_name, _, expected, _ in (*VALUES, *FILES) if (given := given_name) == name]
    bad = tmp_path / "bad"
    contents = [
        b"",
        b"\xff\xfe\0",
        b"[" * 100_000,
        b'"text"',
        b"null",
        b"[1, 2]",
        b"{}",
        b"<a",
        json.dumps(BAR).encode(),
    ]
    for _, expected in cases:
        wanted = expected_of(name, expected, tmp_path)
        for result in HOSTILE:
            score_of(name, result, wanted)
        for content in contents:
            bad.write_bytes(content)
            score_of(name, str(bad), wanted)


def score_of(name: str, result: Any, expected: Any) -> None:
    arguments = (result,) if expected is None else (result, expected)
    if name == "is_in_vm_clickboard":
        arguments = ({"expected": ["a"]}, result)
    assert 0.0 <= METRICS[name](*arguments) <= 1.0


@pytest.mark.parametrize("rule", [{"xpath": "//a["}, {"selectors": ["a["]}])
def test_a_pattern_that_cannot_be_read_is_told(rule: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"a\["):
        METRICS["check_accessibility_tree"]("<a/>", [rule])


@pytest.mark.parametrize("name", ["check_accessibility_tree", "check_left_panel"])
def test_a_tree_that_is_none_is_the_machines_fault(name: str) -> None:
    arguments = ["<a", [{"xpath": "//a"}]] if name == "check_accessibility_tree" else ["<a"]
    with pytest.raises(InfrastructureError, match="not XML"):
        METRICS[name](*arguments)

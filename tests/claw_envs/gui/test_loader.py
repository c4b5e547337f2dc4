"""Which loader a source goes to; what the loaders make of it is theirs."""

import json
from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.tasksets import load_tasks

OSWORLD = {"id": "a-b", "instruction": "Do it.", "config": [], "evaluator": {"func": "infeasible"}}


@pytest.mark.parametrize(
    ("source", "kinds"),
    [
        (None, {"webapp"}),
        ("webapps", {"webapp"}),
        ("desktop", {"osworld"}),
        ("miniwob", {"miniwob"}),
        ("miniwob/click-test,click-button", {"miniwob"}),
    ],
)
def test_sets_by_name(source: str | None, kinds: set[str]) -> None:
    tasks = load_tasks("gui", source)
    assert {task.verifier.kind for task in tasks} == kinds
    assert {task.family for task in tasks} == {"gui"}


@pytest.mark.parametrize(
    ("source", "ids"),
    [
        ("webapps/shop/towels-to-basket", ["shop/towels-to-basket"]),
        ("webapps/shop/towels-to-basket,shop/towels-to-basket", ["shop/towels-to-basket"]),
        ("desktop/desktop-files-send-by-bluetooth", ["desktop-files-send-by-bluetooth"]),
    ],
)
def test_parts_of_built_in_sets(source: str, ids: list[str]) -> None:
    assert [task.id for task in load_tasks("gui", source)] == ids


def test_applications_are_parts() -> None:
    tasks = load_tasks("gui", "webapps/shop,table")
    assert {task.metadata["domain"] for task in tasks} == {"shop", "table"}


@pytest.mark.parametrize("source", ["webapps/shops", "webapps/shop,", "desktop/nope"])
def test_a_part_that_there_is_not(source: str) -> None:
    with pytest.raises(UserError, match=f"{source}: no such part of {source.partition('/')[0]}; `claw tasks gui"):
        load_tasks("gui", source)


def test_osworlds_files(tmp_path: Path) -> None:
    place = tmp_path / "examples" / "os" / "a-b.json"
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps(OSWORLD))
    (tmp_path / "test_all.json").write_text(json.dumps({"os": ["a-b"]}))
    for source in (tmp_path, tmp_path / "test_all.json", place):
        [task] = load_tasks("gui", source)
        assert (task.id, task.verifier.kind) == ("a-b", "osworld")


@pytest.mark.parametrize("source", ["webapp", "nope/at-all", "http://example.org", "miniwobs"])
def test_an_unknown_source_is_named_with_those_that_there_are(source: str) -> None:
    with pytest.raises(UserError, match=f"{source}: no GUI task set; there is no such path; name webapps, desktop"):
        load_tasks("gui", source)


def test_a_folder_without_tasks(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no GUI task set; name webapps"):
        load_tasks("gui", tmp_path)

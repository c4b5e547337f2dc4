"""The documentation names every family and every public set."""

from pathlib import Path

from claw_envs.toolcall.data.sets import SETS
from claw_envs.toolcall.procedural.registry import FAMILIES

PAGE = (Path(__file__).parents[4] / "docs" / "toolcall-data.md").read_text("utf-8")


def test_every_family_is_documented():
    assert [line.split("`")[1] for line in PAGE.splitlines() if line.startswith("| `")][-len(FAMILIES) :] == [*FAMILIES]


def test_every_public_set_is_documented_with_its_place_on_the_hub():
    for name, public in SETS.items():
        assert f"`{name}`" in PAGE
        assert f"`{public.dataset}`" in PAGE

"""How a user names a set of problems."""

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.tasksets import load_tasks
from claw_envs.toolcall.procedural.generator import generate
from claw_envs.toolcall.procedural.source import tasks_of


@pytest.mark.parametrize(
    ("named", "options"),
    [
        ("", {}),
        ("heldout", {"split": "heldout"}),
        ("train,families=product+gcd,levels=1-2,count=16,seed=3", {
            "families": ["product", "gcd"], "levels": [1, 2], "count": 16, "seed": 3
        }),
        ("levels=1+4-5,dev", {"levels": [1, 4, 5], "split": "dev"}),
        (" count=3 , families=dates ", {"count": 3, "families": ["dates"]}),
        ("split=dev,count=2", {"split": "dev", "count": 2}),
    ],
)  # fmt: skip
def test_sources(named, options):
    assert tasks_of(named) == generate(**options)


def test_the_family_loads_them():
    assert load_tasks("toolcall") == load_tasks("toolcall", "procedural") == generate()
    assert load_tasks("toolcall", "procedural:heldout,count=5") == generate(split="heldout", count=5)


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("test", "'test' is neither a split .train, dev, heldout. nor an option; write it like procedural:heldout,"),
        ("size=3", "'size=3' is neither a split"),
        ("count=many", "'count=many': 'many' is not a whole number"),
        ("count=-1", "'-1' is not a whole number"),
        ("levels=1-", "'levels=1-': '' is not a whole number"),
        ("levels=3-1", "at least one family, one level"),
        ("levels=1-9", "no level 6"),
        ("families=", "no family of problems ''"),
        ("count=1,count=2", "count is given twice"),
        ("train,heldout", "split is given twice"),
        ("split=test", "no split 'test'"),
    ],
)
def test_mistakes(named, message):
    with pytest.raises(UserError, match=message):
        tasks_of(named)

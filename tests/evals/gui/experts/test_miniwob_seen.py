"""What experts of MiniWoB++ see of a page: its elements without those that only repeat what it asks for."""

import pytest

from evals.gui.experts.miniwob.seen import Seen
from evals.gui.experts.page import read_page
from evals.gui.experts.policy import Stuck

REQUEST = 'Click on the "ok" button, then on cancel.'
TREE = """[1] text "Click on the \\"ok\\" button, then on" (3,3,90,11)
[2] text "cancel." (3,14,30,11)
[3] button "ok" (2,52,40,21)
[4] button "cancel." (2,80,40,21)
[5] button "ok" (2,99,40,21)"""


@pytest.fixture
def seen() -> Seen:
    return Seen(read_page(TREE), REQUEST)


def test_the_request_itself_is_left_out(seen: Seen) -> None:
    assert [node.id for node in seen.nodes] == ["3", "4", "5"]


def test_a_request_that_is_shown_otherwise_stays() -> None:
    assert len(Seen(read_page(TREE), "Something else.").nodes) == 5


def test_elements_by_role_name_and_place(seen: Seen) -> None:
    assert seen.one("button", "ok").id == "3"
    assert seen.one("button", "ok", nth=1).id == "5"
    assert seen.one(None, nth=-1).id == "5"
    assert seen.maybe("textbox") is None
    assert [node.id for node in seen.matching("o.")] == ["3", "5"]
    assert seen.again(seen.nodes[1]).name == "cancel."


def test_what_is_missing_is_said(seen: Seen) -> None:
    with pytest.raises(Stuck, match="no textbox"):
        seen.one("textbox")
    with pytest.raises(Stuck, match="cannot read"):
        seen.asked("Type (.*)")


def test_words_of_the_request(seen: Seen) -> None:
    assert seen.quoted() == ["ok"]
    assert seen.asked("then on (.*)[.]") == ("cancel",)

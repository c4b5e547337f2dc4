"""MiniWoB++ as tasks: all pages, some of them, and what the user reads where there are none."""

import asyncio
import sys

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.tasksets import load_tasks
from claw_envs.gui.browser.network import Request, Response
from claw_envs.gui.miniwob import pages
from claw_envs.gui.miniwob.loader import load, recognises


def get(path: str, method: str = "GET") -> Response:
    return asyncio.run(pages.serve(Request(method, path, {}, {}, b"")))


def test_every_page_is_a_task() -> None:
    tasks = load_tasks("gui", "miniwob")
    assert len(tasks) == 130
    assert [task.id for task in tasks] == sorted(task.id for task in tasks)
    assert {"miniwob/click-test", "miniwob/book-flight", "miniwob/email-inbox-nl-turk"} <= {task.id for task in tasks}
    assert {task.verifier.kind for task in tasks} == {task.metadata["domain"] for task in tasks} == {"miniwob"}


def test_pages_are_chosen_by_name_in_the_order_given() -> None:
    assert [task.id for task in load("miniwob/login-user,click-test")] == ["miniwob/login-user", "miniwob/click-test"]


@pytest.mark.parametrize("source", ["miniwob/clicktest", "miniwob/click-test,nothing", "miniwob/../core/core"])
def test_a_page_that_is_not_there_is_the_users_mistake(source: str) -> None:
    with pytest.raises(UserError, match="no page"):
        load(source)


def test_only_its_own_sources_are_recognised() -> None:
    assert recognises("miniwob")
    assert recognises("miniwob/click-test")
    assert not any(map(recognises, ["webapps", "miniwobs", "./miniwob.json", "tasks/miniwob"]))


def test_without_the_package_the_user_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "find_spec", lambda name: None)
    pages.folder.cache_clear()
    try:
        with pytest.raises(UserError, match="pip install"):
            load("miniwob")
    finally:
        pages.folder.cache_clear()


def test_the_package_is_never_imported() -> None:
    load("miniwob")
    assert "miniwob" not in sys.modules
    assert "selenium" not in sys.modules


def test_pages_are_served_with_all_that_they_are_made_of() -> None:
    page = get("/miniwob/click-dialog.html")
    assert page.status == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert b"genProblem" in page.body
    assert get("/core/core.js").headers["content-type"].startswith("text/javascript")
    assert get("/core/jquery-ui/images/ui-icons_444444_256x240.png").headers["content-type"] == "image/png"


@pytest.mark.parametrize(
    "path", ["/", "/miniwob", "/miniwob/nothing.html", "/../action.py", "/miniwob/../../action.py", "//etc/passwd"]
)
def test_nothing_else_is_served(path: str) -> None:
    assert get(path).status == 404


def test_pages_only_answer_reads() -> None:
    assert get("/miniwob/click-test.html", "POST").status == 404

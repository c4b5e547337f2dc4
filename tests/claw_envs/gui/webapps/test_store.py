"""The server of an application: files, and a document that only the page's own requests reach."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.gui.browser.network import Request, Response
from claw_envs.gui.webapps.app import read_app
from claw_envs.gui.webapps.store import Store, merged

SEED = {"things": {"a": 1}, "name": "Ann"}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    folder = tmp_path / "demo"
    (folder / "tasks").mkdir(parents=True)
    (folder / "index.html").write_text('<meta name="store-token" content="{{token}}">')
    (folder / "main.js").write_text("")
    (folder / "seed.json").write_text(json.dumps(SEED))
    (folder / "tasks" / "secret.html").write_text("")
    return Store(read_app(str(folder)), {})


def ask(store: Store, path: str, method: str = "GET", body: Any = None, **headers: str) -> Response:
    sent = b"" if body is None else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return asyncio.run(store.answer(Request(method, path, {}, named, sent)))


def token(store: Store) -> str:
    return ask(store, "/").body.decode().split('content="')[1].split('"')[0]


def test_its_files(store: Store) -> None:
    page = ask(store, "/")
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert ask(store, "/index.html") == page
    assert ask(store, "/main.js").headers["content-type"] == "text/javascript; charset=utf-8"
    assert ask(store, "/common/store.js").status == 200


@pytest.mark.parametrize("path", ["/seed.json", "/tasks/secret.html", "/../demo/seed.json", "/nothing", "/common/"])
def test_nothing_else_is_a_file(store: Store, path: str) -> None:
    assert ask(store, path).status == 404


def test_only_own_scripts_run(store: Store) -> None:
    policy = ask(store, "/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "form-action 'none'" in policy


def test_reading_and_saving(store: Store) -> None:
    key = token(store)
    assert json.loads(ask(store, "/state", x_store_token=key).body) == {"version": 0, "state": SEED}
    saved = ask(store, "/state", "POST", {"base": 0, "parts": {"name": "Bob"}}, x_store_token=key)
    assert (saved.status, json.loads(saved.body)) == (200, {"version": 1})
    assert store.state == {**SEED, "name": "Bob"}
    assert store.initial == SEED


def test_an_old_version_is_refused_and_shown_the_new_one(store: Store) -> None:
    key = token(store)
    ask(store, "/state", "POST", {"base": 0, "parts": {"name": "Bob"}}, x_store_token=key)
    late = ask(store, "/state", "POST", {"base": 0, "parts": {"name": "Eve"}}, x_store_token=key)
    assert late.status == 409
    assert json.loads(late.body) == {"version": 1, "state": {**SEED, "name": "Bob"}}
    assert store.state["name"] == "Bob"


@pytest.mark.parametrize("headers", [{}, {"x_store_token": ""}, {"x_store_token": "0" * 32}, {"x_store_token": "é"}])
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_without_the_token_there_is_nothing(store: Store, method: str, headers: dict[str, str]) -> None:
    answer = ask(store, "/state", method, {"base": 0, "parts": {"name": "Eve"}}, **headers)
    assert (answer.status, answer.body) == (403, b"")
    assert store.state == SEED


@pytest.mark.parametrize("body", ["", [], {"base": 0}, {"base": "0", "parts": {}}, {"base": 0, "parts": {}, "x": 1}])
def test_a_save_that_cannot_be_read(store: Store, body: Any) -> None:
    assert ask(store, "/state", "POST", body, x_store_token=token(store)).status == 400
    assert store.version == 0


def test_a_save_that_is_too_large(store: Store) -> None:
    body = {"base": 0, "parts": {"name": "x" * 4_000_000}}
    assert ask(store, "/state", "POST", body, x_store_token=token(store)).status == 413


def test_other_methods(store: Store) -> None:
    assert ask(store, "/", "POST").status == 405
    assert ask(store, "/state", "DELETE", x_store_token=token(store)).status == 405


def test_episodes_share_nothing(tmp_path: Path, store: Store) -> None:
    other = Store(read_app(str(tmp_path / "demo")), {})
    store.state["things"]["a"] = 2
    assert other.state == other.initial == SEED
    assert token(other) != token(store)
    assert ask(other, "/state", x_store_token=token(store)).status == 403


def test_a_patch_of_the_first_state() -> None:
    assert merged(SEED, {"things": {"b": 2}, "more": {"c": [3]}}) == {
        "things": {"a": 1, "b": 2},
        "name": "Ann",
        "more": {"c": [3]},
    }
    assert merged(SEED, {"things": 4})["things"] == 4
    assert SEED == {"things": {"a": 1}, "name": "Ann"}


@pytest.mark.parametrize("seed", ["[]", "{", ""])
def test_a_first_state_that_is_none(tmp_path: Path, seed: str) -> None:
    (tmp_path / "index.html").write_text("")
    (tmp_path / "seed.json").write_text(seed)
    with pytest.raises(UserError, match=r"seed\.json: not a JSON object"):
        read_app(str(tmp_path))


def test_a_folder_without_an_application(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no web application there"):
        read_app(str(tmp_path))

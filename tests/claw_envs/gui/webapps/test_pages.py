"""The applications in a real browser: what is saved, what two tabs do to each other, what an agent cannot reach."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from claw_envs.core.task import Task, VerifierSpec
from claw_envs.gui import acts
from claw_envs.gui.browser.screen import BrowserScreen
from claw_envs.gui.scenario import Said
from claw_envs.gui.screen import Element, Parts
from claw_envs.gui.webapps.app import builtin_apps

WebappScenario = pytest.importorskip(
    "claw_envs.gui.webapps.scenario", reason="needs jmespath", exc_type=ImportError
).WebappScenario

Evaluate = Callable[..., Any]


def task(app: str, **options: Any) -> Task:
    return Task(
        id=f"{app}/test",
        family="gui",
        instruction="Do it.",
        verifier=VerifierSpec(kind="webapp", options=options),
        path=str(builtin_apps() / app),
    )


@pytest.fixture(scope="module")
def screen(chromium: None) -> Iterator[BrowserScreen]:
    screen = BrowserScreen()
    yield screen
    asyncio.run(screen.close())


@pytest.fixture
def shop(screen: BrowserScreen) -> Any:
    scenario = WebappScenario(screen)
    goal = {"expect": [{"path": "profile.name", "equals": "Ada"}], "changed": ["profile", "wishlist"]}
    asyncio.run(scenario.prepare(task("shop", **goal), seed=0))
    return scenario


@pytest.fixture(scope="module")
def table(chromium: None) -> Iterator[Evaluate]:
    screen = BrowserScreen()
    asyncio.run(WebappScenario(screen).prepare(task("table"), seed=0))

    def evaluate(script: str, argument: Any = None) -> Any:
        return asyncio.run(screen.evaluate(script, argument))

    yield evaluate
    asyncio.run(screen.close())


def test_an_episode_begins_once_the_store_is_open(screen: BrowserScreen, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "seed.json").write_text('{"title": "Ready"}')
    page = '<meta name="store-token" content="{{token}}"><script type="module" src="/page.js"></script><p>Waiting'
    (own / "index.html").write_text(f"<!doctype html><html><head>{page}")
    script = 'import { Store } from "/common/store.js"; SLOW; document.title = (await Store.open()).state.title;'
    slow = "await new Promise((resolve) => setTimeout(resolve, 300))"
    (own / "page.js").write_text(script.replace("SLOW", slow))
    asyncio.run(WebappScenario(screen).prepare(replace(task("shop"), path=str(own)), seed=0))
    assert run(screen, "() => globalThis.store.state.title") == "Ready"


def test_one_without_a_store_waits_for_none(screen: BrowserScreen, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "seed.json").write_text("{}")
    (own / "index.html").write_text("<!doctype html><p>Words")
    asyncio.run(WebappScenario(screen).prepare(replace(task("shop"), path=str(own)), seed=0))
    assert run(screen, "() => document.body.innerText") == "Words"


def do(screen: BrowserScreen, act: acts.ScreenAct) -> str | None:
    return asyncio.run(screen.do(act, timeout=20.0))


def run(screen: BrowserScreen, script: str, argument: Any = None) -> Any:
    return asyncio.run(screen.evaluate(script, argument))


def elements(screen: BrowserScreen) -> Sequence[Element]:
    return asyncio.run(screen.look(Parts(screenshot=False))).elements or ()


def names(screen: BrowserScreen) -> list[str]:
    return [element.name for element in elements(screen)]


def named(screen: BrowserScreen, name: str) -> str:
    return next(element.id for element in elements(screen) if element.name == name)


def state(scenario: Any) -> Any:
    return scenario._store.state


# --- saving -----------------------------------------------------------------------------------------------------------


def test_a_save_that_is_on_its_way_counts(screen: BrowserScreen, shop: Any) -> None:
    run(screen, "() => { store.change(draft => { draft.profile.name = 'Ada'; }); }")
    outcome = asyncio.run(shop.verify(Said(acts.Done())))
    assert outcome.score == 1.0
    assert outcome.report["success"] is True


def test_of_two_writers_neither_undoes_the_other(screen: BrowserScreen, shop: Any) -> None:
    run(
        screen,
        """async () => {
          const {Store} = await import('/common/store.js');
          const [one, other] = [await Store.open(), await Store.open()];
          one.change(draft => { draft.profile.name = 'Ada'; });
          other.change(draft => { draft.profile.phone = '1'; });
          one.change(draft => { delete draft.wishlist.p20; });
          await Promise.all([one.settled(), other.settled()]);
        }""",
    )
    assert state(shop)["profile"]["name"] == "Ada"
    assert state(shop)["profile"]["phone"] == "1"
    assert "p20" not in state(shop)["wishlist"]


def test_a_change_of_what_is_gone_is_dropped(screen: BrowserScreen, shop: Any) -> None:
    run(
        screen,
        """async () => {
          const {Store} = await import('/common/store.js');
          const [one, other] = [await Store.open(), await Store.open()];
          one.change(draft => { delete draft.addresses.a3; });
          other.change(draft => { draft.addresses.a3.city = 'Kiel'; });
          other.change(draft => { draft.profile.name = 'Ada'; });
          await Promise.all([one.settled(), other.settled()]);
        }""",
    )
    assert set(state(shop)["addresses"]) == {"a1", "a2"}
    assert state(shop)["profile"]["name"] == "Ada"


def test_a_change_while_another_tabs_is_read_is_kept(screen: BrowserScreen, shop: Any) -> None:
    run(
        screen,
        """async () => {
          new BroadcastChannel('store').postMessage(0);
          const asked = new Promise(resolve => {
            const ask = globalThis.fetch;
            globalThis.fetch = (...given) => { resolve(); globalThis.fetch = ask; return ask(...given); };
          });
          await asked;
          store.change(draft => { draft.profile.name = 'Ada'; });
          await store.settled();
        }""",
    )
    assert state(shop)["profile"]["name"] == "Ada"


def test_another_tab_shows_what_was_changed(screen: BrowserScreen, shop: Any) -> None:
    assert do(screen, acts.NewTab("http://shop.test/#/wishlist")) is None
    assert "Soy Candle" in names(screen)
    do(screen, acts.SwitchTab(0))
    run(screen, "() => { store.change(draft => { draft.wishlist = {p15: '2026-03-12'}; }); return store.settled(); }")
    do(screen, acts.SwitchTab(1))
    shown = names(screen)
    assert "Chef's Knife" in shown
    assert "Soy Candle" not in shown
    run(screen, "() => { store.change(draft => { draft.profile.name = 'Ada'; }); return store.settled(); }")
    assert state(shop)["wishlist"] == {"p15": "2026-03-12"}
    assert state(shop)["profile"]["name"] == "Ada"


def test_another_tab_throws_nothing_away_that_is_being_written(screen: BrowserScreen, shop: Any) -> None:
    do(screen, acts.Goto("http://shop.test/#/account"))
    do(screen, acts.Fill(named(screen, "Phone"), "0123"))
    do(screen, acts.NewTab("http://shop.test/#/wishlist"))
    run(screen, "() => { store.change(draft => { draft.profile.name = 'Ada'; }); return store.settled(); }")
    do(screen, acts.SwitchTab(0))
    assert run(screen, "() => store.settled().then(() => document.querySelector('[name=phone]').value)") == "0123"
    do(screen, acts.ClickElement(named(screen, "Save profile")))
    assert state(shop)["profile"]["phone"] == "0123"


def test_a_field_and_the_button_after_it_both_count(screen: BrowserScreen, shop: Any) -> None:
    lines = {at: {"product": at, "options": {}, "quantity": 1} for at in ("p12", "p18")}
    asyncio.run(shop.prepare(task("shop", start="/#/basket", state={"basket": {"lines": lines}}), seed=0))
    do(screen, acts.Fill(named(screen, "Quantity of Storage Jars"), "3"))
    box = next(element.box for element in elements(screen) if element.name == "Remove Striped Tea Towels")
    assert box is not None
    do(screen, acts.Move(box[0] + 5, box[1] + 5))
    do(screen, acts.ButtonDown())
    do(screen, acts.ButtonUp())
    assert state(shop)["basket"]["lines"] == {"p18": {"product": "p18", "options": {}, "quantity": 3}}


def test_a_reload_shows_what_was_saved(screen: BrowserScreen, shop: Any) -> None:
    run(screen, "() => { store.change(draft => { draft.wishlist = {}; }); return store.settled(); }")
    do(screen, acts.Reload())
    assert "Wishlist (0)" in names(screen)


def test_what_is_typed_is_text(screen: BrowserScreen, shop: Any) -> None:
    markup = "<img src=x onerror=\"document.title='out'\">"
    run(screen, "name => { store.change(draft => { draft.products.p01.name = name; }); }", markup)
    do(screen, acts.Goto("http://shop.test/#/product/p01"))
    assert markup in names(screen)
    assert run(screen, "() => document.images.length") == 0


# --- what an agent cannot reach ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["state", "seed.json", "tasks/cancel-towels.toml", "tasks"])
def test_neither_state_nor_tasks_are_shown(screen: BrowserScreen, shop: Any, path: str) -> None:
    do(screen, acts.Goto(f"http://shop.test/{path}"))
    assert run(screen, "() => document.body.innerText.trim()") == ""
    assert state(shop) == shop._store.initial


@pytest.mark.parametrize(
    "url",
    [
        "javascript:store.change(draft => { draft.profile.name = 'Ada' })",
        "data:text/html,<script>fetch('http://shop.test/state', {method: 'POST', body: '{}'})</script>",
        "view-source:http://shop.test/",
    ],
)
def test_an_address_runs_nothing(screen: BrowserScreen, shop: Any, url: str) -> None:
    do(screen, acts.Goto(url))
    assert state(shop) == shop._store.initial
    assert "store-token" not in run(screen, "() => document.body.innerText")


def test_an_inline_script_does_not_run(screen: BrowserScreen, shop: Any) -> None:
    ran = run(
        screen,
        """() => {
          const script = document.createElement('script');
          script.textContent = 'globalThis.ran = true';
          document.body.append(script);
          return Boolean(globalThis.ran);
        }""",
    )
    assert ran is False


def test_an_episode_begins_anew(screen: BrowserScreen, shop: Any) -> None:
    run(screen, "() => { store.change(draft => { draft.wishlist = {}; }); return store.settled(); }")
    run(screen, "() => { localStorage.left = 'x'; }")
    asyncio.run(shop.prepare(task("shop", start="/#/wishlist"), seed=1))
    assert "Soy Candle" in names(screen)
    assert run(screen, "() => localStorage.left ?? null") is None


# --- what the table editor reckons ------------------------------------------------------------------------------------

CELLS = {"A1": 2, "A2": 3, "A3": "lamp", "A4": None, "B1": 10, "B2": 20, "B3": 30, "C1": "Desk", "C2": "desk", "C3": ""}


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("1+2*3", 7),
        ("(1+2)*3", 9),
        ("2^3^1", 8),
        ("-2^2", -4),
        ("10-4-3", 3),
        ("50%", 0.5),
        ("0.1+0.2", 0.3),
        ("A1*B2", 40),
        ("$A$1+b$1", 12),
        ("A4+1", 1),
        ("SUM(A1:A4)", 5),
        ("SUM(A1:B2, 5)", 40),
        ("sum(A1;A2)", 5),
        ("AVERAGE(B1:B3)", 20),
        ("MIN(B1:B3)+MAX(B1:B3)", 40),
        ("COUNT(A1:A4)", 2),
        ("COUNTA(A1:A4)", 3),
        ('COUNTIF(C1:C3, "desk")', 2),
        ('COUNTIF(B1:B3, ">10")', 2),
        ('SUMIF(C1:C3, "Desk", B1:B3)', 30),
        ('IF(A1<A2, "less", "more")', "less"),
        ("IF(A1>A2, 1/0, 5)", 5),
        ("ROUND(10/3, 2)", 3.33),
        ("ABS(-4)", 4),
        ('"a" & 1 & "b""c"', 'a1b"c'),
        ("A1=2", True),
        ("A1<>2", False),
        ("1/0", "#DIV/0!"),
        ("SUM(A1, 1/0)", "#DIV/0!"),
        ("SUM(A1:ZZ4000)", "#REF!"),
        ("A3+1", "#VALUE!"),
        ("NOPE(1)", "#NAME?"),
        ("nope", "#NAME?"),
        ("1+", "#ERROR!"),
        ("(1", "#ERROR!"),
        ("1 2", "#ERROR!"),
        ("A1:A2", "#VALUE!"),
        ("#REF!+1", "#REF!"),
    ],
)
def test_a_formula(table: Evaluate, formula: str, value: Any) -> None:
    script = """async ([formula, cells]) => {
      const {evaluate} = await import('/formula.js');
      const value = evaluate(formula, place => cells[place] ?? null);
      return value?.code ?? value;
    }"""
    assert table(script, [formula, CELLS]) == value


@pytest.mark.parametrize(
    ("raw", "value"),
    [("", None), ("12", 12), ("-1,234.50", -1234.5), ("€9.90", 9.9), ("12%", 0.12), ("1,23", "1,23"), ("x1", "x1")],
)
def test_what_is_typed_into_a_cell(table: Evaluate, raw: str, value: Any) -> None:
    assert table("async raw => (await import('/values.js')).typed(raw)", raw) == value


A_TO_A3, B_TO_B2 = {"left": 0, "top": 0, "right": 0, "bottom": 2}, {"left": 1, "top": 0, "right": 1, "bottom": 1}


@pytest.mark.parametrize(
    ("edit", "arguments", "cells"),
    [
        ("insert", ["row", 1], {"A1": "1", "A3": "2", "A4": "3", "A5": "=SUM(A1:A4)", "B1": "=A3+$A$4"}),
        ("insert", ["column", 0], {"B1": "1", "B2": "2", "B3": "3", "B4": "=SUM(B1:B3)", "C1": "=B2+$B$3"}),
        ("remove", ["row", 1, 1], {"A1": "1", "A2": "3", "A3": "=SUM(A1:A2)", "B1": "=#REF!+$A$2"}),
        ("remove", ["row", 2, 2], {"A1": "1", "A2": "2", "A3": "=SUM(A1:A2)", "B1": "=A2+#REF!"}),
        ("remove", ["row", 0, 2], {"A1": "=SUM(#REF!)"}),
        ("remove", ["column", 0, 0], {"A1": "=#REF!+#REF!"}),
        ("fillDown", [B_TO_B2], {"B1": "=A2+$A$3", "B2": "=A3+$A$3"}),
        ("replaceAll", ["=a2", "=A1", {}], {"B1": "=A1+$A$3"}),
        ("replaceAll", ["=a2", "=A1", {"matchCase": True}], {}),
        ("replaceAll", ["2", "5", {"whole": True}], {"A2": "5"}),
        ("clear", [A_TO_A3], {"A1": None, "A2": None, "A3": None}),
    ],
)
def test_an_edit(table: Evaluate, edit: str, arguments: list[Any], cells: dict[str, str | None]) -> None:
    script = """async ([edit, given, raws]) => {
      const sheet = {cells: Object.fromEntries(Object.entries(raws).map(([at, raw]) => [at, {raw}]))};
      (await import('/edits.js'))[edit](sheet, ...given);
      return Object.fromEntries(Object.entries(sheet.cells).map(([at, cell]) => [at, cell.raw]));
    }"""
    before = {"A1": "1", "A2": "2", "A3": "3", "A4": "=SUM(A1:A3)", "B1": "=A2+$A$3"}
    moves = edit in ("insert", "remove")
    wanted = cells if moves else {at: raw for at, raw in {**before, **cells}.items() if raw is not None}
    assert table(script, [edit, arguments, before]) == wanted


def test_csv_goes_there_and_back(table: Evaluate) -> None:
    script = """async text => {
      const {fromCsv, toCsv} = await import('/csv.js');
      const cells = fromCsv(text);
      return [cells, toCsv({cells}, at => cells[at]?.raw ?? '')];
    }"""
    text = 'a,b\n"x, y","say ""no"""\n,3'
    cells, back = table(script, text)
    raws = {"A1": "a", "B1": "b", "A2": "x, y", "B2": 'say "no"', "B3": "3"}
    assert cells == {at: {"raw": raw} for at, raw in raws.items()}
    assert back == text

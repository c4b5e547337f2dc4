"""Pages where fields are filled: given, found on the page, or worked out."""

import re
from datetime import datetime

from claw_envs.wire import Call
from evals.gui.experts.miniwob.calls import click, fill, scroll, wait, write
from evals.gui.experts.miniwob.registry import solves
from evals.gui.experts.miniwob.seen import Moves, Seen
from evals.gui.experts.page import Node

_FIELD = "textbox"


def submit(seen: Seen) -> Call:
    """A click on what sends the form."""
    return click(seen.one("button", "Submit"))


@solves("enter-text", "enter-text-dynamic")
def given_text(seen: Seen) -> Moves:
    yield [fill(seen.one(_FIELD), seen.quoted()[0]), submit(seen)]


@solves("enter-text-2")
def in_other_letters(seen: Seen) -> Moves:
    (text,) = seen.quoted()
    yield [fill(seen.one(_FIELD), text.upper() if "upper case" in seen.task else text.lower()), submit(seen)]


@solves("enter-password")
def password_twice(seen: Seen) -> Moves:
    (password,) = seen.quoted()
    yield [*(fill(field, password) for field in seen.all(_FIELD)), submit(seen)]


@solves("login-user")
def login(seen: Seen) -> Moves:
    yield [*(fill(*pair) for pair in zip(seen.all(_FIELD), seen.quoted(), strict=True)), click(seen.one("button"))]


@solves("login-user-popup")
def login_with_popup(seen: Seen) -> Moves:
    for index, text in enumerate(seen.quoted()):
        seen = yield [fill(seen.one(_FIELD, nth=index), text)]
        if cancel := seen.maybe("button", "Cancel"):
            seen = yield [click(cancel)]
            seen = yield [fill(seen.one(_FIELD, nth=index), text)]
    yield [click(seen.one("button", "OK"))]


@solves("enter-time")
def time_of_day(seen: Seen) -> Moves:
    (text,) = seen.asked(r"Enter (\d+:\d\d\s[AP]M)")
    time = datetime.strptime(" ".join(text.split()), "%I:%M %p")
    yield [fill(seen.one("time"), f"{time:%H:%M}"), submit(seen)]


@solves("enter-date")
def date(seen: Seen) -> Moves:
    month, day, year = seen.asked(r"(\d\d)/(\d\d)/(\d{4})")
    yield [fill(seen.one("date"), f"{year}-{month}-{day}"), submit(seen)]


@solves("find-word")
def nth_word(seen: Seen) -> Moves:
    words = seen.nodes[0].name.split()
    word = words[int(seen.asked(r"the (\d+)\w\w word")[0]) - 1]
    yield [fill(seen.one(_FIELD), word.strip(".,")), submit(seen)]


@solves("copy-paste", "copy-paste-2")
def copy(seen: Seen) -> Moves:
    texts = [field for field in seen.all(_FIELD) if field.value]
    (empty,) = [field for field in seen.all(_FIELD) if not field.value]
    place = re.search(r"(\d)\w\w text area", seen.task)
    yield [fill(empty, texts[int(place[1]) - 1 if place else 0].value), submit(seen)]


@solves("scroll-text")
def last_word(seen: Seen) -> Moves:
    area, field = seen.all(_FIELD)
    yield [fill(field, area.value.split()[-1].strip(".")), submit(seen)]


@solves("simple-arithmetic")
def arithmetic(seen: Seen) -> Moves:
    left, sign, right = _groups(seen, r"(\d+) ([-+x]) (\d+) =")
    yield [fill(seen.one(_FIELD), str(_result(int(left), sign, int(right)))), submit(seen)]


@solves("simple-algebra")
def algebra(seen: Seen) -> Moves:
    left, sign, right, result = _groups(seen, r"(x|\d+) ([-+]) (x|\d+) = (-?\d+)")
    if sign == "+":
        answer = int(result) - int(right if left == "x" else left)
    else:
        answer = int(result) + int(right) if left == "x" else int(left) - int(result)
    yield [fill(seen.one(_FIELD), str(answer)), submit(seen)]


@solves("text-transform")
def slanted_letters(seen: Seen) -> Moves:
    field = seen.one(_FIELD)
    before = seen.nodes[: seen.nodes.index(field)]
    yield [fill(field, "".join(node.name for node in before)), submit(seen)]


@solves("read-table")
def value_of_a_key(seen: Seen) -> Moves:
    (key,) = seen.asked("the value of (.*) into")
    yield [fill(seen.one(_FIELD), _value(seen, key)), submit(seen)]


@solves("read-table-2")
def values_of_keys(seen: Seen) -> Moves:
    values = [_value(seen, node.name.removesuffix(":")) for node in seen.matching(".*:")]
    yield [*(fill(*pair) for pair in zip(seen.all(_FIELD), values, strict=True)), submit(seen)]


@solves("use-autocomplete", "use-autocomplete-nodelay")
def item_by_its_ends(seen: Seen) -> Moves:
    start, end = [*seen.quoted(), ""][:2]
    seen = yield [fill(seen.one(_FIELD), start), wait(0.5)]
    (item, *_) = [node for node in seen.nodes if node.name.startswith(start) and node.name.endswith(end)]
    seen = yield [click(item)]
    yield [submit(seen)]


@solves("multi-layouts", "multi-orderings")
def film_search(seen: Seen) -> Moves:
    genre, director, year = seen.asked("for (.*) movies directed by (.*) from year (.*)[.]")
    values = {"genre": genre, "director": director, "year": year, "released": year}
    labels = [key for node in seen.nodes for key in values if key in node.name.lower() and node.role != _FIELD]
    fills = [fill(field, values[label]) for field, label in zip(seen.all(_FIELD), labels, strict=True)]
    yield [*fills, click(seen.matching("Submit|Search|Go!")[-1])]


@solves("form-sequence-2")
def radio_and_text(seen: Seen) -> Moves:
    radio, text, field = seen.asked(r'the (\d)\w\w radio .* number "(.*)" into the (\d)')
    chosen = seen.one("radio", nth=int(radio) - 1)
    yield [click(chosen), fill(seen.one(_FIELD, nth=int(field) - 1), text), submit(seen)]


@solves("search-engine")
def search(seen: Seen) -> Moves:
    text, place = seen.quoted()[0], int(seen.asked(r"the (\d)\w\w search result")[0]) - 1
    seen = yield [fill(seen.one(_FIELD), text), click(seen.one("button", "Search"))]
    if place >= 3:
        seen = yield [click(seen.one("link", str(place // 3 + 1)))]
    yield [click(_results(seen)[place % 3])]


@solves("terminal")
def remove_a_file(seen: Seen) -> Moves:
    ending = re.search(r"extension (\.\S+)", seen.task)
    seen = yield [click(seen.matching("terminal")[0]), write("ls\n")]
    files = seen.matching(r"[\w.-]+( [\w.-]+)+")[-1].name.split()
    (file, *_) = [name for name in files if (name.endswith(ending[1]) if ending else "." not in name)]
    yield [write(f"rm {file}\n")]


@solves("sign-agreement")
def sign(seen: Seen) -> Moves:
    if "Click the cancel" in seen.task:
        yield [click(seen.one("button", "Cancel"))]
        return
    name, button = seen.quoted()
    seen = yield [scroll(seen.one(_FIELD), "down", 50)]
    yield [fill(seen.one(_FIELD, nth=1), name), click(seen.one("button", button))]


def _groups(seen: Seen, pattern: str) -> tuple[str, ...]:
    (found, *_) = [found for node in seen.nodes if (found := re.search(pattern, node.name))]
    return found.groups()


def _result(left: int, sign: str, right: int) -> int:
    return {"+": left + right, "-": left - right, "x": left * right}[sign]


def _value(seen: Seen, key: str) -> str:
    cells = [node.name for node in seen.nodes if node.name]
    return cells[cells.index(key) + 1]


def _results(seen: Seen) -> list[Node]:
    return [link for link in seen.all("link") if not re.fullmatch(r"\d|<|>", link.name)]

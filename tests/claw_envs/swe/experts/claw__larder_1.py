"""A cache that is used by what it calls."""

from .forms import Step, bash, native, tagged

REPRODUCE = """from larder import Cache

cache = Cache(20, weigh=len)


def page(key):
    return cache.load("head", lambda _: "hhh") + cache.load("foot", lambda _: "ff")


cache.load("page", page)
print("nested load:", sorted(cache.keys()), cache.weight)

cache = Cache(10, weigh=len)


def demote(removal):
    if removal.reason == "size" and len(removal.value) > 1:
        cache.put(removal.key, removal.value[:1])


cache.listen(demote)
for key, value in ("a", "aaaa"), ("b", "bbb"), ("c", "cccc"):
    cache.put(key, value)
print("demoted:", [cache.get(key) for key in "abc"], cache.weight)
"""
EVENTS = '''"""What listeners are told."""

from __future__ import annotations

from typing import Any, Callable, Hashable, NamedTuple

SIZE, AGE, REPLACED, REMOVED = "size", "age", "replaced", "removed"


class Removal(NamedTuple):
    """An entry that has left the cache, and why."""

    key: Hashable
    value: Any
    reason: str


Listener = Callable[[Removal], None]


class Listeners:
    """Functions that are called with every removal, in the order in which the entries left."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._queue: list[Removal] = []
        self._telling = False

    def add(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` from now on; the function that is given takes it off again."""
        self._listeners.append(listener)

        def remove() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return remove

    def note(self, removal: Removal) -> None:
        """Remember a removal until `tell`."""
        self._queue.append(removal)

    def tell(self) -> None:
        """Tell all of what is noted; where that is going on already, whoever does it will come to it."""
        if self._telling:
            return
        self._telling = True
        try:
            while self._queue:
                removal = self._queue.pop(0)
                for listener in tuple(self._listeners):
                    listener(removal)
        finally:
            self._telling = False
'''
EDIT = """
python3 - <<'EOF'
from pathlib import Path

path = Path("larder/cache.py")
text = path.read_text()


def change(old, new):
    global text
    assert text.count(old) == 1, old
    text = text.replace(old, new)


change('''            self._listeners.tell(Removal(key, entry.value, reason))
            self._weight -= entry.weight
''', '''            self._weight -= entry.weight
            self._listeners.note(Removal(key, entry.value, reason))
''')
change('''            self._remove(key, AGE)
''', '''            self._remove(key, AGE)
            self._listeners.tell()
''')
change('''        for key in list(self._entries):
            self._remove(key, REMOVED)
''', '''        for key in list(self._entries):
            self._remove(key, REMOVED)
        self._listeners.tell()
''')
change('''        self._remove(key, REMOVED)
        return entry.value
''', '''        self._remove(key, REMOVED)
        self._listeners.tell()
        return entry.value
''')
change('''        others = self._weight
''', '')
start = text.index("        weight = self._weigh(value)\\n        if weight <=")
end = text.index("        return value\\n\\n    def pop")
text = text[:start] + "        self.put(key, value)\\n" + text[end:]
change('''        if weight > self.capacity:
            return
        self._weight += weight
        self._entries[key] = Entry(value, weight, self._expiry(self._clock()))
        self._shrink()
''', '''        if weight <= self.capacity:
            self._weight += weight
            self._entries[key] = Entry(value, weight, self._expiry(self._clock()))
            self._shrink()
        self._listeners.tell()
''')
path.write_text(text)
EOF
git diff larder/cache.py
"""

STEPS: list[Step] = [
    (
        bash("I look around.", "cat README.md; wc -l larder/*.py tests/*.py; python3 -m pytest -q | tail -n 1"),
        "26 passed",
    ),
    (tagged("The code.", "view_file", path="/testbed/larder/cache.py"), "others = self._weight"),
    (
        native("", "bash", command="cat larder/events.py larder/memo.py; sed -n 1,40p tests/test_events.py"),
        "class Listeners",
    ),
    (
        bash(
            "Both symptoms.",
            f"cat > /tmp/reproduce.py <<'EOF'\n{REPRODUCE}EOF\n"
            "PYTHONPATH=. python3 /tmp/reproduce.py 2>&1 | sed -n '1p;$p'",
        ),
        "nested load: ['foot', 'head', 'page'] 5\nStopIteration",
    ),
    (
        tagged(
            "Listeners must hear of removals one after the other, and only once the cache is in order.",
            "write_file",
            path="larder/events.py",
            content=EVENTS,
        ),
        "",
    ),
    (bash("Now the cache: weigh first, tell at the end of each call.", EDIT), "self._listeners.note("),
    (
        bash("Again, with the tests.", "PYTHONPATH=. python3 /tmp/reproduce.py; python3 -m pytest -q 2>&1 | tail -n 3"),
        "nested load: ['foot', 'head', 'page'] 10\ndemoted: ['a', 'bbb', 'cccc'] 8\n",
    ),
    (tagged("Done.", "submit"), ""),
]

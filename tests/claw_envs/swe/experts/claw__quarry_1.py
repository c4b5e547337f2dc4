"""Choices of versions that have to be taken back."""

from .forms import SUBMIT, Step, bash, native, tagged

SHOW = """from quarry import Index, lock, resolve

shared = Index.parse("a 2: c >=2\\na 1: c\\nb 1: c <2\\nc 2:\\nc 1:")
for wanted in (["a", "b"], ["b", "a"]):
    try:
        print(resolve(shared, wanted).versions)
    except Exception as error:
        print(type(error).__name__, error)
web = Index.parse("web 3.0: http <1.1, extra, tls >=2\\nweb 2.0: http\\nhttp 1.1:\\nhttp 1.0:\\nextra 1:\\ntls 1:")
print(lock(resolve(web, ["web"])))
"""
SEARCH = '''
python3 - <<'EOF'
path = "quarry/resolver.py"
text = open(path).read()
start = text.index("    resolver = _Resolver(index)")
text = text[:start] + """    resolver = _Resolver(index)
    resolver.search([Wish(Requirement.parse(requirement), YOU) for requirement in requirements])
    return Resolution(resolver.versions, resolver.wishes)


class _Resolver:
    def __init__(self, index: Index) -> None:
        self.index = index
        self.versions: dict[str, Version] = {}
        self.wishes: dict[str, list[Wish]] = {}

    def search(self, waiting: list[Wish]) -> None:
        \\"\\"\\"Meet the wishes that wait, the first one first; if that cannot be done all is as it was.\\"\\"\\"
        if not waiting:
            return
        wish, rest = waiting[0], waiting[1:]
        name = wish.requirement.name
        wishes = self.wishes.setdefault(name, [])
        wishes.append(wish)
        try:
            self._meet(name, wish, rest)
        except QuarryError:
            wishes.pop()
            if not wishes:
                del self.wishes[name]
            raise

    def _meet(self, name: str, wish: Wish, rest: list[Wish]) -> None:
        if name in self.versions:
            if not wish.requirement.range.allows(self.versions[name]):
                raise Conflict(name, self.wishes[name])
            self.search(rest)
            return
        first = None
        for version in self.candidates(name):
            self.versions[name] = version
            try:
                self.search([Wish(needed, f"{name} {version}") for needed in self.index.needs(name, version)] + rest)
                return
            except QuarryError as error:
                del self.versions[name]
                if not isinstance(error, Conflict):
                    raise
                first = first or error
        raise first or Conflict(name, self.wishes[name])

""" + text[text.index("    def candidates(self"):]
open(path, "w").write(text)
EOF
PYTHONPATH=. python3 /tmp/show.py
'''

STEPS: list[Step] = [
    (native("", "bash", command="cat README.md; git log --format='%an %s'; ls quarry tests"), "resolver.py"),
    (tagged("The examples of the issue.", "write_file", path="/tmp/show.py", content=SHOW), ""),
    (
        bash("I run them.", "PYTHONPATH=. python3 /tmp/show.py"),
        "Conflict no version of c fits: a 2 wants >=2; b 1 wants <2",
    ),
    (tagged("", "view_file", path="quarry/resolver.py"), "def want(self, wish: Wish)"),
    (
        bash(
            "`want` returns once a package has a version: what is wanted later cannot make it try another. The search "
            "must go on with all that waits inside of each try, and put everything back when it fails.",
            SEARCH,
        ),
        "{'b': 1, 'c': 1, 'a': 1}\nhttp ==1.1  # web 2.0\nweb ==2.0  # you\n",
    ),
    (
        bash(
            "The tests, old and new.",
            """cat > tests/test_search.py <<'EOF'
from quarry import Index, resolve


def test_the_order_does_not_matter():
    index = Index.parse("a 2: c >=2\\na 1: c\\nb 1: c <2\\nc 2:\\nc 1:")
    assert resolve(index, ["a", "b"]).versions == resolve(index, ["b", "a"]).versions
EOF
python3 -m pytest -q 2>&1 | tail -n 4""",
        ),
        "35 passed",
    ),
    (SUBMIT, ""),
]

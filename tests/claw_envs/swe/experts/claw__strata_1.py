"""Several statements about one key in one layer."""

from .forms import SUBMIT, Step, bash, native, tagged

SHOW = """
cat > /tmp/show.py <<'EOF'
import sys
from strata import Config, explain, parse

defaults = parse('plugins = ["a", "b"]', name="defaults")
for text in (
    'plugins -= ["a"]\\nplugins += ["c"]',
    'plugins = ["x", "y"]\\nplugins -= ["x"]',
    'unset plugins\\nplugins += ["x"]',
    'db.host = "first"\\nunset db\\ndb.host = "second"',
):
    try:
        layers = [defaults, parse(text, name="user")]
        print(Config(layers).as_dict(), explain(layers, "plugins"))
    except Exception as error:
        print(type(error).__name__, error)
EOF
PYTHONPATH=. python3 /tmp/show.py
"""
EDIT = """
set -e
sed -i 's/ in layer.operations.items():/ in layer.statements():/' strata/merge.py strata/explain.py
grep -rn "operations" strata
"""
ADD = '''        if operation.kind in (Kind.ADD, Kind.TAKE) and not isinstance(operation.value, list):
            raise ConfigError(f"{self.where(operation)}: {operation.kind.value} needs a list")
        if operation.kind is Kind.UNSET:
            for known in [known for known in self._set if known[: len(path)] == path]:
                del self._set[known]
        elif path in self._set:
            earlier = self._set[path]
            if operation.kind is Kind.SET:
                raise ConfigError(f"{self.where(operation)}: {'.'.join(path)} is set already in line {earlier.line}")
            if not isinstance(earlier.value, list):
                raise ConfigError(f"{self.where(operation)}: {'.'.join(path)} is not a list")
        elif operation.kind is Kind.SET:
            self._set[path] = operation
        self._statements.append((path, operation))

    def statements(self) -> list[tuple[Path, Operation]]:
        """The statements in their order, each with its key."""
        return list(self._statements)
'''
REWRITE = f"""
python3 - <<'EOF'
path = "strata/layer.py"
text = open(path).read()
start = text.index("        earlier = self.operations.get(path)")
end = text.index("    def where(self")
text = text[:start] + '''{ADD}
''' + text[end:]
text = text.replace(
    "        self.operations: dict[Path, Operation] = {{}}\\n",
    "        self._statements: list[tuple[Path, Operation]] = []\\n        self._set: dict[Path, Operation] = {{}}\\n",
)
open(path, "w").write(text)
EOF
git diff --stat
"""
TEST = r"""cat >> tests/test_config.py <<'EOF'


def test_statements_follow_each_other():
    assert stack("hosts = [1]", "hosts += [2]\nhosts += [3]\nhosts -= [1]")["hosts"] == [2, 3]
EOF
python3 -m pytest -q
"""

STEPS: list[Step] = [
    (bash("What is this?", "git log --oneline; cat README.md; ls strata tests"), "layer.py"),
    (
        bash("The issue's examples.", SHOW),
        "{'plugins': ['a', 'b', 'c']} ['defaults:1: plugins = [\"a\", \"b\"]', 'user:2: plugins += [\"c\"]']",
    ),
    (
        native("I read how a layer keeps its statements.", "view_file", path="strata/layer.py"),
        "self.operations[path] = operation",
    ),
    (
        tagged("And who reads them.", "bash", command="grep -rn operations strata tests; cat strata/merge.py"),
        "strata/explain.py",
    ),
    (
        bash("A dictionary by key holds one statement a key. I make it a list; first those who read it.", EDIT),
        "strata/layer.py",
    ),
    (bash("Then the layer itself.", REWRITE), "3 files changed"),
    (
        bash(
            "Does it do what the issue asks for?",
            "PYTHONPATH=. python3 /tmp/show.py; python3 -m pytest -q 2>&1 | tail -n 3",
        ),
        "{'plugins': ['b', 'c']}",
    ),
    (
        native(
            "A test for it.",
            "bash",
            command=TEST,
        ),
        "48 passed",
    ),
    (SUBMIT, ""),
]

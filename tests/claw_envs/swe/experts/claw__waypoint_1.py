"""Fixed text of a rule that is read as a regular expression."""

from .forms import SUBMIT, Step, bash, native, tagged

STEPS: list[Step] = [
    (bash("I look around.", "git log --oneline; ls . waypoint tests; wc -l waypoint/*.py"), "pattern.py"),
    (
        bash(
            "I reproduce what the issue says.",
            """
cat > /tmp/reproduce.py <<'EOF'
from waypoint import Router

router = Router()
router.add("/v1.0/users/<name>", "user")
print(router.match("/v1x0/users/ann"))
router.add("/c++/<page>", "cpp")
EOF
PYTHONPATH=. python3 /tmp/reproduce.py
""",
        ),
        "Match(endpoint='user', values={'name': 'ann'})",
    ),
    (
        tagged("So a rule becomes a regular expression somewhere.", "bash", command="grep -n 're\\.' waypoint/*.py"),
        'return re.compile("".join(pieces))',
    ),
    (native("I read how.", "view_file", path="waypoint/pattern.py", start=50, end=64), "pieces.append(part.text)"),
    (
        bash(
            "The text goes in as it is. It has to be escaped here, not where it is read: URLs are built from it too.",
            "sed -i 's/pieces.append(part.text)/pieces.append(re.escape(part.text))/' waypoint/pattern.py && git diff",
        ),
        "+            pieces.append(re.escape(part.text))",
    ),
    (
        bash(
            "Again, and a URL there and back.",
            """
PYTHONPATH=. python3 /tmp/reproduce.py 2>&1 | tail -n 1
python3 - <<'EOF'
from waypoint import Router
router = Router()
router.add("/files (old)/<name>", "file")
print(router.url_for("file", name="a.txt"), router.match("/files (old)/a.txt"))
EOF
""",
        ),
        "/files%20(old)/a.txt Match(endpoint='file', values={'name': 'a.txt'})",
    ),
    (bash("And the tests.", "python3 -m pytest -q 2>&1 | tail -n 3"), "40 passed"),
    (SUBMIT, ""),
]

"""Chains of divisions in units."""

from .forms import SUBMIT, Step, bash, native, tagged

STEPS: list[Step] = [
    (bash("I look at the repository first.", "git log --oneline | head; ls -R .; cat README.md"), "parser.py"),
    (
        bash(
            "Now what the issue says.",
            """
python3 - <<'EOF'
from gauge import Quantity
u = Quantity(2, "W/m^2/K")
try:
    print((u * Quantity(10, "m^2") * Quantity(15, "K")).to("W"))
except Exception as error:
    print(type(error).__name__, error)
EOF
""",
        ),
        "DimensionError W/m^2/K*m^2*K is length^2 * mass * time^-3 * temperature^2",
    ),
    (tagged("Units are read by the parser.", "bash", command="cat -n gauge/parser.py | sed -n 20,60p"), "sign = -sign"),
    (
        bash(
            "The sign is turned over with every division and never back. It must come from the mark before each power.",
            "sed -i -e '/^        sign = 1$/d' "
            '-e \'s/^            if mark.text == "\\/":$/            sign = -1 if mark.text == "\\/" else 1/\' '
            "-e '/^                sign = -sign$/d' gauge/parser.py && git diff",
        ),
        '+            sign = -1 if mark.text == "/" else 1',
    ),
    (
        native(
            "A test for it.",
            "edit_file",
            path="tests/test_parser.py",
            old="def test_negative_powers():",
            new='def test_chain():\n    assert parse("J/kg/K") == parse("J/(kg*K)")\n\n\ndef test_negative_powers():',
        ),
        "",
    ),
    (bash("Everything together.", "python3 -m pytest -q 2>&1 | tail -n 5"), "39 passed"),
    (SUBMIT, ""),
]

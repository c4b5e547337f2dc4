"""HTML that is escaped a second time."""

from .forms import SUBMIT, Step, bash, native, tagged

STEPS: list[Step] = [
    (
        bash("What is safe, and who asks?", "cat README.md; ls stencil; cat stencil/markup.py; grep -rn Safe stencil"),
        "class Safe(str)",
    ),
    (
        tagged(
            "The cases of the issue in one script.",
            "write_file",
            path="/tmp/twice.py",
            content="""from stencil import Environment, Safe

environment = Environment(autoescape=True)
for source in (
    "{% capture x %}<b>{{ title }}</b>{% endcapture %}{{ x }}",
    "{{ ' <b>' | safe | trim }}",
    "{{ '<b>' | safe | indent }}",
    "{{ parts | join(' & ') }}",
    "{{ '<b>' | safe | upper }}",
):
    print(environment.from_string(source).render(title="A & B", parts=[Safe("<b>x</b>"), "<i>"]))
""",
        ),
        "",
    ),
    (bash("All five are escaped.", "PYTHONPATH=. python3 /tmp/twice.py"), "&lt;b&gt;A &amp;amp; B&lt;/b&gt;"),
    (
        native(
            "Where captures are kept, and the filters:",
            "bash",
            command="sed -n '/^class Capture/,/^def/p' stencil/nodes.py; cat stencil/filters.py",
        ),
        "scope.set(self._name, render_all(self._body, scope.inner()))",
    ),
    (
        bash(
            "What a body gives in an HTML template is HTML.",
            r"""
sed -i -e 's/^from stencil.markup import escape$/from stencil.markup import Safe, escape/' -e '
s/^        scope.set(self._name, \(render_all(self._body, scope.inner())\))$/        text = \1\
        scope.set(self._name, Safe(text) if scope.environment.autoescape else text)/' stencil/nodes.py
git diff
""",
        ),
        "+        scope.set(self._name, Safe(text) if scope.environment.autoescape else text)",
    ),
    (
        bash(
            "Of the filters only trim, indent and join can keep it.",
            r'''
python3 - <<'EOF'
from pathlib import Path

path = Path("stencil/filters.py")
text = path.read_text()
for old, new in [
    ("return _text(value).strip()\n", "return _like(value, _text(value).strip())\n"),
    ('return _text(value).replace("\\n"', 'return _like(value, _text(value).replace("\\n"'),
    ('" " * columns)', '" " * columns))'),
    ("    return _text(between).join(_text(item) for item in value or ())\n", """\
    texts = [_text(between), *map(_text, value or ())]
    if any(isinstance(text, Safe) for text in texts):
        between, *items = map(escape, texts)
        return Safe(between.join(items))
    return texts[0].join(texts[1:])
"""),
]:
    assert text.count(old) == 1, old
    text = text.replace(old, new)
path.write_text(text + """

def _like(value, text):
    return Safe(text) if isinstance(value, Safe) else text
""")
EOF
PYTHONPATH=. python3 /tmp/twice.py
''',
        ),
        "<b>A &amp; B</b>\n<b>\n<b>\n<b>x</b> &amp; &lt;i&gt;\n&lt;B&gt;",
    ),
    (bash("All tests.", "python3 -m pytest -q 2>&1 | tail -n 3"), "61 passed"),
    (SUBMIT, ""),
]

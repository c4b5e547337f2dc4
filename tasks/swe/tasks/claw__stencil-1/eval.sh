#!/bin/bash
set -uxo pipefail
exec 2>&1
git -C /testbed checkout 9bfac441d1bf6f1de00783dc0b14dd7d26d66d02 tests/
cd /testbed
git checkout 9bfac441d1bf6f1de00783dc0b14dd7d26d66d02 tests/test_escaping.py
rm -rf -- tests/test_safe_filters.py
git apply -v - <<'EOF_PATCH'
diff --git a/tests/test_escaping.py b/tests/test_escaping.py
index e6c1800..d819ca5 100644
--- a/tests/test_escaping.py
+++ b/tests/test_escaping.py
@@ -46,3 +46,13 @@ def test_no_escaping_without_autoescape():
 def test_what_is_included_is_escaped_once():
     sources = {"page": "<ul>{% include 'row' %}</ul>", "row": "<li>{{ x }}</li>"}
     assert Environment(sources, autoescape=True).render("page", x="&") == "<ul><li>&amp;</li></ul>"
+
+
+def test_what_is_captured_is_escaped_once():
+    source = '{% capture link %}<a href="/x">{{ title }}</a>{% endcapture %}<p>{{ link }}</p>'
+    assert render(source, title="A & B") == '<p><a href="/x">A &amp; B</a></p>'
+
+
+def test_what_is_captured_without_autoescape_is_plain_text():
+    environment = Environment({"page": "{% capture x %}<b>{{ y }}{% endcapture %}{{ x | escape }}"})
+    assert environment.render("page", y="&") == "&lt;b&gt;&amp;"
diff --git a/tests/test_safe_filters.py b/tests/test_safe_filters.py
new file mode 100644
index 0000000..1c2c1f9
--- /dev/null
+++ b/tests/test_safe_filters.py
@@ -0,0 +1,55 @@
+import pytest
+
+from stencil import Environment, Safe
+
+LINK = Safe("<a>A &amp; B</a>")
+
+
+def render(source, **values):
+    return Environment(autoescape=True).from_string(source).render(**values)
+
+
+@pytest.mark.parametrize(
+    ("source", "text"),
+    [
+        ("{{ ' <b> ' | safe | trim }}", "<b>"),
+        ("{{ '<b>\n</b>' | safe | indent(2) }}", "<b>\n  </b>"),
+        ("{{ ' <b>\n</b>' | safe | trim | indent(1) | trim }}", "<b>\n </b>"),
+        ("{% capture x %} <b>{{ name }}</b> {% endcapture %}{{ x | trim }}", "<b>A &amp; B</b>"),
+        ("{{ ' <b> ' | escape | trim }}", "&lt;b&gt;"),
+    ],
+    ids=["trim", "indent", "several filters", "captured [and trimmed]", "escape first"],
+)
+def test_filters_that_only_move_space(source, text):
+    assert render(source, name="A & B") == text
+
+
+@pytest.mark.parametrize(
+    ("source", "text"),
+    [
+        ("{{ links | join(' ') }}", "<a>A &amp; B</a> <a>A &amp; B</a>"),
+        ("{{ links | join(' & ') }}", "<a>A &amp; B</a> &amp; <a>A &amp; B</a>"),
+        ("{{ mixed | join(', ') }}", "<a>A &amp; B</a>, &lt;i&gt;, 3"),
+        ("{{ names | join(br) }}", "a<br>&lt;b&gt;"),
+        ("{{ names | join(', ') }}", "a, &lt;b&gt;"),
+    ],
+    ids=["safe items", "text between is escaped", "items of both kinds", "what stands between is safe", "nothing safe"],
+)
+def test_join(source, text):
+    values = {"links": [LINK, LINK], "mixed": [LINK, "<i>", 3], "names": ["a", "<b>"], "br": Safe("<br>")}
+    assert render(source, **values) == text
+
+
+def test_captures_are_joined_and_included():
+    sources = {
+        "page": "{% capture a %}<b>{{ x }}</b>{% endcapture %}{% include 'box' %}",
+        "box": "<div>{{ a | trim }}{{ x | trim }}</div>",
+    }
+    assert Environment(sources, autoescape=True).render("page", x="<") == "<div><b>&lt;</b>&lt;</div>"
+
+
+def test_plain_text_stays_plain_in_a_filter():
+    environment = Environment()
+    assert environment.from_string("{{ x | join('&') }}").render(x=["<", "b"]) == "<&b"
+    assert type(environment.filters["trim"](" a ")) is str
+    assert type(environment.filters["join"](["a", "b"])) is str
EOF_PATCH
: '>>>>> Start Test Output'
python3 -m pytest -rA tests/test_escaping.py tests/test_filters.py tests/test_language.py tests/test_safe_filters.py
: '>>>>> End Test Output'
git checkout 9bfac441d1bf6f1de00783dc0b14dd7d26d66d02 tests/test_escaping.py

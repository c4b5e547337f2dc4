#!/bin/bash
set -uxo pipefail
exec 2>&1
git -C /testbed checkout c0680b50d315d297ccdfcabd215b52ea684ddd04 tests/
cd /testbed
git checkout c0680b50d315d297ccdfcabd215b52ea684ddd04 tests/test_lock.py
rm -rf -- tests/test_backtracking.py
git apply -v - <<'EOF_PATCH'
diff --git a/tests/test_backtracking.py b/tests/test_backtracking.py
new file mode 100644
index 0000000..62014a7
--- /dev/null
+++ b/tests/test_backtracking.py
@@ -0,0 +1,62 @@
+"""Choices that turn out to be wrong only later."""
+
+import pytest
+
+from quarry import Conflict, Index, lock, order, resolve
+
+
+def versions(text, *requirements):
+    found = resolve(Index.parse(text), requirements)
+    return {name: str(version) for name, version in found.versions.items()}
+
+
+def test_an_earlier_choice_is_taken_back():
+    text = "a 2: c >=2\na 1: c\nb 1: c <2\nc 2:\nc 1:"
+    assert versions(text, "a", "b") == {"a": "1", "b": "1", "c": "1"}
+
+
+def test_a_choice_in_between_is_taken_back():
+    text = "app 1: a, b\na 2: c >=2\na 1: c\nb 1: c <2\nc 2:\nc 1:"
+    assert versions(text, "app") == {"app": "1", "a": "1", "b": "1", "c": "1"}
+
+
+def test_a_package_that_came_first_gives_way():
+    text = "a 1:\na 2:\na 3:\nb 1: a <3\nd 1: a !=2"
+    assert versions(text, "a", "b", "d") == {"a": "1", "b": "1", "d": "1"}
+
+
+def test_wishes_of_versions_that_were_not_taken_do_not_count():
+    text = "a 2: c <2, d >=5\na 1: c\nd 1:\nc 2:\nc 1:"
+    assert versions(text, "a") == {"a": "1", "c": "2"}
+
+
+def test_packages_of_versions_that_were_not_taken_are_left_out():
+    text = "a 2: extra, d >=5\na 1:\nd 1:\nextra 1:"
+    assert versions(text, "a") == {"a": "1"}
+    assert lock(resolve(Index.parse(text), ["a"])) == "a ==1  # you\n"
+
+
+def test_a_ring_in_which_one_must_be_older():
+    text = "a 2: b\na 1: b\nb 2: a <2\nb 1: a\nc 1: b >=2"
+    assert versions(text, "a", "c") == {"a": "1", "b": "2", "c": "1"}
+    index = Index.parse(text)
+    assert order(index, resolve(index, ["a", "c"])) == [["a", "b"], ["c"]]
+
+
+def test_a_tower_of_choices():
+    floors = 8
+    lines = [f"p{floor} {version}: p{floor + 1} =={version}" for floor in range(floors) for version in (1, 2, 3)]
+    lines += [f"p{floors} {version}: base" for version in (1, 2, 3)] + ["base 1:", "last 1: p8 <2"]
+    found = versions("\n".join(lines), "p0", "last")
+    assert {found[f"p{floor}"] for floor in range(floors + 1)} == {"1"}
+
+
+def test_the_newest_are_still_taken_where_they_fit():
+    text = "a 2: c\na 1: c\nb 2: c >=2\nb 1: c <2\nc 2:\nc 1:"
+    assert versions(text, "a", "b") == {"a": "2", "b": "2", "c": "2"}
+
+
+def test_what_fits_nowhere_is_still_a_conflict():
+    text = "a 2: c >=2\na 1: c >=2\nb 1: c <2\nc 2:\nc 1:"
+    with pytest.raises(Conflict, match="^no version of c fits: a 2 wants >=2; b 1 wants <2$"):
+        versions(text, "a", "b")
diff --git a/tests/test_lock.py b/tests/test_lock.py
index 48714be..c419d69 100644
--- a/tests/test_lock.py
+++ b/tests/test_lock.py
@@ -23,6 +23,11 @@ def test_a_lock_file_is_a_list_of_requirements():
     assert again.versions == found.versions
 
 
+def test_a_lock_file_names_nobody_who_was_not_taken():
+    index = Index.parse("web 3.0: http, tls\nweb 2.0: http\nhttp 1.1:\ntls 1: http <1\n")
+    assert lock(resolve(index, ["web"])) == "http ==1.1  # web 2.0\nweb ==2.0  # you\n"
+
+
 def test_what_is_required_is_installed_first():
     assert order(INDEX, resolve(INDEX, ["web"])) == [["http"], ["text"], ["web"]]
 
EOF_PATCH
: '>>>>> Start Test Output'
python3 -m pytest -rA tests/test_backtracking.py tests/test_lock.py tests/test_resolver.py tests/test_version.py
: '>>>>> End Test Output'
git checkout c0680b50d315d297ccdfcabd215b52ea684ddd04 tests/test_lock.py

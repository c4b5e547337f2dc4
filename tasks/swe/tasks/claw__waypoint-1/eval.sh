#!/bin/bash
set -uxo pipefail
exec 2>&1
git -C /testbed checkout 94b80ff506771e4a0e1cecb430a5457d39aa109d tests/
cd /testbed
git checkout 94b80ff506771e4a0e1cecb430a5457d39aa109d tests/test_match.py
rm -rf -- tests/test_literal.py
git apply -v - <<'EOF_PATCH'
diff --git a/tests/test_literal.py b/tests/test_literal.py
new file mode 100644
index 0000000..2510086
--- /dev/null
+++ b/tests/test_literal.py
@@ -0,0 +1,53 @@
+import pytest
+
+from waypoint import NotFound, Router
+
+
+@pytest.mark.parametrize(
+    ("rule", "path"),
+    [
+        ("/report.csv", "/report.csv"),
+        ("/c++/<page>", "/c++/vectors"),
+        ("/files (old)/<name>", "/files (old)/a.txt"),
+        ("/prices/$", "/prices/$"),
+        ("/a|b", "/a|b"),
+        ("/*/<name>", "/*/all"),
+        ("/[draft]/<name>", "/[draft]/one two"),
+    ],
+)
+def test_fixed_text_matches_itself(rule, path):
+    router = Router()
+    router.add(rule, "here")
+    assert router.match(path).endpoint == "here"
+
+
+@pytest.mark.parametrize(
+    ("rule", "path"),
+    [
+        ("/report.csv", "/report-csv"),
+        ("/v1.0/<name>", "/v1x0/users"),
+        ("/go+/<name>", "/gooo/users"),
+        ("/a|b", "/a"),
+        ("/[draft]/<name>", "/d/name"),
+        ("/files (old)/<name>", "/files old/a.txt"),
+    ],
+)
+def test_fixed_text_matches_nothing_else(rule, path):
+    router = Router()
+    router.add(rule, "here")
+    with pytest.raises(NotFound):
+        router.match(path)
+
+
+def test_urls_are_built_from_the_text_of_the_rule():
+    router = Router()
+    router.add("/files (old)/v1.0/<name>", "file")
+    assert router.url_for("file", name="a.txt") == "/files%20(old)/v1.0/a.txt"
+
+
+def test_values_are_still_taken_by_their_converters():
+    router = Router()
+    router.add("/v1.0/<int:number>.json", "number")
+    assert router.match("/v1.0/12.json").values == {"number": 12}
+    with pytest.raises(NotFound):
+        router.match("/v1.0/12xjson")
diff --git a/tests/test_match.py b/tests/test_match.py
index 2531915..6237c07 100644
--- a/tests/test_match.py
+++ b/tests/test_match.py
@@ -79,3 +79,13 @@ def test_mount():
     assert router.match("/admin").endpoint == "admin.index"
     assert router.match("/admin/users/3") == ("admin.user", {"user_id": 3})
     assert router.url_for("admin.user", user_id=3) == "/admin/users/3"
+
+
+def test_a_mounted_prefix_is_fixed_text_too():
+    api = Router()
+    api.add("/users", "users")
+    router = Router()
+    router.mount("/api/v1.0", api)
+    assert router.match("/api/v1.0/users").endpoint == "api.v1.0.users"
+    with pytest.raises(NotFound):
+        router.match("/api/v1_0/users")
EOF_PATCH
: '>>>>> Start Test Output'
python3 -m pytest -rA tests/test_build.py tests/test_literal.py tests/test_match.py tests/test_pattern.py
: '>>>>> End Test Output'
git checkout 94b80ff506771e4a0e1cecb430a5457d39aa109d tests/test_match.py

#!/bin/bash
set -uxo pipefail
exec 2>&1
git -C /testbed checkout 8f272282e44512484331cd72b59312e92aab68ae tests/
cd /testbed
git checkout 8f272282e44512484331cd72b59312e92aab68ae tests/test_apply.py tests/test_unified.py
rm -rf -- tests/test_line_ends.py
git apply -v - <<'EOF_PATCH'
diff --git a/tests/test_apply.py b/tests/test_apply.py
index adb2b5b..3d991b4 100644
--- a/tests/test_apply.py
+++ b/tests/test_apply.py
@@ -35,3 +35,14 @@ def test_a_hunk_that_does_not_fit():
 
 def test_a_patch_is_undone():
     assert apply(reverse(diff(NUMBERS, CHANGED)), CHANGED) == NUMBERS
+
+
+def test_a_text_keeps_its_missing_end():
+    patch = diff(NUMBERS, NUMBERS.replace("5\n", "five\n", 1))
+    assert apply(patch, NUMBERS[:-1]) == NUMBERS.replace("5\n", "five\n", 1)[:-1]
+
+
+def test_a_missing_end_is_a_difference():
+    patch = diff("a\nb", "a\nc")
+    with pytest.raises(PatchConflict):
+        apply(patch, "a\nb\n")
diff --git a/tests/test_line_ends.py b/tests/test_line_ends.py
new file mode 100644
index 0000000..1b852ce
--- /dev/null
+++ b/tests/test_line_ends.py
@@ -0,0 +1,68 @@
+import pytest
+
+from hunks import apply, diff, reverse
+from hunks.__main__ import main
+
+GNU = (
+    "--- a.txt\t2024-02-01 10:00:00.000000000 +0100\n"
+    "+++ b.txt\t2024-02-01 10:00:01.000000000 +0100\n"
+    "@@ -1,3 +1,3 @@\n"
+    " a\n"
+    " b\n"
+    "-c\n"
+    "\\ No newline at end of file\n"
+    "+d\n"
+    "\\ No newline at end of file\n"
+)
+TEXTS = {
+    "no-end": ("a\nb", "a\nc"),
+    "end-added": ("a\nb", "a\nb\n"),
+    "end-removed": ("a\nb\n", "a\nb"),
+    "lines-added-after": ("a\nb", "a\nb\nc"),
+    "windows": ("a\r\nb\r\nc\r\n", "a\r\nx\r\nc\r\n"),
+    "windows-to-unix": ("a\r\nb\r\n", "a\nb\n"),
+    "both": ("a\r\nb\nc\r\n", "a\r\nb\nd\n"),
+    "form-feed": ("a\n\x0cb\nc\x0cd\n", "a\n\x0cb\nc\x0ce\n"),
+    "separators": ("a\u2028b\x85c\n1\n", "a\u2028b\x85c\n2\n"),
+    "return-inside": ("a\rb\n1\n", "a\rb\n2\n"),
+}
+each_pair = pytest.mark.parametrize(("old", "new"), TEXTS.values(), ids=TEXTS)
+
+
+@each_pair
+def test_a_text_comes_back_as_it_was(old, new):
+    assert apply(diff(old, new), old) == new
+
+
+@each_pair
+def test_a_text_comes_back_as_it_was_the_other_way_round(old, new):
+    assert apply(reverse(diff(old, new)), new) == old
+
+
+def test_files_that_are_made_and_emptied():
+    assert apply(diff("", "a"), "") == "a"
+    assert apply(diff("a", ""), "a") == ""
+
+
+def test_a_patch_of_another_program():
+    assert apply(GNU, "a\nb\nc") == "a\nb\nd"
+
+
+def test_a_patch_whose_own_end_is_missing():
+    assert apply(GNU.rstrip("\n"), "a\nb\nc") == "a\nb\nd"
+    assert apply("--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b", "a\n") == "b\n"
+
+
+def test_the_mark_in_another_language():
+    patch = GNU.replace("No newline at end of file", "Kein Zeilenumbruch am Dateiende.")
+    assert apply(patch, "a\nb\nc") == "a\nb\nd"
+
+
+def test_files_on_the_command_line(tmp_path, monkeypatch, capsys):
+    monkeypatch.chdir(tmp_path)
+    (tmp_path / "old.txt").write_bytes(b"a\r\nb")
+    (tmp_path / "new.txt").write_bytes(b"a\r\nb\r\n")
+    assert main(["diff", "old.txt", "new.txt"]) == 1
+    (tmp_path / "the.patch").write_bytes(capsys.readouterr().out.encode())
+    assert main(["apply", "the.patch", "old.txt"]) == 0
+    assert (tmp_path / "old.txt").read_bytes() == b"a\r\nb\r\n"
diff --git a/tests/test_unified.py b/tests/test_unified.py
index 00c6329..6d8501b 100644
--- a/tests/test_unified.py
+++ b/tests/test_unified.py
@@ -38,3 +38,16 @@ def test_files_that_are_made_and_removed():
 def test_reverse():
     patch = diff(NUMBERS, NUMBERS.replace("10\n", "ten\nand\n"), "a.txt", "b.txt")
     assert reverse(patch) == diff(NUMBERS.replace("10\n", "ten\nand\n"), NUMBERS, "b.txt", "a.txt")
+
+
+def test_a_last_line_without_an_end_is_marked():
+    assert diff("a\nb\n", "a\nb") == "--- old\n+++ new\n@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n"
+    assert diff("a\nb", "a\nb\n") == "--- old\n+++ new\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"
+
+
+def test_a_last_line_without_an_end_that_did_not_change_is_marked_once():
+    assert diff("a\nb", "x\nb") == "--- old\n+++ new\n@@ -1,2 +1,2 @@\n-a\n+x\n b\n\\ No newline at end of file\n"
+
+
+def test_a_file_that_is_made_without_an_end():
+    assert diff("", "a") == "--- old\n+++ new\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n"
EOF_PATCH
: '>>>>> Start Test Output'
python3 -m pytest -rA tests/test_apply.py tests/test_compare.py tests/test_line_ends.py tests/test_main.py tests/test_parse.py tests/test_unified.py
: '>>>>> End Test Output'
git checkout 8f272282e44512484331cd72b59312e92aab68ae tests/test_apply.py tests/test_unified.py

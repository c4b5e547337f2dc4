#!/bin/bash
set -uxo pipefail
exec 2>&1
git -C /testbed checkout ebf9c53cbdc6d0ca0efa39aa1922888820ac6941 tests/
cd /testbed
git checkout ebf9c53cbdc6d0ca0efa39aa1922888820ac6941 tests/test_export.py
rm -rf -- tests/test_pieces.py
git apply -v - <<'EOF_PATCH'
diff --git a/tests/test_export.py b/tests/test_export.py
index 49df9e1..84d225c 100644
--- a/tests/test_export.py
+++ b/tests/test_export.py
@@ -52,6 +52,12 @@ def test_entries_come_as_they_are_read():
     assert file.tell() < 100
 
 
+def test_an_export_with_returns_in_small_pieces():
+    text = "date,account,amount\r\n2020-01-01,a,1\r\n2020-01-02,b,2\r\n"
+    for size in range(1, len(text)):
+        assert [entry.account for entry in read(text, size=size)] == ["a", "b"]
+
+
 def test_nothing():
     assert read("") == read("date,account,amount\n") == []
 
diff --git a/tests/test_pieces.py b/tests/test_pieces.py
new file mode 100644
index 0000000..06f0308
--- /dev/null
+++ b/tests/test_pieces.py
@@ -0,0 +1,69 @@
+"""Text and bytes that are cut anywhere give the same as in one piece."""
+
+import io
+
+import pytest
+
+from tally import ExportError, read_export
+from tally.rows import Rows
+
+TEXT = 'a,"say ""hi"", now"\r\n"","""",x\r\n\r\n"two\r\nlines",\n"end"'
+ROWS = [["a", 'say "hi", now'], ["", '"', "x"], [], ["two\r\nlines", ""], ["end"]]
+EXPORT = (
+    'date,account,amount,note\r\n2020-01-01,Caf\u00e9 \u2615,1,"the ""small"" one"\r\n2020-01-02,b,2,\r\n'
+    "\r\nTotal,,3,\r\n"
+).encode()
+
+
+def read(*pieces):
+    rows = Rows()
+    found = []
+    for piece in pieces:
+        found += rows.feed(piece)
+    return found + rows.finish(), rows.line
+
+
+def test_in_one_piece():
+    assert read(TEXT)[0] == ROWS
+
+
+@pytest.mark.parametrize("size", [1, 2, 3, 5, 7])
+def test_rows_in_pieces(size):
+    assert read(*(TEXT[at : at + size] for at in range(0, len(TEXT), size))) == read(TEXT)
+
+
+def test_rows_cut_once_anywhere():
+    for at in range(len(TEXT)):
+        assert read(TEXT[:at], TEXT[at:])[0] == ROWS, f"cut at {at}"
+
+
+def test_lines_are_counted_once():
+    with pytest.raises(ExportError, match="^line 3: a quote inside a field$"):
+        read("a\r", "\nb\r", '\nc"')
+
+
+def test_a_row_that_ends_with_a_return_comes_at_once():
+    rows = Rows()
+    assert rows.feed("a\r") == [["a"]]
+    assert rows.feed("\nb\r") == [["b"]]
+    assert rows.feed("\r\n") == [[]]
+    assert rows.finish() == []
+
+
+def test_what_follows_a_quote_is_still_an_error():
+    with pytest.raises(ExportError, match="where a field should have ended"):
+        read('"a"', "b")
+
+
+@pytest.mark.parametrize("size", [1, 2, 3, 4, 6, 10, 25])
+def test_exports_in_pieces(size):
+    entries = list(read_export(io.BytesIO(EXPORT), size=size))
+    assert [(entry.account, entry.amount, entry.note) for entry in entries] == [
+        ("Caf\u00e9 \u2615", 100, 'the "small" one'),
+        ("b", 200, ""),
+    ]
+
+
+def test_an_export_that_ends_within_a_character():
+    (entry,) = read_export(io.BytesIO("date,amount,account\n2020-01-01,1,caf\u00e9".encode()[:-1]), size=4)
+    assert entry.account == "caf\ufffd"
EOF_PATCH
: '>>>>> Start Test Output'
python3 -m pytest -rA tests/test_export.py tests/test_ledger.py tests/test_money.py tests/test_pieces.py tests/test_rows.py
: '>>>>> End Test Output'
git checkout ebf9c53cbdc6d0ca0efa39aa1922888820ac6941 tests/test_export.py

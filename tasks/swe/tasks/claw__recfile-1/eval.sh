#!/bin/bash
set -uxo pipefail
exec 2>&1
git -C /testbed checkout 61f4154f257eaa31ba1a617fa39a8d465ebb193b tests/
cd /testbed
git checkout 61f4154f257eaa31ba1a617fa39a8d465ebb193b tests/test_files.py
rm -rf -- tests/data/stations_v1.rec tests/test_version1.py
git apply -v - <<'EOF_PATCH'
diff --git a/tests/data/stations_v1.rec b/tests/data/stations_v1.rec
new file mode 100644
index 0000000000000000000000000000000000000000..c02f9f5f21097993dd29f6c4e54b269fff5d918f
GIT binary patch
literal 301
zcmWG?b#`N9DPhS=%uUT?%Sg>k&nQV^$uCIFOJT`PEXrnMa4O17&8sqFVqjnd;{SXM
zo_QsyMLCJtsd)<i#U<t-2?ho(hN#1PiZYWkic?e5|NZ~ZZ~~;BnT3^&or9B$n}?T=
zUqDbuSVUAzTtZSxT1Hk*UO`bwSw&S%T|-k#TSr$<-@wqw*u>P#+``hz+Q!z--oeqy
z*~Qh(-NVz%+sD_>KOitDI3zSIJR&kGIwm$QJ|QtFIVCkMJtH$KJ0~|Uzo4+FxTLhK
zyrQzIx~8_SzM-+HxuvzOy`!_MyQjCWf5OB`lc!9bHhsp-S+nQNoi~5M!bOXhEM2yI
t#mZHy*Q{N)e#6F1o40J;wtdIWUAy<}-M9b1!9$0S96ffN0Rk8q8UUb0YSjP$

literal 0
HcmV?d00001

diff --git a/tests/test_files.py b/tests/test_files.py
index 5844da9..420bf5b 100644
--- a/tests/test_files.py
+++ b/tests/test_files.py
@@ -119,3 +119,15 @@ def test_a_record_that_was_changed(path):
 def test_damaged_records_are_skipped_on_request(path):
     damage(path)
     assert list(read_records(path, skip_damaged=True)) == [DEAD_SEA]
+
+
+def test_appending_to_a_file_of_another_machine(tmp_path):
+    path = tmp_path / "stations.rec"
+    path.write_bytes(STATIONS.read_bytes())
+    append_records(path, [DEAD_SEA])
+    assert path.read_bytes()[: STATIONS.stat().st_size] == STATIONS.read_bytes()
+    assert list(read_records(path))[4] == DEAD_SEA
+
+
+def test_the_schema_of_a_file_of_version_1():
+    assert read_schema(STATIONS.with_name("stations_v1.rec")) == SCHEMA
diff --git a/tests/test_version1.py b/tests/test_version1.py
new file mode 100644
index 0000000..7b5293f
--- /dev/null
+++ b/tests/test_version1.py
@@ -0,0 +1,63 @@
+import shutil
+import subprocess
+import sys
+from pathlib import Path
+
+import pytest
+
+from recfile import FormatError, ValueProblem, append_records, read_records
+
+DATA = Path(__file__).parent / "data"
+THUN = {"name": "Thun", "height": 560, "open": True, "mark": b"\x01"}
+
+
+@pytest.fixture
+def path(tmp_path):
+    """A file that recfile 1.0 wrote."""
+    return Path(shutil.copy(DATA / "stations_v1.rec", tmp_path))
+
+
+def test_a_file_of_version_1_is_read(path):
+    assert list(read_records(path)) == list(read_records(DATA / "stations_v2.rec"))
+
+
+def test_skip_damaged_leaves_nothing_out(path):
+    assert len(list(read_records(path, skip_damaged=True))) == 4
+
+
+def test_a_file_of_version_1_that_ends_too_soon(path):
+    path.write_bytes(path.read_bytes()[:-1])
+    with pytest.raises(FormatError):
+        list(read_records(path))
+
+
+def test_appending_keeps_the_version(path):
+    before = path.read_bytes()
+    append_records(path, [THUN])
+    after = path.read_bytes()
+    assert after == before + b"\x04\x00Thun" + b"\x30\x02\x00\x00" + b"\x01" + b"\x01\x00\x01"
+    assert list(read_records(path))[-1] == THUN
+
+
+@pytest.mark.parametrize(
+    "change",
+    [{"height": 2**31}, {"height": -(2**31) - 1}, {"name": "a" * 65536}, {"mark": bytes(65536)}],
+    ids=["high", "low", "text too long", "data too long"],
+)
+def test_what_version_1_cannot_hold(path, change):
+    before = path.read_bytes()
+    with pytest.raises(ValueProblem):
+        append_records(path, [THUN, {**THUN, **change}])
+    assert path.read_bytes() == before
+
+
+def test_the_most_that_version_1_can_hold(path):
+    record = {"name": "a" * 65535, "height": -(2**31), "open": False, "mark": bytes(65535)}
+    append_records(path, [record])
+    assert list(read_records(path))[4] == record
+
+
+def test_dump_of_version_1(path):
+    done = subprocess.run([sys.executable, "-m", "recfile", path], capture_output=True, text=True)
+    assert done.returncode == 0
+    assert len(done.stdout.splitlines()) == 4
EOF_PATCH
: '>>>>> Start Test Output'
python3 -m pytest -rA tests/test_files.py tests/test_schema.py tests/test_version1.py
: '>>>>> End Test Output'
git checkout 61f4154f257eaa31ba1a617fa39a8d465ebb193b tests/test_files.py

#!/bin/bash
set -uxo pipefail
exec 2>&1
git -C /testbed checkout 09b3c878ebf0cb316f6384e2a9c1bcfd61c1d8d5 tests/
cd /testbed
git checkout 09b3c878ebf0cb316f6384e2a9c1bcfd61c1d8d5 tests/test_events.py
rm -rf -- tests/test_reentrancy.py
git apply -v - <<'EOF_PATCH'
diff --git a/tests/test_events.py b/tests/test_events.py
index d6a9354..9bb73c2 100644
--- a/tests/test_events.py
+++ b/tests/test_events.py
@@ -81,3 +81,15 @@ def test_what_a_listener_raises_is_passed_on():
         cache.put("b", 2)
     stop()
     assert "a" not in cache
+
+
+def test_the_cache_is_sound_after_a_listener_raised():
+    cache = Cache(4, weigh=len)
+    cache.put("a", "xxx")
+    stop = cache.listen(lambda removal: removal.missing)
+    with pytest.raises(AttributeError):
+        cache.put("b", "xx")
+    stop()
+    assert (list(cache.keys()), cache.weight) == (["b"], 2)
+    cache.put("c", "xx")
+    assert (list(cache.keys()), cache.weight) == (["b", "c"], 4)
diff --git a/tests/test_reentrancy.py b/tests/test_reentrancy.py
new file mode 100644
index 0000000..8cf4e4f
--- /dev/null
+++ b/tests/test_reentrancy.py
@@ -0,0 +1,110 @@
+"""Loaders and listeners that use the cache that calls them."""
+
+from larder import Cache, ManualClock, memoize
+
+
+def _sound(cache):
+    return cache.weight == sum(len(cache.get(key)) for key in cache.keys()) <= cache.capacity
+
+
+def test_a_loader_that_loads_its_parts():
+    cache = Cache(20, weigh=len)
+
+    def page(key):
+        return cache.load("head", lambda _: "hhh") + cache.load("foot", lambda _: "ff")
+
+    assert cache.load("page", page) == "hhhff"
+    assert (len(cache), cache.weight) == (3, 10)
+    assert _sound(cache)
+
+
+def test_a_function_that_calls_itself_stays_within_its_cache():
+    @memoize(Cache(10))
+    def count(n):
+        return n if n == 0 else 1 + count(n - 1)
+
+    assert count(50) == 50
+    assert (len(count.cache), count.cache.weight) == (10, 10)
+
+
+def test_a_loader_that_keeps_its_own_key():
+    cache = Cache(10, weigh=len)
+
+    def loader(key):
+        cache.put(key, "draft")
+        return "final!"
+
+    assert cache.load("a", loader) == "final!"
+    assert cache.get("a") == "final!"
+    assert cache.weight == 6
+
+
+def test_a_loader_that_empties_the_cache():
+    cache = Cache(10, weigh=len)
+    cache.put("old", "xxxx")
+    cache.load("new", lambda _: cache.clear() or "yy")
+    assert (list(cache.keys()), cache.weight) == (["new"], 2)
+
+
+def test_a_listener_that_keeps_something_smaller():
+    cache = Cache(10, weigh=len)
+
+    def demote(removal):
+        if removal.reason == "size" and len(removal.value) > 1:
+            cache.put(removal.key, removal.value[:1])
+
+    cache.listen(demote)
+    cache.put("a", "aaaa")
+    cache.put("b", "bbb")
+    cache.put("c", "cccc")
+    assert [cache.get(key) for key in "abc"] == ["a", "bbb", "cccc"]
+    assert cache.weight == 8
+
+
+def test_listeners_see_a_sound_cache():
+    cache = Cache(10, weigh=len)
+    seen = []
+    cache.listen(lambda removal: seen.append(_sound(cache)))
+    for key, size in zip("abcde", (4, 4, 3, 9, 2)):
+        cache.put(key, "x" * size)
+    cache.put("e", "xxxx")
+    cache.pop("e")
+    assert seen == [True] * 6
+
+
+def test_listeners_see_removals_in_the_same_order():
+    cache = Cache(2)
+    first, second = [], []
+
+    def restore(removal):
+        first.append(removal.key)
+        if removal.key == "a":
+            cache.put("again", 0)
+
+    cache.listen(restore)
+    cache.listen(lambda removal: second.append(removal.key))
+    for key in "abc":
+        cache.put(key, 0)
+    assert first == second == ["a", "b"]
+
+
+def test_what_a_listener_keeps_while_the_cache_is_cleared_stays():
+    cache = Cache(10, weigh=len)
+    cache.put("a", "xx")
+    cache.put("b", "xxx")
+    cache.listen(lambda removal: removal.reason == "removed" and cache.put("last", removal.key))
+    cache.clear()
+    assert (cache.get("last"), cache.weight) == ("b", 1)
+
+
+def test_a_listener_that_looks_at_what_is_too_old():
+    clock = ManualClock()
+    cache = Cache(10, ttl=5, clock=clock, weigh=len)
+    told = []
+    cache.listen(lambda removal: told.append((removal.key, cache.get("a"), cache.get("b"))))
+    cache.put("a", "xx")
+    cache.put("b", "xxx")
+    clock.advance(5)
+    assert cache.get("a") is None
+    assert told == [("a", None, None), ("b", None, None)]
+    assert cache.weight == 0
EOF_PATCH
: '>>>>> Start Test Output'
python3 -m pytest -rA tests/test_cache.py tests/test_events.py tests/test_load.py tests/test_memo.py tests/test_reentrancy.py
: '>>>>> End Test Output'
git checkout 09b3c878ebf0cb316f6384e2a9c1bcfd61c1d8d5 tests/test_events.py

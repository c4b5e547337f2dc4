#!/bin/bash
set -uxo pipefail
exec 2>&1
git -C /testbed checkout 6b1bc3a12a1c87befdb9e2c82e1c46229dbbb0d8 tests/
cd /testbed
git checkout 6b1bc3a12a1c87befdb9e2c82e1c46229dbbb0d8 tests/test_environ.py
rm -rf -- tests/test_order.py
git apply -v - <<'EOF_PATCH'
diff --git a/tests/test_environ.py b/tests/test_environ.py
index dd641f3..dd66401 100644
--- a/tests/test_environ.py
+++ b/tests/test_environ.py
@@ -12,6 +12,11 @@ def test_they_go_before_files():
     assert config.origin("server.hosts") == "environment"
 
 
+def test_a_file_may_say_more_than_one_thing_below_them():
+    layers = [parse("hosts = [1, 2]"), parse("hosts -= [1]\nhosts += [3]"), from_environ("app", {"APP__PORT": "1"})]
+    assert Config(layers).as_dict() == {"hosts": [2, 3], "port": 1}
+
+
 def test_an_empty_one_unsets():
     config = Config([parse("[server]\nport = 80"), from_environ("app", {"APP__SERVER__PORT": ""})])
     assert config.as_dict() == {"server": {}}
diff --git a/tests/test_order.py b/tests/test_order.py
new file mode 100644
index 0000000..9915f65
--- /dev/null
+++ b/tests/test_order.py
@@ -0,0 +1,65 @@
+"""Several statements about one key in one layer."""
+
+import pytest
+
+from strata import Config, ConfigError, explain, parse
+
+BELOW = "plugins = [\"a\", \"b\"]\n[db]\nhost = \"old\"\nport = 1"
+
+
+def over(text):
+    return Config([parse(BELOW, name="below"), parse(text, name="above")])
+
+
+def test_two_additions():
+    assert over('plugins += ["c"]\nplugins += ["d"]')["plugins"] == ["a", "b", "c", "d"]
+
+
+def test_an_addition_and_a_removal():
+    assert over('plugins -= ["a"]\nplugins += ["c"]')["plugins"] == ["b", "c"]
+    assert over('plugins += ["c"]\nplugins -= ["a"]')["plugins"] == ["b", "c"]
+
+
+def test_to_the_end_of_the_list():
+    assert over('plugins -= ["a"]\nplugins += ["a"]')["plugins"] == ["b", "a"]
+
+
+def test_a_removal_from_what_is_set_here():
+    assert over('plugins = ["x", "y"]\nplugins -= ["x"]')["plugins"] == ["y"]
+
+
+def test_a_list_that_begins_anew():
+    assert over('unset plugins\nplugins += ["x"]')["plugins"] == ["x"]
+
+
+def test_a_key_that_is_set_again_after_unset():
+    config = over('[db]\nhost = "first"\nunset host\nhost = "second"')
+    assert config["db"] == {"host": "second", "port": 1}
+
+
+def test_a_section_that_is_written_anew():
+    config = over('[db]\nhost = "first"\nport = 2\n[x]\ny = 1')
+    assert config["db.port"] == 2
+    config = over('db.host = "first"\nunset db\ndb.host = "second"')
+    assert config["db"] == {"host": "second"}
+    assert config.origin("db.host") == "above"
+
+
+def test_unset_comes_after_what_was_set():
+    config = over("unset db.port\ndb.port = 5\nunset db.port")
+    assert config["db"] == {"host": "old"}
+
+
+def test_a_key_is_still_set_once():
+    with pytest.raises(ConfigError, match="^above:3: plugins is set already"):
+        over('plugins = []\nplugins += ["x"]\nplugins = ["y"]')
+
+
+def test_no_list_is_taken_from_a_value():
+    with pytest.raises(ConfigError, match="^above:2: db.port is not a list"):
+        over("db.port = 5\ndb.port -= [5]")
+
+
+def test_all_statements_are_explained():
+    layer = parse('plugins += ["c"]\nunset plugins\nplugins += ["d"]', name="user")
+    assert explain([layer], "plugins") == ['user:1: plugins += ["c"]', "user:2: unset plugins", 'user:3: plugins += ["d"]']
EOF_PATCH
: '>>>>> Start Test Output'
python3 -m pytest -rA tests/test_config.py tests/test_environ.py tests/test_explain.py tests/test_order.py tests/test_parser.py tests/test_values.py
: '>>>>> End Test Output'
git checkout 6b1bc3a12a1c87befdb9e2c82e1c46229dbbb0d8 tests/test_environ.py

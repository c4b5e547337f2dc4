#!/bin/bash
set -uxo pipefail
exec 2>&1
git -C /testbed checkout a4cb47174fd6aead5dd79ac78908f776d184aae4 tests/
cd /testbed
git checkout a4cb47174fd6aead5dd79ac78908f776d184aae4 tests/test_parser.py tests/test_quantity.py
git apply -v - <<'EOF_TEST_PATCH'
diff --git a/tests/test_parser.py b/tests/test_parser.py
index 769b5c6..20de7e0 100644
--- a/tests/test_parser.py
+++ b/tests/test_parser.py
@@ -18,6 +18,21 @@ def test_one_division():
     assert parse("kg*m/s^2").dimension == FORCE
 
 
+def test_divisions_follow_each_other():
+    assert parse("J/kg/K") == parse("J/(kg*K)")
+    assert parse("m/s/s") == parse("m/s^2")
+    assert parse("m/s/s/s") == parse("m/s^3")
+
+
+def test_a_product_after_a_division():
+    assert parse("m/s*kg").dimension == LENGTH / TIME * MASS
+    assert parse("J/kg*K/s").dimension == ENERGY / MASS * TEMPERATURE / TIME
+
+
+def test_both_inside_parentheses():
+    assert parse("W/(m/s/s*kg)") == parse("W*s^2/(m*kg)")
+
+
 def test_negative_powers():
     assert parse("m*s^-1") == parse("m/s")
 
diff --git a/tests/test_quantity.py b/tests/test_quantity.py
index 2b49102..4e434dd 100644
--- a/tests/test_quantity.py
+++ b/tests/test_quantity.py
@@ -32,6 +32,15 @@ def test_a_product_with_a_ratio():
     assert Quantity(3, "kg") * Quantity(2, "m/s") == Quantity(6, "kg*m/s")
 
 
+def test_heat_through_a_wall():
+    transmittance = Quantity(2, "W/m^2/K")
+    assert transmittance * Quantity(10, "m^2") * Quantity(15, "K") == Quantity(300, "W")
+
+
+def test_a_ratio_times_a_quantity():
+    assert Quantity(50, "km/h") * Quantity(2, "h") == Quantity(100, "km")
+
+
 def test_order_and_hash():
     assert Quantity(90, "s") < Quantity(2, "min")
     assert len({Quantity(1, "km"), Quantity(1000, "m")}) == 1
EOF_TEST_PATCH
: '>>>>> Start Test Output'
python3 -m pytest -rA tests/test_main.py tests/test_parser.py tests/test_quantity.py tests/test_units.py
: '>>>>> End Test Output'
git checkout a4cb47174fd6aead5dd79ac78908f776d184aae4 tests/test_parser.py tests/test_quantity.py

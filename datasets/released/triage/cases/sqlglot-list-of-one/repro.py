"""A list of one value selects what that value selects."""

from sqlglot.executor import execute

CODES = ["NL-9", "NL", "L-9", "BE"]
tables = {"customer": [{"code": code, "paid": place} for place, code in enumerate(CODES)]}

found = execute("SELECT code FROM customer WHERE code IN ('NL-9')", tables=tables).rows
assert found == [("NL-9",)], found
found = execute("SELECT code FROM customer WHERE NOT code IN ('NL-9')", tables=tables).rows
assert [code for (code,) in found] == ["NL", "L-9", "BE"], found
found = execute("SELECT code FROM customer WHERE paid IN (3)", tables=tables).rows
assert found == [("BE",)], found

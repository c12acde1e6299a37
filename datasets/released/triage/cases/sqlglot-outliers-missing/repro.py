"""What does not lie between two values lies below or above them."""

from sqlglot.executor import execute

READINGS = [{"id": 1, "celsius": 10.0}, {"id": 2, "celsius": 20.0}, {"id": 3, "celsius": 5.0}]

found = execute("SELECT id FROM readings WHERE NOT celsius BETWEEN 6 AND 12", tables={"readings": READINGS})

assert sorted(found.rows) == [(2,), (3,)], found.rows

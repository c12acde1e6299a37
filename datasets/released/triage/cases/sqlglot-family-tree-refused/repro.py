"""A recursive query may use, within itself, the column names that stand behind its own name."""

from sqlglot.optimizer import optimize

QUERY = """
WITH RECURSIVE above(person) AS (
  SELECT boss FROM staff WHERE id = 17
  UNION ALL
  SELECT staff.boss FROM above JOIN staff ON staff.id = above.person
)
SELECT person FROM above
"""

qualified = optimize(QUERY, schema={"staff": {"id": "int", "boss": "int", "name": "varchar"}}).sql()

assert '"above"."person" = "staff"."id"' in qualified, qualified

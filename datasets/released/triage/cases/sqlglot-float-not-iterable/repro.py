"""The outer query may compare what the inner one has summed up."""

from sqlglot.executor import execute

ORDERS = [{"id": 1, "amount": 10.0}, {"id": 2, "amount": 20.0}]
QUERY = "SELECT top.amount FROM (SELECT MAX(amount) AS amount FROM orders) AS top WHERE top.amount > {}"

found = [execute(QUERY.format(limit), tables={"orders": ORDERS}).rows for limit in (15, 100)]

assert found == [[(20.0,)], []], found

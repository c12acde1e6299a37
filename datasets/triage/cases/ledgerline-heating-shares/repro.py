"""The shares of a bill add up to the bill, and a booking that does not add up is refused."""

from datetime import date
from decimal import Decimal

from ledgerline.entries import Posting, Transaction
from ledgerline.errors import UnbalancedError
from ledgerline.money import Money

bill = Money.of("219.44", "EUR")
parts = bill.split([Decimal(4), Decimal(3), Decimal(2)])
lost = bill.amount - sum(part.amount for part in parts)
assert lost == 0, f"{lost} of the bill went to nobody"

postings = (Posting("Expenses:Heating", Money.of("219.43", "EUR")), Posting("Assets:Bank:Giro", -bill))
try:
    Transaction(date(2026, 7, 6), "Heating Fund", "", postings)
except UnbalancedError:
    pass
else:
    raise AssertionError("a booking that leaves a cent was accepted")

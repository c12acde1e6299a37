"""Two objects with slots differ where their values differ, whether or not every slot has been given one."""

from deepdiff import DeepDiff


class Order:
    __slots__ = ("number", "total", "voucher")

    def __init__(self, number: int, total: int) -> None:
        self.number, self.total = number, total  # a voucher is set when there is one


found = DeepDiff(Order(1, 100), Order(1, 250))
assert found.get("values_changed", {}) == {"root.total": {"new_value": 250, "old_value": 100}}, found

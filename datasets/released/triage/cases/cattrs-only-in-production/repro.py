"""A dataclass with keyword-only fields is made by keywords, with or without detailed validation."""

from dataclasses import dataclass

from cattrs import Converter


@dataclass(kw_only=True)
class Order:
    number: int
    customer: str


for detailed in (True, False):
    order = Converter(detailed_validation=detailed).structure({"number": "12", "customer": "Ada"}, Order)
    assert order == Order(number=12, customer="Ada"), order

"""The name of a type may stand on the right of an arrow, as that of a function may."""

from elementpath.xpath31 import XPath31Parser

parser = XPath31Parser()
for expression, wanted in (
    ("'5' => string-length()", 1),
    ("'5' => xs:integer()", 5),
    ("'9.5 kg' => substring-before(' ') => xs:decimal() => floor()", 9),
):
    assert parser.parse(expression).evaluate() == wanted, expression

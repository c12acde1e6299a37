"""A run of characters that is too short is none."""

import pyparsing as pp

CARD = "Lane 12, printed 1911, 3 vols., 12000 BP"

years = [found[0] for found, _, _ in pp.Word(pp.nums, min=4).scan_string(CARD)]
assert years == ["1911", "12000"], years
codes = [found[0] for found, _, _ in pp.Word(pp.alphas, pp.alphanums, min=3).scan_string("a1 b2c q9xx")]
assert codes == ["b2c", "q9xx"], codes

"""However a line of narrow and wide characters is cut, each piece is as wide as it was asked to be."""

from itertools import product

from rich.cells import cell_len
from rich.segment import Segment

WIDE, NARROW = "湯", "a"
wrong = []
for one, two, three, four in product(range(6), repeat=4):
    text = WIDE * one + NARROW * two + WIDE * three + NARROW * four
    width = cell_len(text)
    for cut in range(1, width):
        left, right = (cell_len(piece.text) for piece in Segment(text).split_cells(cut))
        if (left, right) != (cut, width - cut):
            wrong.append((text, cut, left, right))

assert not wrong, f"{len(wrong)} of all cuts, first {wrong[0]}"

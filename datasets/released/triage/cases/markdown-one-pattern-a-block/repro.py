"""The number of patterns that are made does not grow with the number of blocks."""

import sys
from types import FrameType

import markdown


def patterns_made(blocks: int) -> int:
    text = "\n\n".join(f"<div>block {number}</div>\n\ntext {number}" for number in range(blocks))
    made = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal made
        place = frame.f_code.co_filename
        made += event == "call" and frame.f_code.co_name == "compile" and place.endswith("_compiler.py")

    sys.setprofile(count)
    try:
        markdown.markdown(text)
    finally:
        sys.setprofile(None)
    return made


patterns_made(10)  # those that any text needs
assert patterns_made(200) < 20

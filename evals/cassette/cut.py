"""A request's body cut where the bodies of one case begin to differ: between members, messages, tools and prompt lines.

The layout is that of `json_text`: one member or element a line. Cuts depend on the body alone, never on its neighbours.
"""

import re
from typing import Final

_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_TEXT: Final = re.compile(r'(\s*(?:"[^"\\]*": )?")([^"\\]*(?:\\.[^"\\]*)*)(",?\n)')
"""A line that holds a text: what comes before it, the text as JSON spells it, and what closes it."""
_PROMPT_LINE: Final = re.compile(r"(?:[^\\]+|\\(?:[^n]|\Z))+(?:\\n)*|(?:\\n)+")
_NEW_MEMBER: Final = (' "', "  {")  # of the body itself, or an element of its messages or tools


def cut(body: str) -> list[str]:
    """The body's smallest pieces, in their order; joined they are the body."""
    pieces: list[str] = []
    structure = ""
    for line in _LINE.findall(body):
        text = _TEXT.fullmatch(line) if "\\n" in line else None
        if text:
            pieces += [structure + text[1], *_PROMPT_LINE.findall(text[2])]
            structure = text[3]
        elif structure and line.startswith(_NEW_MEMBER):
            pieces.append(structure)
            structure = line
        else:
            structure += line
    return [*pieces, structure] if structure else pieces


def prompt_lines(text: str) -> list[str]:
    r"""The text in lines as people wrote them: cut after each break, spelled `\n` by JSON or real."""
    return [line for part in _LINE.findall(text) for line in _PROMPT_LINE.findall(part)]

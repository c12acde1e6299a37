"""Decoders: the other ways a text can be read once its encoding is undone."""

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final
from urllib.parse import unquote

from evals.shared.secrets.named_secrets import is_named, may_name_a_secret

DEPTH: Final = 3
MOST: Final = 12

_ESCAPE: Final = re.compile(
    r"\\{1,64}(?:u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,5})\}|x([0-9a-fA-F]{2})|([01][0-7]{2})|([/nrt\"']))"
)
_LETTERS: Final = {"n": "\n", "r": "\n", "t": "\n"}
_ENTITY: Final = re.compile(r"&(?:#\d{2,6}|#[xX][0-9a-fA-F]{2,5}|[A-Za-z]{2,8});")
_QUOTED_PRINTABLE: Final = re.compile(r"=([2-7][0-9A-F])")
_IS_QUOTED_PRINTABLE: Final = re.compile(r"=3D|(?:=[2-7][0-9A-F]){3}")
_SOFT_BREAK: Final = re.compile(r"=\r?\n")
_UNSEEN: Final = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_MARKS: Final = dict.fromkeys(map(ord, "「」『』“”„«»"), '"')
_BYTE: Final = r"(?:0x|\\x)?[2-7][0-9a-fA-F]"
_HEX: Final = re.compile(rf"(?<![0-9A-Za-z]){_BYTE}(?:[ ,:-]{{0,2}}{_BYTE}){{11,}}(?![0-9A-Za-z])")
_NO_DIGIT_OF_HEX: Final = re.compile(r"0x|[^0-9a-fA-F]")
_DUMP: Final = re.compile(
    r"(?m)(?:^|[\s\"'`])[0-9a-fA-F]{4,8}:? +((?:[0-9a-fA-F]{2,4} {1,2}){2,15}[0-9a-fA-F]{2,4})(?![0-9a-fA-F])"
)
# Four letters of base64 that stand for three printable characters or line breaks: what each of the four may be.
_PRINTABLE: Final = r"[CDI-Za-f][AC-HQS-Xgi-nwyz0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]"
_BLANKS: Final = {ord(blank): None for blank in "\n\r\t"}
_BASE64: Final = re.compile(rf"(?<![A-Za-z0-9+/_-])(?:{_PRINTABLE}){{3}}[A-Za-z0-9+/_-]{{4,}}={{0,2}}")
_WRAPPED: Final = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{60,76}(?:\r?\n[ \t]*[A-Za-z0-9+/]{4,76}={0,2})+")
_BLOCK: Final = re.compile(r":\s*[|>][+-]?\d?$")
_MEMBER: Final = re.compile(r"(?i)[\s\"'{+-]*(?:\w*value|default|content|data|string)\b")
_MARGIN: Final = " \t+>"  # of a diff and of a quotation
_ROWS: Final = 12
"""Lines of a table that are looked at below its head."""
_FRAMED: Final = re.compile(r"^(?!\s*\\*\"[,}\]]).*\w")
_CELL: Final = 40
"""Characters that the name of a column has at most."""


def meanings(text: str) -> Iterator[str]:
    """The text in each other way it can be read; none for nearly every text."""
    yield from _decoded(text, (*_IN_A_LINE, *_ACROSS_LINES))


def line_meanings(line: str) -> Iterator[str]:
    """The lines of all readings of a single line; escapes may hide several."""
    for meant in _decoded(line, _IN_A_LINE):
        yield from meant.split("\n")
        if "\n" in meant:
            yield from joined_lines(meant)


def joined_lines(text: str) -> Iterator[str]:
    """What can only be read across line breaks, one line each."""
    for read in _ACROSS_LINES:
        if (found := read(text)) != text:
            yield from found.split("\n")


def _decoded(text: str, decoders: Iterable[Callable[[str], str]]) -> Iterator[str]:
    seen = {text}
    layer = [text]
    for _ in range(DEPTH):
        following: list[str] = []
        for read in decoders:
            for known in layer:
                if (found := read(known)) not in seen:
                    seen.add(found)
                    following.append(found)
                    yield found
                    if len(seen) > MOST:
                        return
        if not (layer := following):
            return


def _unescaped(text: str) -> str:
    r"""`\u0067`, `\x67`, `\147`, `\/` and `\n`, also where a JSON text is quoted in prose or in JSON again."""
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(match: re.Match[str]) -> str:
    unicode, braced, byte, octal, letter = match.groups()
    if letter is not None:
        return _LETTERS.get(letter, letter)
    return chr(int(octal, 8) if octal else int(unicode or braced or byte, 16))


def _without_entities(text: str) -> str:
    """`&#103;`, `&#x67;` and `&quot;`."""
    return _ENTITY.sub(lambda match: html.unescape(match.group()), text) if "&" in text else text


def _unquoted(text: str) -> str:
    """`%40` is an @."""
    return unquote(text) if "%" in text else text


def _from_quoted_printable(text: str) -> str:
    """`=3D` is an equals sign; in `id=47…` alone nothing is encoded."""
    return _QUOTED_PRINTABLE.sub(_printable_byte, text) if _is_quoted_printable(text) else text


def _is_quoted_printable(text: str) -> bool:
    return "=" in text and ("=3D" in text or text.count("=") > 2) and bool(_IS_QUOTED_PRINTABLE.search(text))


def _printable_byte(match: re.Match[str]) -> str:
    character = chr(int(match.group(1), 16))
    return character if character.isprintable() else match.group()


def _plain(text: str) -> str:
    """Full width letters are letters, quotes of any script are quotes, and what nobody sees is not there."""
    return text if text.isascii() else unicodedata.normalize("NFKC", _UNSEEN.sub("", text)).translate(_MARKS)


def _from_hex(text: str) -> str:
    """Bytes written as digits, in a row or apart, where they are all printable; a digest's are not."""
    return _HEX.sub(_text_of_bytes, text)


def _text_of_bytes(match: re.Match[str]) -> str:
    digits = _NO_DIGIT_OF_HEX.sub("", match.group())
    found = bytes.fromhex(digits).decode("ascii") if len(digits) % 2 == 0 else match.group()
    return found if found.isprintable() else match.group()


def _from_base64(text: str) -> str:
    """Base64 of either alphabet, where it is that of printable text; a name or a path is not."""
    return _BASE64.sub(_printed, text)


def _printed(match: re.Match[str]) -> str:
    return text_of_base64(match.group()) or match.group()


def text_of_base64(word: str) -> str:
    """The text that a word is the base64 of; empty where it is of no text."""
    word = word.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        found = base64.b64decode(word + "=" * (-len(word) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return found if found.translate(_BLANKS).isprintable() else ""


def _beside_their_names(text: str) -> str:
    """Each line that may name a secret, with what the next lines give that name: a value, a member, a cell."""
    if "\n" not in text:
        return text
    lines = [line for line in text.split("\n") if line and not line.isspace() and "```" not in line]
    found = [each for at, name in enumerate(lines) if may_name_a_secret(name) for each in _given_below(name, lines, at)]
    return "\n".join(found) or text


def _given_below(name: str, lines: Sequence[str], at: int) -> Iterator[str]:
    head = _BLOCK.sub(": ", name.rstrip())
    yield from (f"{head} {value.lstrip(_MARGIN).rstrip()}" for value in lines[at + 1 : at + 2])
    yield from (f"{head} {value.strip()}" for value in lines[at + 2 : at + 5] if _MEMBER.match(value))
    following = lines[at + 1 : at + _ROWS]
    for sign in (sign for sign in "|,\t;" if following and sign in name and sign in following[0]):
        columns = _cells(name, sign)
        cells = ((place - len(columns), cell.strip()) for place, cell in enumerate(columns) if len(cell) < _CELL)
        telling = [place for place, cell in cells if may_name_a_secret(cell) and is_named(cell)]
        rows = (_cells(row, sign) for row in following if telling)
        yield from (
            f"{columns[place]}: {row[place]}"
            for row in rows
            if len(row) >= len(columns) - 1
            for place in telling
            if -place <= len(row)
        )


def _cells(line: str, sign: str) -> list[str]:
    """The cells of a row, without what frames a table: a bar at either end, and the end of a JSON text."""
    cells = line.split(sign)
    while cells and not _FRAMED.search(cells[-1]):
        cells.pop()
    return cells[1:] if cells and not cells[0].strip() else cells


def _without_soft_breaks(text: str) -> str:
    """Quoted-printable breaks long lines behind an equals sign."""
    return _SOFT_BREAK.sub("", text) if "=\n" in text or "=\r\n" in text else text


def _unwrapped(text: str) -> str:
    """Base64 that is folded at 60 to 76 characters."""
    return _WRAPPED.sub(lambda match: "".join(match.group().split()), text) if "\n" in text else text


def _from_dump(text: str) -> str:
    """The bytes of a dump with offsets, as hexdump and xxd print them, if they are a text."""
    if "0000" not in text:  # where every dump begins
        return text
    rows = ("".join(row.split()) for row in _DUMP.findall(text))
    found = bytes.fromhex("".join(row for row in rows if len(row) % 2 == 0))
    readable = sum(31 < byte < 127 for byte in found)
    return (
        "".join(chr(byte) if 31 < byte < 127 else "\n" for byte in found) if readable > 0.8 * len(found) > 0 else text
    )


_IN_A_LINE: Final = (
    _unescaped, _without_entities, _unquoted, _from_quoted_printable, _plain, _from_hex, _from_base64
)  # fmt: skip
_ACROSS_LINES: Final = (_beside_their_names, _without_soft_breaks, _unwrapped, _from_dump)

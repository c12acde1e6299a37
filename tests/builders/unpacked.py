"""A report as a browser has it once everything in it is opened: the page, and the parts its script unpacks."""

import json
import re
import zlib
from base64 import b85decode
from typing import Any

from evals.report.html_page import HOLE, OLD, TEXT


def unpacked(page: str) -> str:
    """The page, with each part behind it in a template of its name; without its texts."""
    content = content_of(page)
    return page + "".join(f'<template id="{name}">{markup}</template>' for name, markup, _ in parts_of(content))


def content_of(page: str) -> dict[str, Any]:
    """The JSON the page carries."""
    found = re.search(r'<script type="text/plain" id="packed">([^<]*)</script>', page)
    assert found
    letters = found[1].encode().translate(bytes.maketrans(b",.:", b"<>&"))
    content: dict[str, Any] = json.loads(zlib.decompress(b85decode(letters)))
    return content


def parts_of(content: dict[str, Any]) -> list[tuple[str, str, list[str]]]:
    """Name, markup and texts of each part."""
    parts = zip(*content["columns"], strict=True)
    return [(name, *_read(part, content["pieces"])) for name, part in zip(content["names"], parts, strict=True)]


def _read(part: tuple[Any, ...], table: list[str]) -> tuple[str, list[str]]:
    known, paragraphs, texts, numbers, codes = part

    def piece(code: int) -> str:
        return table[code - OLD if code >= OLD else known - code - 1]

    named = iter(numbers)
    stack: list[str] = []
    for code in codes:
        if code == TEXT:
            stack.append(str(next(named)))
        else:
            first, *others = piece(code).split(HOLE)
            start = len(stack) - len(others)
            filled = [fill + other for fill, other in zip(stack[start:], others, strict=True)]
            stack[start:] = ["".join((first, *filled))]
    told = ["\n".join(map(piece, lines)) for lines in paragraphs]
    return "".join(stack), ["\n\n".join(told[number] for number in text) for text in texts]

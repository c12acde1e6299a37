"""Reading an issue: Markdown with the title on its first line, or the JSON of `gh issue view --json title,body,url`."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

from triage.errors import InputError

STDIN: Final = "-"


@dataclass(frozen=True)
class Issue:
    """What the reporter wrote."""

    title: str
    body: str
    url: str = ""


def read_issue(source: str, stdin: TextIO) -> Issue:
    """The issue in the file `source`, or on `stdin` if that is "-".

    Raises:
        InputError: nothing there, not text, empty, or JSON without a title.
    """
    text = (stdin.read() if source == STDIN else _text_of(Path(source))).strip()
    name = "standard input" if source == STDIN else source
    if not text:
        raise InputError(f"{name}: the issue is empty; write its title on the first line, then the body")
    return _from_json(text, name) if text.startswith("{") else _from_markdown(text)


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{path}: no such issue file; give a path, or - for standard input") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = "not UTF-8 text" if isinstance(error, UnicodeDecodeError) else error.strerror
        raise InputError(f"{path}: the issue cannot be read ({reason})") from error


def _from_json(text: str, name: str) -> Issue:
    try:
        raw = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{name}:{error.lineno}: not valid JSON ({error.msg}); use `gh issue view N --json title,body,url`"
        ) from error
    title = raw.get("title")
    if not isinstance(title, str) or not title.strip():
        raise InputError(f"{name}: the JSON has no title; use `gh issue view N --json title,body,url`")
    return Issue(title.strip(), str(raw.get("body") or "").strip(), str(raw.get("url") or ""))


def _from_markdown(text: str) -> Issue:
    first, _, rest = text.partition("\n")
    return Issue(first.lstrip("#").strip(), rest.strip())

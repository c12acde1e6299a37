"""A request nobody recorded, and word by word how it differs from the nearest one that was."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from evals.models.nearest import Difference
from evals.models.trace import Miss
from evals.report.numbers import percent
from evals.report.view.texts import Texts

PLACES_SHOWN: Final = 6
_TOKEN: Final = re.compile(r"\s+|\S+")


@dataclass(frozen=True)
class MissView:
    """`differs` is the number of a text, which equal misses share; empty where there is nothing to compare with."""

    asked: str
    nearest: str
    differs: str


def miss_view(miss: Miss, texts: Texts) -> MissView:
    """One miss in ready strings."""
    asked = (
        f"{miss.agent} asked {miss.model} ({miss.method} {miss.path}) after decision {miss.decision}: {miss.key[:12]}"
    )
    near = miss.nearest
    if near is None:
        return MissView(asked, f"no request of {miss.agent} is recorded for this case, so there is none to compare", "")
    shown = [_place(found) for found in near.differences[:PLACES_SHOWN]]
    if len(near.differences) > PLACES_SHOWN:
        shown.append(f"and {len(near.differences) - PLACES_SHOWN} more places")
    nearest = (
        f"how it differs from {near.key[:12]}, the nearest recorded request ({percent(near.alike)} of words shared)"
    )
    return MissView(asked, nearest, texts.add("\n\n".join(shown)) if shown else "")


def _place(found: Difference) -> str:
    where = found.path + (f", line {found.line}" if found.line else "")
    note = f" ({', '.join(found.volatile)}: changes by itself)" if found.volatile else ""
    return f"{where}{note}\n{word_diff(found.recorded, found.asked)}"


def word_diff(recorded: str, asked: str) -> str:
    """The text with what went as [-words-] and what came as {+words+}; all at once where little is shared."""
    old, new = _TOKEN.findall(recorded), _TOKEN.findall(asked)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < 0.5:
        return _went(recorded) + ("\n" if recorded and asked else "") + _came(asked)
    return "".join(
        "".join(old[a:b]) if tag == "equal" else _went("".join(old[a:b])) + _came("".join(new[c:d]))
        for tag, a, b, c, d in matcher.get_opcodes()
    )


def _went(text: str) -> str:
    return f"[-{text}-]" if text else ""


def _came(text: str) -> str:
    return f"{{+{text}+}}" if text else ""

"""What one prompt changed in another: line by line, and inside changed lines word by word."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import groupby, zip_longest
from typing import Final, Literal, NamedTuple

from evals.models.run import Run, VariantInfo
from evals.report.view.systems import systems

CONTEXT: Final = 3
_TOKEN: Final = re.compile(r"\s+|\w+|[^\w\s]")

Kind = Literal["same", "ins", "del", "skip"]


class Segment(NamedTuple):
    """A piece of a line; `changed` pieces are marked."""

    text: str
    changed: bool


class Line(NamedTuple):
    """One line of the diff with its numbers before and after; a `skip` line stands for unchanged ones left out.
    `anchor` is the name by which a changed line of a prompt can be linked to."""

    kind: Kind
    before: str
    after: str
    segments: tuple[Segment, ...]
    anchor: str = ""

    @property
    def text(self) -> str:
        """The whole line."""
        return "".join(segment.text for segment in self.segments)


@dataclass(frozen=True)
class Stretch:
    """Changed lines that stand together, those that came before those that went, and what happened there."""

    what: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class PromptDiff:
    """A variant's prompt against another's, or (`left` and `right` the same) against its own earlier text. Without
    lines: the texts are the same."""

    left: str
    right: str
    title: str
    note: str
    lines: tuple[Line, ...]
    stretches: tuple[Stretch, ...]
    open: bool


def prompt_diffs(run: Run) -> tuple[PromptDiff, ...]:
    """First what was edited since it was blessed or committed; then inside each system every variant's prompt against
    the leader's (the reference's, where it is one of them), the candidate's first and open. Variants without a prompt
    are left out."""
    edited = [(info, info.earlier) for info in run.variants if info.earlier]
    pairs = [
        (system.leader, info)
        for system in systems(run)
        for info in system.variants
        if info != system.leader and info.prompt_text and system.leader.prompt_text
    ]
    pairs.sort(key=lambda pair: pair[1].variant.name != run.candidate)
    since = [
        _diff(f"diff-{n}", info, info, f"{_name(info)} since it was {was.since}", was.text.splitlines(), opened=True)
        for n, (info, was) in enumerate(edited)
    ]
    between = [
        _diff(
            f"diff-{n}",
            new,
            old,
            f"{_name(old)} to {_name(new)}",
            _whole(old),
            opened=new.variant.name == run.candidate,
        )
        for n, (old, new) in enumerate(pairs, start=len(since))
    ]
    return (*since, *between)


def _diff(
    anchor: str, left: VariantInfo, right: VariantInfo, title: str, old: Sequence[str], *, opened: bool
) -> PromptDiff:
    own = left.prompt_text.splitlines() if left == right else _whole(left)
    lines = tuple(_anchored(diff_lines(old, own), anchor))
    changed = {kind: sum(line.kind == kind for line in lines) for kind in ("ins", "del")}
    note = f"{changed['ins']} lines added, {changed['del']} removed" if lines else "the same text, word for word"
    return PromptDiff(left.variant.name, right.variant.name, title, note, lines, tuple(_stretches(lines)), opened)


def _anchored(lines: Iterator[Line], anchor: str) -> Iterator[Line]:
    """The lines, each changed one with a name of its own."""
    for number, line in enumerate(lines, start=1):
        yield line if line.kind in ("same", "skip") else line._replace(anchor=f"{anchor}-{number}")


def _stretches(lines: Sequence[Line]) -> Iterator[Stretch]:
    for changed, group in groupby(lines, key=lambda line: line.kind in ("ins", "del")):
        if changed:
            stretch = sorted(group, key=lambda line: line.kind == "del")
            kinds = {line.kind for line in stretch}
            yield Stretch("changed" if len(kinds) == 2 else "added" if "ins" in kinds else "removed", tuple(stretch))


def _whole(info: VariantInfo) -> list[str]:
    """The prompt and the plan behind it, line by line."""
    plan = ["", f"# plan {info.variant.plan}", *info.plan_text.splitlines()] if info.plan_text else []
    return [*info.prompt_text.splitlines(), *plan]


def _name(info: VariantInfo) -> str:
    """The variant, and its prompt's version where that is called otherwise."""
    name, version = info.variant.name, info.prompt_version
    return name if name == version else f"{name} (prompt {version})"


def diff_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[Line]:
    """The changed lines with `CONTEXT` unchanged ones around them; nothing if there is no change."""
    if old == new:  # as what two variants were shown mostly is, up to where their ways part
        return
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    end = 0
    for group in matcher.get_grouped_opcodes(CONTEXT):
        yield from _skipped(group[0][1] - end)
        for tag, a, b, c, d in group:
            if tag == "equal":
                yield from (_line("same", a + i, c + i, old[a + i]) for i in range(b - a))
            else:
                yield from _changed(old[a:b], new[c:d], a, c)
        end = group[-1][2]
    if end:
        yield from _skipped(len(old) - end)


def _skipped(count: int) -> Iterator[Line]:
    if count > 0:
        yield Line("skip", "", "", (Segment(f"{count} unchanged line{'s' * (count > 1)}", changed=False),))


def _line(kind: Kind, before: int | None, after: int | None, text: str) -> Line:
    return Line(kind, _number(before), _number(after), (Segment(text, changed=False),))


def _number(index: int | None) -> str:
    return "" if index is None else str(index + 1)


def _changed(old: Sequence[str], new: Sequence[str], before: int, after: int) -> Iterator[Line]:
    """First all lines that went, then all that came; where two are paired, only what differs in them is marked."""
    pairs = [_intraline(was, now) for was, now in zip_longest(old, new)]
    for i in range(len(old)):
        yield Line("del", _number(before + i), "", pairs[i][0])
    for i in range(len(new)):
        yield Line("ins", "", _number(after + i), pairs[i][1])


@lru_cache(maxsize=1024)  # versions of a prompt are compared twice, and cases of one pair mostly differ alike
def _intraline(was: str | None, now: str | None) -> tuple[tuple[Segment, ...], tuple[Segment, ...]]:
    """Both lines in pieces. Where they share little nothing is marked: scattered words would explain nothing."""
    left, right = _TOKEN.findall(was or ""), _TOKEN.findall(now or "")
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    if matcher.ratio() < 0.5:
        return (Segment(was or "", changed=False),), (Segment(now or "", changed=False),)
    codes = matcher.get_opcodes()
    return (
        tuple(Segment("".join(left[a:b]), tag != "equal") for tag, a, b, _, _ in codes if b > a),
        tuple(Segment("".join(right[c:d]), tag != "equal") for tag, _, _, c, d in codes if d > c),
    )

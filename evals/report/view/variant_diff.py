"""Differences between two variants: settings and prompt diff."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import groupby, zip_longest
from typing import Final, Literal, NamedTuple

from evals.application_pack import Pack, load_pack
from evals.models.run import Divergence, EditedPrompt, Run, VariantInfo
from evals.models.suite import Variant
from evals.report.view.page_parts import Pool


@dataclass(frozen=True)
class System:
    """Variants of one system, such as the modes of a plan. `leader` is the one the others are compared with."""

    name: str
    variants: tuple[VariantInfo, ...]
    leader: VariantInfo


@dataclass(frozen=True)
class PromptText:
    """A prompt or a plan file as it is, and who reads it."""

    title: str
    note: str
    text: str


def systems(run: Run, pack: Pack | None = None) -> tuple[System, ...]:
    """The systems of a run, in the order of their first variants; one if the pack tells none apart."""
    found: dict[str, list[VariantInfo]] = {}
    setting, usual = next(iter((pack or load_pack()).usual_settings.items()), ("", ""))
    for info in run.variants:
        name = info.variant.settings.get(setting, usual).split("-")[0]
        found.setdefault(f"{setting} {name}", []).append(info)
    return tuple(System(name, tuple(infos), _leader(run, infos)) for name, infos in found.items())


def _leader(run: Run, infos: Sequence[VariantInfo]) -> VariantInfo:
    """The reference if it is one of them, else the candidate, else the first."""
    named = {info.variant.name: info for info in infos}
    return named.get(run.reference) or named.get(run.candidate) or infos[0]


def difference(run: Run, pack: Pack | None = None) -> str:
    """Who is a system of its own, in a sentence; empty where all variants are versions of one."""
    told = systems(run, pack)
    if len(told) == 1:
        return ""
    named = "; ".join(f"{_names(system.variants)} ({_reads(system)})" for system in told)
    return (
        f"{len(told)} different systems, not versions of one prompt: {named}. "
        "Their prompts are shown as they are; lines are compared only inside a system."
    )


def prompt_texts(run: Run, pack: Pack | None = None) -> tuple[PromptText, ...]:
    """Every prompt and every plan file once, where there is more than one system."""
    if len(systems(run, pack)) == 1:
        return ()
    prompts = [(f"Prompt {info.prompt_version}", info.prompt_text, info) for info in run.variants]
    plans = [(f"Plan {info.variant.settings.get('plan')}", info.plan_text, info) for info in run.variants]
    readers: dict[tuple[str, str], list[VariantInfo]] = {}
    for title, text, info in (*prompts, *plans):
        if text:
            readers.setdefault((title, text), []).append(info)
    return tuple(PromptText(title, f"read by {_names(infos)}", text) for (title, text), infos in readers.items())


def _reads(system: System) -> str:
    reads = any(info.prompt_text for info in system.variants)
    return system.name if reads else f"{system.name}, which reads no prompt"


def _names(infos: Sequence[VariantInfo]) -> str:
    return ", ".join(info.variant.name for info in infos)


CONTEXT: Final = 3
_TOKEN: Final = re.compile(r"\s+|\w+|[^\w\s]")

Kind = Literal["same", "ins", "del", "skip"]


class Segment(NamedTuple):
    """A piece of a line; `changed` pieces are marked."""

    text: str
    changed: bool


class DiffLine(NamedTuple):
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
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True)
class PromptDiff:
    """A variant's prompt against another's, or (`left` and `right` the same) against its own earlier text. Without
    lines: the texts are the same."""

    left: str
    right: str
    title: str
    note: str
    lines: tuple[DiffLine, ...]
    stretches: tuple[Stretch, ...]
    open: bool
    anchor: str


def prompt_diffs(run: Run, pack: Pack | None = None) -> tuple[PromptDiff, ...]:
    """First what was edited since it was blessed or committed; then inside each system every variant's prompt against
    the leader's (the reference's, where it is one of them), the candidate's first and open. Variants without a prompt
    are left out."""
    edited = [(info, info.earlier) for info in run.variants if info.earlier]
    pairs = [
        (system.leader, info)
        for system in systems(run, pack)
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
    workers = [_of_all(f"diff-{n}", each) for n, each in enumerate(run.edited_prompts, start=len(edited) + len(pairs))]
    return (*since, *workers, *between)


def _of_all(anchor: str, each: EditedPrompt) -> PromptDiff:
    """The diff of a prompt that all variants share."""
    title = f"{each.path} since it was {each.earlier.since}"
    shown = VariantInfo(variant=Variant(name=""), prompt_text=each.text)
    return _diff(anchor, shown, shown, title, each.earlier.text.splitlines(), opened=True)


def _diff(
    anchor: str, left: VariantInfo, right: VariantInfo, title: str, old: Sequence[str], *, opened: bool
) -> PromptDiff:
    own = left.prompt_text.splitlines() if left == right else _whole(left)
    lines = tuple(_anchored(diff_lines(old, own), anchor))
    changed = {kind: sum(line.kind == kind for line in lines) for kind in ("ins", "del")}
    note = f"{changed['ins']} lines added, {changed['del']} removed" if lines else "the same text, word for word"
    return PromptDiff(
        left.variant.name, right.variant.name, title, note, lines, tuple(_stretches(lines)), opened, anchor
    )


def _anchored(lines: Iterator[DiffLine], anchor: str) -> Iterator[DiffLine]:
    """The lines, each changed one with a name of its own."""
    for number, line in enumerate(lines, start=1):
        yield line if line.kind in ("same", "skip") else line._replace(anchor=f"{anchor}-{number}")


def _stretches(lines: Sequence[DiffLine]) -> Iterator[Stretch]:
    for changed, group in groupby(lines, key=lambda line: line.kind in ("ins", "del")):
        if changed:
            stretch = sorted(group, key=lambda line: line.kind == "del")
            kinds = {line.kind for line in stretch}
            yield Stretch("changed" if len(kinds) == 2 else "added" if "ins" in kinds else "removed", tuple(stretch))


def _whole(info: VariantInfo) -> list[str]:
    """The prompt and the plan behind it, line by line."""
    plan = ["", f"# plan {info.variant.settings['plan']}", *info.plan_text.splitlines()] if info.plan_text else []
    return [*info.prompt_text.splitlines(), *plan]


def _name(info: VariantInfo) -> str:
    """The variant, and its prompt's version where that is called otherwise."""
    name, version = info.variant.name, info.prompt_version
    return name if name == version else f"{name} (prompt {version})"


def diff_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[DiffLine]:
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


def _skipped(count: int) -> Iterator[DiffLine]:
    if count > 0:
        yield DiffLine("skip", "", "", (Segment(f"{count} unchanged line{'s' * (count > 1)}", changed=False),))


def _line(kind: Kind, before: int | None, after: int | None, text: str) -> DiffLine:
    return DiffLine(kind, _number(before), _number(after), (Segment(text, changed=False),))


def _number(index: int | None) -> str:
    return "" if index is None else str(index + 1)


def _changed(old: Sequence[str], new: Sequence[str], before: int, after: int) -> Iterator[DiffLine]:
    """First all lines that went, then all that came; where two are paired, only what differs in them is marked."""
    pairs = [_intraline(was, now) for was, now in zip_longest(old, new)]
    for i in range(len(old)):
        yield DiffLine("del", _number(before + i), "", pairs[i][0])
    for i in range(len(new)):
        yield DiffLine("ins", "", _number(after + i), pairs[i][1])


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


MOST: Final = 6
"""Places listed; more are counted."""


@dataclass(frozen=True)
class Place:
    """A link to a line of a prompt diff, the first of its stretch that names one of the nodes or says anything; and the
    nodes that the stretch names."""

    anchor: str
    where: str
    text: str
    names: str


@dataclass(frozen=True)
class ChangeCause:
    """`settings` in words; `places` of the prompts, in the order to look at them; `more` counts the rest."""

    settings: tuple[str, ...]
    places: tuple[Place, ...]
    more: str


class Causes(Pool[ChangeCause]):
    """A pool of causes: every divergence of one pair between the same nodes has the same one."""

    def __init__(self, run: Run, diffs: Sequence[PromptDiff]) -> None:
        super().__init__()
        self._infos = {info.variant.name: info for info in run.variants}
        self._diffs = diffs
        self._known: dict[tuple[str, str, str | None, str | None], str] = {}

    def cause_of(self, item: Divergence) -> str:
        """The number of what may have caused this divergence."""
        asked = item.left, item.right, item.was, item.now
        if asked not in self._known:
            self._known[asked] = self._found(item)
        return self._known[asked]

    def _found(self, item: Divergence) -> str:
        left, right = self._infos[item.left], self._infos.get(item.right)
        nodes = [node for node in (item.was, item.now) if node and node != "end"]
        places = [
            _place(diff, stretch, nodes)
            for diff in self._diffs
            if _concerns(diff, item.left, item.right)
            for stretch in diff.stretches
        ]
        places.sort(key=lambda place: not place.names)  # stable: committed changes stay first among equals
        more = f"and {len(places) - MOST} more" if len(places) > MOST else ""
        settings = _settings(left, right) if right is not None else _since_blessed(places)
        cause = ChangeCause(tuple(settings), tuple(places[:MOST]), more)
        return self.add(cause)


def _concerns(diff: PromptDiff, left: str, right: str) -> bool:
    """The diff of the two variants, or of one of them since it was committed, or of what all share."""
    return (
        not diff.left
        or {diff.left, diff.right} == {left, right}
        or (diff.left == diff.right and diff.left in (left, right))
    )


def _place(diff: PromptDiff, stretch: Stretch, nodes: Sequence[str]) -> Place:
    named = [node for node in nodes if any(node in line.text for line in stretch.lines)]
    telling = [line for line in stretch.lines if any(node in line.text for node in named)]
    line = next((line for line in (*telling, *stretch.lines) if line.text.strip()), stretch.lines[0])
    what = "removed" if line.kind == "del" else stretch.what
    where = f"{diff.title}, line {line.after or line.before} {what}"
    return Place(line.anchor, where, line.text.strip(), ", ".join(named))


def _settings(left: VariantInfo, right: VariantInfo) -> Iterable[str]:
    """Every setting but name and prompt that is not the same in both."""
    ours, theirs = (info.variant.model_dump(mode="json", exclude={"name", "prompt"}) for info in (left, right))
    for name in dict.fromkeys((*ours, *theirs)):
        if ours.get(name) != theirs.get(name):
            was, now = (
                f"{_said(each.get(name))} under {info.variant.name}" for each, info in ((theirs, right), (ours, left))
            )
            yield f"{name.replace('_', ' ')}: {was}, {now}"
    if left.prompt_digest == right.prompt_digest and left.prompt_text:
        yield "the prompt is the same, word for word"


def _since_blessed(places: Sequence[Place]) -> Iterable[str]:
    """A baseline keeps no settings: what is known is what was edited since it was committed."""
    if not places:
        yield "the baseline keeps neither settings nor prompts, and no prompt was edited since it was committed"


def _said(value: object) -> str:
    """A setting in words; nested ones as `name value` pairs."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    return "none" if value is None else str(value)

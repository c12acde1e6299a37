"""What differs between two variants on every case alike: settings, and the changed places of their prompts.

Which change made a supervisor decide otherwise nobody can read off; the places that name one of the two nodes it chose
between are put first, and said to.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from evals.models.run import Divergence, Run, VariantInfo
from evals.report.view.prompt_diff import PromptDiff, Stretch

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
class Cause:
    """`settings` in words; `places` of the prompts, in the order to look at them; `more` counts the rest."""

    settings: tuple[str, ...]
    places: tuple[Place, ...]
    more: str


class Causes:
    """A pool of causes: every divergence of one pair between the same nodes has the same one."""

    def __init__(self, run: Run, diffs: Sequence[PromptDiff]) -> None:
        self._infos = {info.variant.name: info for info in run.variants}
        self._diffs = diffs
        self._numbers: dict[Cause, str] = {}
        self._known: dict[tuple[str, str, str | None, str | None], str] = {}

    def add(self, item: Divergence) -> str:
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
        cause = Cause(tuple(settings), tuple(places[:MOST]), more)
        return self._numbers.setdefault(cause, str(len(self._numbers)))

    def all(self) -> tuple[Cause, ...]:
        """The causes in order of their numbers."""
        return tuple(self._numbers)


def _concerns(diff: PromptDiff, left: str, right: str) -> bool:
    """The diff of the two variants, or of one of them since it was committed."""
    return {diff.left, diff.right} == {left, right} or (diff.left == diff.right and diff.left in (left, right))


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
    for name, value in ours.items():
        if value != theirs[name]:
            was, now = (
                f"{_said(each)} under {info.variant.name}" for each, info in ((theirs[name], right), (value, left))
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

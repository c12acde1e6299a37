"""Causes of a miss: which edit of which file made a request new."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, takewhile, zip_longest
from typing import Any, Final, Literal

from evals.application_pack import PromptFile
from evals.cassettes.calls_and_misses import MAX_CHARS
from evals.cassettes.cassette_data import Interaction
from evals.models.base import Closed
from evals.models.trace import Decision, Difference, Miss, Trace, Visit
from evals.shared.display_text import some

_PLACEHOLDER: Final = re.compile(r"(?<!\{)\{[a-z_]+\}(?!\})")
_LITERAL: Final = 4  # characters a line with a placeholder needs besides it to be told from any other line


def places_of(difference: Difference, lines: Sequence[str], recorded: Collection[str] = ()) -> tuple[int, ...]:
    """The numbers, from 1, of the lines that what was asked is written in; empty if it is not from this file.

    Lines of the file that some of the `recorded` lines are written in too are left out: they are no news. Lines that
    were taken out have no place of their own: theirs is the line that now follows.
    """
    asked = [line[:MAX_CHARS] for line in difference.asked.splitlines() if line.strip()]
    if not asked:
        return (
            _gap(difference, lines) if not recorded or (difference.after.strip() and difference.before.strip()) else ()
        )
    found: list[int] = []
    for line in asked:
        numbers = [
            number
            for number, written in enumerate(lines, 1)
            if is_written(line, written) and not any(is_written(other, written) for other in recorded)
        ]
        if numbers:
            beyond = found[-1] if found else 0
            found.append(next((number for number in numbers if number > beyond), numbers[0]))
    return tuple(sorted(set(found)))


def is_written(text: str, line: str) -> bool:
    """Whether a line of a request is this line of a file, its placeholders filled in."""
    parts = [part.replace("{{", "{").replace("}}", "}") for part in _PLACEHOLDER.split(line)]
    if len(parts) == 1:
        return text[:MAX_CHARS].rstrip() in (parts[0][:MAX_CHARS].rstrip(), line[:MAX_CHARS].rstrip())
    if sum(len(part.strip()) for part in parts) < _LITERAL:
        return False
    return re.fullmatch(".*".join(map(re.escape, parts)), text) is not None


def ranges(numbers: Sequence[int]) -> str:
    """Line numbers as people write them: `3, 7-9`."""
    breaks = [0, *(i for i, (a, b) in enumerate(pairwise(numbers), 1) if b != a + 1), len(numbers)]
    runs = [numbers[a:b] for a, b in pairwise(breaks)]
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs if run)


def _gap(difference: Difference, lines: Sequence[str]) -> tuple[int, ...]:
    """Where something was taken out: between two lines that are neighbours in the file now, or at its first or last."""
    if not (difference.after + difference.before).strip():
        return ()  # between two empty lines is everywhere
    padded = ["", *lines, ""]
    for number, (above, below) in enumerate(pairwise(padded), 1):
        if _is_edge(difference.after, above) and _is_edge(difference.before, below):
            return (min(number, len(lines)),)
    return ()


def _is_edge(text: str, line: str) -> bool:
    """Whether a shared line beside the gap is this one; where a message begins or ends, the file has a mark."""
    return is_written(text, line) if text.strip() else not line.strip() or line.startswith(("---", "<!--"))


Way = tuple[str, tuple[str, ...]]
"""An agent, and the visits before it was asked."""

_ENOUGH: Final = 24
"""Characters of a finding that tell it from others; shorter ones stand in any text."""
_SHOWN: Final = 4  # visits of a way


@dataclass(frozen=True)
class UpstreamStep:
    """A step in words; `group` is the same for the same step of other trials."""

    text: str
    group: str


def first_step(
    trace: Trace, miss: Miss, asked: str, recorded: Collection[str], walked: Collection[Way]
) -> UpstreamStep | None:
    """The first step whose outcome stands in what is `asked` and in no `recorded` line of the nearest request; else the
    way itself, if no recorded trial has `walked` it. None if no step explains the miss."""
    told = "\n".join(recorded)
    for number, visit in enumerate(trace.visits, 1):
        texts = [text for finding in visit.findings for text in (finding.summary, finding.details)]
        if any(_is_news(text, asked, told) for text in texts):
            return _visited(number, visit, trace)
    for number, exchange in enumerate(trace.exchanges, 1):
        if _is_news(exchange.answer, asked, told) or _is_news(exchange.question, asked, told):
            return UpstreamStep(f"question {number} or its answer is another", "question")
    if (miss.agent, trace.walked) in walked:
        return None
    return _sent(trace.decisions[-1], trace, miss.agent)


def ways_of(trace: Trace, router: str) -> set[Way]:
    """The ways a recorded trial went, the `router`'s too; where it missed something, the last is not among them."""
    route: tuple[str, ...] = trace.walked
    ways = {(str(node), route[:place]) for place, node in enumerate(route)}
    asked = {(router, route[:place]) for place in range(min(len(trace.decisions), len(route) + 1))}
    return ways | asked


def _is_news(text: str, asked: str, told: str) -> bool:
    """Whether a text, or as much of it as can be shown, is asked now and was not told before."""
    line = next((line for line in text.splitlines() if line.strip()), "")[: 4 * _ENOUGH].strip()
    return len(line) >= _ENOUGH and line in asked and line not in told


def _visited(number: int, visit: Visit, trace: Trace) -> UpstreamStep:
    """The visit is news: because a rule sent the trial there, or because it found something else."""
    went = [decision for decision in trace.decisions if decision.routed != "end"]
    place = sorted({other.superstep for other in trace.visits}).index(visit.superstep)
    if place < len(went) and went[place].overrides:
        return _overridden(went[place])
    return UpstreamStep(f"what visit {number} ({visit.node}) found is in no recorded request", f"visit {visit.node}")


def _sent(decision: Decision, trace: Trace, agent: str) -> UpstreamStep:
    """The last decision led where no recording went."""
    if decision.overrides and decision.routed == agent:
        return _overridden(decision)
    visits = trace.walked[-_SHOWN:]
    way = " ".join(visits) or "no visit"
    skipped = f"{len(trace.walked) - _SHOWN} visits and " if len(trace.walked) > _SHOWN else ""
    return UpstreamStep(
        f"{agent} is asked after {skipped}{way}, as in no recorded trial", f"{agent} {' '.join(trace.walked)}"
    )


def _overridden(decision: Decision) -> UpstreamStep:
    last = decision.overrides[-1]
    said = f"{last.rule} sent {last.chosen} to {last.send_to}"
    return UpstreamStep(f"{said} (decision {decision.index + 1})", said)


Kind = Literal[
    "new case",
    "more repeats",
    "volatile text",
    "new prompt",
    "prompt edited",
    "value changed",
    "schema changed",
    "model changed",
    "parameter changed",
    "issue edited",
    "tool result changed",
    "upstream divergence",
    "request changed",
]

_ANOTHER_PROMPT: Final = 0.6
"""System prompts less alike than this are two, not one that was edited: v1 and v3 share 35 % of their words, v2 and
v3, where one grew out of the other, 89 %."""
_SCHEMAS: Final = ("response_format", "tools")
_SYSTEM: Final = ("system", "instructions")  # where no message holds the system prompt


class MissCause(Closed):
    """Why something is missing. `where` names files with their lines; misses of one `group` have one cause."""

    kind: Kind
    text: str
    where: tuple[str, ...] = ()
    group: str


@dataclass(frozen=True)
class IssueText:
    """The issue of a case as it is written: `lines` of the file at `path`, which is relative to the checkout, the first
    its bare title."""

    path: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class MissEvidence:
    """One miss and what there is to explain it with.

    `recorded` is the nearest recorded request, `tape` the text of all requests recorded for the case (empty if none
    are), `prompt` the file of the variant's supervisor, `workers` those of the workers, `versions` the prompts of all
    variants by the digest of their system half. `walked` are the ways recorded trials of the case went: an agent, and
    the visits before it. `frozen` says whether a decision point asked. `edited` are files of code edited in git.
    """

    trace: Trace
    miss: Miss
    recorded: Interaction | None
    tape: str
    walked: frozenset[Way]
    frozen: bool
    issue: IssueText
    prompt: PromptFile | None
    workers: Sequence[PromptFile]
    versions: dict[str, PromptFile]
    edited: tuple[str, ...] = ()
    router: str = ""

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """The differences that are not volatile."""
        found = self.miss.nearest.differences if self.miss.nearest else ()
        return tuple(difference for difference in found if not difference.volatile)

    @cached_property
    def recorded_lines(self) -> frozenset[str]:
        """Every line of every message of the nearest recorded request."""
        messages = self.recorded.request.get("messages", ()) if self.recorded else ()
        return frozenset(line for message in messages for line in str(message.get("content") or "").splitlines())

    def in_system(self, difference: Difference) -> bool:
        """Whether the difference is in the system prompt, which holds nothing of the case."""
        if difference.path.startswith(_SYSTEM):
            return True
        return self.message(difference).get("role") == "system"

    def message(self, difference: Difference) -> Mapping[str, Any]:
        """The recorded message that the difference is in; empty if there is none."""
        found = re.match(r"messages\[(\d+)\]", difference.path)
        messages = self.recorded.request.get("messages", ()) if self.recorded else ()
        index = int(found[1]) if found else len(messages)
        return messages[index] if index < len(messages) else {}

    @property
    def system(self) -> tuple[Difference, ...]:
        """The differences in the system prompt."""
        return tuple(difference for difference in self.differences if self.in_system(difference))

    @property
    def spoken(self) -> tuple[Difference, ...]:
        """The differences in messages that are no system prompt, and in searches."""
        return tuple(
            found
            for found in self.differences
            if found.path.startswith(("messages", "query")) and not self.in_system(found)
        )

    @property
    def files(self) -> tuple[PromptFile, ...]:
        """Where the text of this request may be written: the router's file, or the worker's own before others."""
        own = (self.prompt,) if self.prompt else ()
        if self.miss.agent == self.router:
            return own
        mine = sorted(self.workers, key=lambda file: not file.path.rpartition("/")[2].startswith(self.miss.agent))
        return (*mine, *own)


def cause_of(evidence: MissEvidence) -> MissCause:
    """Why the request is missing. What was changed on purpose is named, all of it; only where nothing was is the cause
    looked for in the case and in the earlier steps."""
    for rule in FIRST:
        if found := rule(evidence):
            return found
    changed = [cause for rule in CHANGES if (cause := rule(evidence))]
    if changed and changed[0].kind == "new prompt":
        return changed[0]  # a prompt nobody recorded has its own schema and tools; those are no second cause
    if changed:
        return _joined(changed)
    return next(cause for rule in LAST if (cause := rule(evidence)))


def new_case(evidence: MissEvidence) -> MissCause | None:
    """Nothing of the case is recorded."""
    if evidence.tape:
        return None
    return MissCause(kind="new case", text="nothing is recorded yet", group="")


def more_repeats(evidence: MissEvidence) -> MissCause | None:
    """The very request is recorded, with fewer answers than repeats are asked for."""
    if evidence.miss.nearest is None or evidence.miss.nearest.key != evidence.miss.key:
        return None
    return MissCause(kind="more repeats", text="recorded requests need more answers (--repeat)", group="")


def volatile_text(evidence: MissEvidence) -> MissCause | None:
    """The request differs in nothing but text that changes by itself."""
    found = evidence.miss.nearest.differences if evidence.miss.nearest else ()
    if not found or evidence.differences:
        return None
    kinds = sorted({kind for difference in found for kind in difference.volatile})
    said = f"{' and '.join(kinds)} in {found[0].path} of {evidence.miss.agent}; keep it out of requests"
    return MissCause(kind="volatile text", text=f"{said}: {found[0].change}", group=said)


def prompt_changed(evidence: MissEvidence) -> MissCause | None:
    """The fixed text is another: an edited file, or a prompt nobody has recorded."""
    nearest = evidence.miss.nearest
    if nearest is None:
        return None
    system = [found for found in evidence.system if not _is_refilled(evidence, found)]
    if system and (another := _another_prompt(evidence, nearest.prompt_alike, nearest.prompt_digest)):
        return another
    for file in evidence.files:
        places = [places_of(difference, file.lines) for difference in system]
        places += [places_of(difference, file.lines, evidence.recorded_lines) for difference in evidence.spoken]
        numbers = sorted({number for found in places for number in found})
        if numbers and (all(places[: len(system)]) or file is evidence.prompt):
            where = f"{file.path}:{ranges(numbers)}"
            return MissCause(kind="prompt edited", text=where, where=(where,), group=where)
    if not system:
        return None
    text = f"the system prompt of {evidence.miss.agent}, line {system[0].line}: {system[0].change}"
    return MissCause(kind="prompt edited", text=text, group=text)


def value_changed(evidence: MissEvidence) -> MissCause | None:
    """A placeholder of a prompt file has another value, and the file is as it was: code was edited, or a setting."""
    found = next((found for found in evidence.system if _is_refilled(evidence, found)), None)
    if found is None:
        return None
    sides = [found.recorded.split(), found.asked.split()]
    for _ in range(2):  # without the words that both begin with; then turned round, without those that both end with
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*sides, strict=False)))
        sides = [side[shared:][::-1] for side in sides]
    old, new = (" ".join(side) or "nothing" for side in sides)
    text = f"{old} became {new}, which code fills into the prompt of {evidence.miss.agent}{_edited(evidence)}"
    return MissCause(kind="value changed", text=text, where=evidence.edited, group=text)


def _is_refilled(evidence: MissEvidence, difference: Difference) -> bool:
    """Whether each line of the difference is, before and after, one line with a placeholder in one prompt file."""
    pairs = [*zip_longest(difference.recorded.splitlines(), difference.asked.splitlines(), fillvalue="")]
    return any(
        all(
            any(is_written(a, line) and is_written(b, line) for line in file.lines if _PLACEHOLDER.search(line))
            for a, b in pairs
        )
        for file in evidence.files
    )


def _edited(evidence: MissEvidence) -> str:
    return f"; code edited: {', '.join(evidence.edited)}" if evidence.edited else ""


def _another_prompt(evidence: MissEvidence, alike: float, recorded: str) -> MissCause | None:
    """The recorded prompt is that of another variant, which is still in use, or has little to do with this one."""
    other = evidence.versions.get(recorded)
    if other is None and alike >= _ANOTHER_PROMPT:
        return None
    if evidence.miss.agent == evidence.router and evidence.prompt is not None:
        name, where = f"{evidence.prompt.version} was never recorded", [evidence.prompt.path]
    else:
        name, where = f"the one of {evidence.miss.agent} is a new one", []
    nearest = f"the nearest recorded one, {other.version}, is" if other else "no recorded one is more than"
    text = f"{name}: {nearest} {alike:.0%} alike"
    return MissCause(kind="new prompt", text=text, where=tuple(where), group=name)


def schema_changed(evidence: MissEvidence) -> MissCause | None:
    """The schema of the answer, or of a tool, is another."""
    places = [_spot(found) for found in evidence.differences if found.path.startswith(_SCHEMAS)]
    if not places:
        return None
    fields = [place for place in dict.fromkeys(places) if not place.startswith("required")] or places
    text = f"{evidence.miss.agent}'s answer: {some(fields)}"
    return MissCause(kind="schema changed", text=text, group=text)


def _spot(difference: Difference) -> str:
    """The field of a schema a difference is in, and whether it is there on one side only."""
    fields = re.findall(r"properties\.([^.\[]+)", difference.path)
    name = fields[-1] if fields else difference.path.rpartition("schema.")[2] or difference.path
    if fields and difference.path.endswith(f"properties.{name}"):
        return f"{name} {'added' if not difference.recorded else 'removed' if not difference.asked else 'changed'}"
    return re.sub(r"\[\d+\]$", "", name) + ("" if fields else " changed")


def model_changed(evidence: MissEvidence) -> MissCause | None:
    """Another model is asked."""
    return next((_parameter("model changed", found) for found in evidence.differences if found.path == "model"), None)


def parameter_changed(evidence: MissEvidence) -> MissCause | None:
    """Something else beside the messages is another: a temperature, a limit."""
    others = ("messages", "model", "query", *_SCHEMAS, *_SYSTEM)
    rest = [found for found in evidence.differences if not found.path.startswith(others)]
    return _joined([_parameter("parameter changed", found) for found in rest]) if rest else None


def _parameter(kind: Kind, difference: Difference) -> MissCause:
    name = "" if kind == "model changed" else f"{difference.path} "
    text = f"{name}{difference.recorded or 'nothing'} became {difference.asked or 'nothing'}"
    return MissCause(kind=kind, text=text, group=text)


def issue_edited(evidence: MissEvidence) -> MissCause | None:
    """The issue is told in other words."""
    issue = evidence.issue
    new = {number for number, line in enumerate(issue.lines, 1) if line.strip() and line not in evidence.tape}
    asked = "\n".join(difference.asked for difference in evidence.spoken)
    numbers = sorted(number for number in new if issue.lines[number - 1] in asked)
    if not numbers and not new:
        gaps = [places_of(found, issue.lines) for found in evidence.spoken if not found.asked.strip()]
        numbers = sorted({number for gap in gaps for number in gap})
    if not numbers:
        return None
    where = f"{issue.path}:{ranges(numbers)}"
    return MissCause(kind="issue edited", text=where, where=(where,), group=where)


def tool_result_changed(evidence: MissEvidence) -> MissCause | None:
    """The first difference is in the result of a tool, which ran for real."""
    ran = tuple(dict.fromkeys(visit.node for visit in evidence.trace.visits if visit.ran))
    message = evidence.message(evidence.spoken[0]) if evidence.spoken else {}
    blocks = message["content"] if isinstance(message.get("content"), list) else ()
    if not ran or (message.get("role") != "tool" and all(each.get("type") != "tool_result" for each in blocks)):
        return None
    text = f"{some(ran)} ran for real; `tools` under [target] in evals.toml records results"
    return MissCause(kind="tool result changed", text=text, group=text)


def upstream_divergence(evidence: MissEvidence) -> MissCause | None:
    """An earlier step went another way than any recording did."""
    if evidence.frozen or not evidence.trace.decisions:
        return None
    asked = "\n".join(difference.asked for difference in evidence.spoken)
    step = first_step(evidence.trace, evidence.miss, asked, evidence.recorded_lines, evidence.walked)
    return MissCause(kind="upstream divergence", text=step.text, group=step.group) if step else None


def request_changed(evidence: MissEvidence) -> MissCause:
    """Nothing that was recorded explains it: the code that writes the request, or the state it writes down."""
    nearest = evidence.miss.nearest
    if nearest is None:
        text = f"{evidence.miss.agent} has no recorded request in this case"
        return MissCause(kind="request changed", text=text, group=text)
    if not nearest.differences:
        text = f"{evidence.miss.agent} sent an equal body to another address: {evidence.miss.path}"
        return MissCause(kind="request changed", text=text, group=text)
    first = evidence.differences[0]
    text = f"{evidence.miss.agent}, {first.path} line {first.line}: {first.change}{_edited(evidence)}"
    return MissCause(kind="request changed", text=text, group=f"{evidence.miss.agent} {first.path}")


Rule = Callable[[MissEvidence], MissCause | None]

FIRST: Final[tuple[Rule, ...]] = (new_case, more_repeats, volatile_text)
CHANGES: Final[tuple[Rule, ...]] = (prompt_changed, value_changed, schema_changed, model_changed, parameter_changed)
LAST: Final[tuple[Rule, ...]] = (issue_edited, tool_result_changed, upstream_divergence, request_changed)


def _joined(causes: Sequence[MissCause]) -> MissCause:
    """Several changes made at once, as one cause that names all of them."""
    first, *rest = causes
    return MissCause(
        kind=first.kind,
        text="; ".join([first.text, *(f"{cause.kind}: {cause.text}" for cause in rest)]),
        where=tuple(place for cause in causes for place in cause.where),
        group="; ".join(f"{cause.kind}: {cause.group}" for cause in causes),
    )

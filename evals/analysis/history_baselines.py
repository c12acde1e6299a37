"""Past baselines with their labels and settings, and what changed between two of them."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from evals.analysis.history_commits import BlessedCommit, HistoryRepository, plain_yaml
from evals.models.history_result import HistoryMark, MarkKind
from evals.project import Project
from evals.shared.words import counted, some

Scores = Mapping[str, float]
"""Case -> score, or point -> grade."""

AnsweredBy = Mapping[str, Mapping[str, Mapping[str, tuple[str, ...]]]]
"""Variant -> agent -> models -> the cases they answered; empty in a baseline from before this was kept."""
_KEPT_SINCE: Final = {
    "states": "it keeps no grades of frozen states, so that decision.score is not known",
    "scorers": "it does not say which scorers made its numbers",
    "prompts": "it does not say which prompts it is of",
    "topology": "it does not say which graph it is of",
    "cases": "it does not say which labels it rests on",
}


@dataclass(frozen=True)
class Stored:
    """What is kept of one baseline: digests, (variant, scorer) -> scores for the scorers that were asked for, and
    variant -> case -> point -> grade.

    `unread` are sentences on what it does not say.
    """

    suite: str
    scorers: str
    topology: Mapping[str, str]
    cases: Mapping[str, str]
    prompts: Mapping[str, str]
    scores: Mapping[tuple[str, str], Scores]
    states: Mapping[str, Mapping[str, Scores]]
    answered_by: AnsweredBy
    unread: tuple[str, ...]

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants it has scores of."""
        return tuple(dict.fromkeys(variant for variant, _ in self.scores))


class _File(BaseModel):
    """The members that are read; whatever else stands there is no concern of a history."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    suite: str = ""
    scorers: str = ""
    topology: dict[str, str] = Field(default_factory=dict)
    cases: dict[str, str] = Field(default_factory=dict)
    prompts: dict[str, str] = Field(default_factory=dict)
    values: dict[str, dict[str, dict[str, float]]]
    states: dict[str, dict[str, dict[str, float]]] = Field(default_factory=dict)
    answered_by: dict[str, dict[str, dict[str, tuple[str, ...]]]] = Field(default_factory=dict)


def read_stored(raw: bytes, scorers: tuple[str, ...]) -> Stored | str:
    """The baseline in a file, or one sentence on why nothing of it can be read."""
    try:
        return _kept(_File.model_validate_json(raw), scorers, ())
    except ValidationError as error:
        return _partly(raw, error, scorers)


def _partly(raw: bytes, error: ValidationError, scorers: tuple[str, ...]) -> Stored | str:
    """What is left without the members that are of another shape than today."""
    wrong = sorted({str(each["loc"][0]) for each in error.errors() if each["loc"]})
    if not wrong or "values" in wrong:
        return "it cannot be read: " + ("its values are missing or of no known shape" if wrong else "it is no JSON")
    told: dict[str, Any] = {name: value for name, value in from_json(raw).items() if name not in wrong}
    odd = tuple(f"its {name} are of no known shape" for name in wrong)
    return _kept(_File.model_validate(told), scorers, odd)


def _kept(file: _File, scorers: tuple[str, ...], odd: tuple[str, ...]) -> Stored:
    return Stored(
        suite=file.suite,
        scorers=file.scorers,
        topology=file.topology,
        cases=file.cases,
        prompts=file.prompts,
        scores={
            (variant, scorer): {case: scores[scorer] for case, scores in cases if scorer in scores}
            for variant, cases in ((variant, sorted(cases.items())) for variant, cases in file.values.items())
            for scorer in scorers
        },
        states={
            variant: {case: dict(sorted(points.items())) for case, points in sorted(cases.items())}
            for variant, cases in file.states.items()
        },
        answered_by=file.answered_by,
        unread=(*odd, *(said for name, said in _KEPT_SINCE.items() if name not in file.model_fields_set)),
    )


_GUARDS: Final = "hardened"  # of a variant that names none


@dataclass(frozen=True)
class PastSuiteSettings:
    """Variant -> its guard set, and its models in words; the candidate's name."""

    guards: Mapping[str, str]
    models: Mapping[str, str]
    candidate: str


def read_settings(raw: bytes) -> PastSuiteSettings | None:
    """The settings in a suite's file; None where it is none that can be read."""
    told = plain_yaml(raw)
    variants = told.get("variants") if isinstance(told, dict) else None
    if not isinstance(told, dict) or not isinstance(variants, list):
        return None
    if not all(isinstance(each, dict) and "name" in each for each in variants):
        return None
    shared = _mapping(told.get("models"))
    return PastSuiteSettings(
        guards={str(each["name"]): str(each.get("guards", _GUARDS)) for each in variants},
        models={str(each["name"]): _in_words({**shared, **_mapping(each.get("models"))}) for each in variants},
        candidate=str(told.get("candidate", "")),
    )


def _in_words(models: Mapping[str, Any]) -> str:
    """`claude`, and whoever answers for some agents alone."""
    agents = _mapping(models.get("agents"))
    return ", ".join([str(models.get("default", "")), *(f"{model} for {agent}" for agent, model in agents.items())])


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


GUARDS: Final = "triage/guards"


@dataclass(frozen=True)
class Blessed:
    """`stored` is None where `unread` says why nothing of the baseline can be read; `settings` and `code` (what the
    folder of the guards is in git) are None where the commit has none, or none that can be read."""

    found: BlessedCommit
    stored: Stored | None
    settings: PastSuiteSettings | None
    code: str | None
    unread: tuple[str, ...]


def read_blessed(
    repository: HistoryRepository, found: Sequence[BlessedCommit], scorers: tuple[str, ...]
) -> list[Blessed]:
    """Every baseline, in order; what several share is read once."""
    own = Project.at(repository.root).suites
    places = [(each.commit.sha, _suite_file(each.path, own)) for each in found]
    suites = repository.objects(places)
    code = repository.objects([(each.commit.sha, GUARDS) for each in found])
    distinct = list(dict.fromkeys(blob for blob in suites if blob))
    settings = dict(zip(distinct, map(read_settings, repository.contents(distinct)), strict=True))
    return [
        _blessed(each, stored, settings.get(suite or ""), guards)
        for each, stored, suite, guards in zip(found, _stored(repository, found, scorers), suites, code, strict=True)
    ]


def _stored(
    repository: HistoryRepository, found: Sequence[BlessedCommit], scorers: tuple[str, ...]
) -> Iterator[Stored | str]:
    blobs = list(dict.fromkeys(each.blob for each in found))
    read = {blob: read_stored(raw, scorers) for blob, raw in zip(blobs, repository.contents(blobs), strict=True)}
    yield from (read[each.blob] for each in found)


def _blessed(
    found: BlessedCommit, stored: Stored | str, settings: PastSuiteSettings | None, code: str | None
) -> Blessed:
    if isinstance(stored, str):
        return Blessed(found, None, settings, code, (stored,))
    lacks = ("its suite's file is not there or cannot be read, so that guards and models are not known",)
    return Blessed(found, stored, settings, code, (*stored.unread, *(lacks if settings is None else ())))


def _suite_file(baseline: str, own: str | None) -> str:
    """Where the suite of a baseline stands: in the project's own folder, else beside the folder of the baselines."""
    path = PurePosixPath(baseline)
    return str((PurePosixPath(own) if own else path.parent.parent) / f"{path.stem}.yaml")


Key = tuple[str, str]
"""(case, digest of all its labels rest on)."""


@dataclass(frozen=True)
class LabelSet:
    """Point -> gold node, the best graded; `cluster` is what is resampled together."""

    gold: Mapping[str, str]
    cluster: str


def read_labels(
    repository: HistoryRepository, cases: str, baselines: Sequence[tuple[str, Stored]]
) -> Mapping[Key, LabelSet | None]:
    """The labels that each baseline rests on, read once from the first commit that has them; None where they cannot be
    read. `cases` is the folder of the cases, from the checkout's root; `baselines` are (commit, baseline)."""
    first: dict[Key, str] = {}
    for commit, stored in baselines:
        for key in stored.cases.items():
            first.setdefault(key, commit)
    wanted = [key for key in first if "\n" not in key[0]]
    blobs = repository.objects([(first[key], f"{cases}/{key[0]}/case.yaml") for key in wanted])
    distinct = list(dict.fromkeys(blob for blob in blobs if blob))
    read = dict(zip(distinct, map(_labels, repository.contents(distinct)), strict=True))
    found: dict[Key, LabelSet | None] = dict.fromkeys(first)
    found.update({key: read[blob] for key, blob in zip(wanted, blobs, strict=True) if blob})
    return found


def _labels(raw: bytes) -> LabelSet | None:
    told = plain_yaml(raw)
    if not isinstance(told, dict):
        return None
    try:
        points: Sequence[Mapping[str, Any]] = told.get("decision_points") or ()
        gold = {str(point["id"]): max(point["accept"], key=point["accept"].get) for point in points}
        return LabelSet(gold, str(told.get("pair_id") or told["id"]))
    except (AttributeError, KeyError, TypeError, ValueError):
        return None  # labels of another shape than today


_NAMED: Final = 5


def marks_of(before: Blessed, now: Blessed) -> tuple[HistoryMark, ...]:
    """Everything that changed from one baseline to the next; what either does not say is no change."""
    return tuple(_marks(before, now))


def _marks(before: Blessed, now: Blessed) -> Iterator[HistoryMark]:
    if now.found.gone is not None:
        yield HistoryMark(kind="gone", text=f"was taken away in {now.found.gone[:7]}, and blessed anew")
    if before.found.path != now.found.path:
        yield HistoryMark(kind="renamed", text=f"{before.found.path} is now {now.found.path}")
    if before.stored is None or now.stored is None:
        yield HistoryMark(kind="unread", text="one of the two baselines cannot be read")
    else:
        yield from _of_baselines(before.stored, now.stored)
    yield from _of_settings(before, now)


def _of_baselines(was: Stored, now: Stored) -> Iterator[HistoryMark]:
    for verb, left in (("new", _beyond(now.variants, was.variants)), ("gone", _beyond(was.variants, now.variants))):
        if left:
            yield HistoryMark(kind="variants", text=f"{verb}: {named(left)}", variants=left)
    if changed := _changed(was.prompts, now.prompts):
        yield HistoryMark(kind="prompt", text=f"prompt of {named(changed)}", variants=changed)
    if changed := _changed(was.topology, now.topology):
        yield HistoryMark(kind="graph", text=f"nodes or edges of the graph of {named(changed)}", variants=changed)
    yield from _of_answers(was.answered_by, now.answered_by)
    if changed := _changed(was.cases, now.cases):
        yield HistoryMark(kind="labels", text=f"labels, issue or code of {named(changed)}")
    if was.cases and now.cases:
        for verb, left in (("new", _beyond(now.cases, was.cases)), ("gone", _beyond(was.cases, now.cases))):
            if left:
                yield HistoryMark(kind="dataset", text=f"{counted(len(left), 'case')} {verb}: {named(left)}")
    if was.scorers and now.scorers and was.scorers != now.scorers:
        yield HistoryMark(kind="scorers", text="scorers")


def _of_answers(was: AnsweredBy, now: AnsweredBy) -> Iterator[HistoryMark]:
    """Variants that other models answered; an agent that only one of the two asked is no change."""
    alike: dict[str, list[str]] = {}
    for name in sorted(was.keys() & now.keys()):
        if _changed(was[name], now[name]):
            before, after = _models(was[name]), _models(now[name])
            change = f"{before} → {after}" if before != after else f"{after}, for other agents or cases than before"
            alike.setdefault(change, []).append(name)
    for change, names in alike.items():
        yield HistoryMark(kind="model", text=f"answers of {named(names)}: {change}", variants=tuple(names))


def _models(agents: Mapping[str, Mapping[str, tuple[str, ...]]]) -> str:
    return ", ".join(sorted({models for answered in agents.values() for models in answered}))


def _of_settings(before: Blessed, now: Blessed) -> Iterator[HistoryMark]:
    if before.code is not None and now.code is not None and before.code != now.code:
        yield HistoryMark(kind="guards", text="code of the guards")
    if before.settings is not None and now.settings is not None:
        yield from _of_variants("guards", before.settings.guards, now.settings.guards)
        yield from _of_variants("model", before.settings.models, now.settings.models)


def _of_variants(kind: MarkKind, was: Mapping[str, str], now: Mapping[str, str]) -> Iterator[HistoryMark]:
    """Variants whose setting changed; those that changed alike are one mark."""
    alike: dict[tuple[str, str], list[str]] = {}
    for name in _changed(was, now):
        alike.setdefault((was[name], now[name]), []).append(name)
    for (old, new), names in alike.items():
        yield HistoryMark(kind=kind, text=f"{kind} of {named(names)}: {old} → {new}", variants=tuple(names))


def named(names: Sequence[str]) -> str:
    """A few names; more are counted."""
    return some(names, _NAMED)


def _changed(was: Mapping[str, object], now: Mapping[str, object]) -> tuple[str, ...]:
    """What both have, and have differently."""
    return tuple(sorted(name for name in was.keys() & now.keys() if was[name] != now[name]))


def _beyond(left: Iterable[str], right: Container[str]) -> tuple[str, ...]:
    """What only the left one has."""
    return tuple(name for name in left if name not in right)

"""Coverage of the recordings: how far each trial replays and which interactions are unused."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from evals.cassettes.cassette_data import Cassette, Interaction
from evals.models.base import Closed
from evals.models.trace import Trace


class FileStanding(Closed):
    """One cassette. Dates are those of its oldest and newest answer (ISO 8601, UTC)."""

    case: str
    interactions: int
    unused: int
    size_bytes: int
    recorded_from: str
    recorded_to: str
    models: dict[str, int]
    """Answers by the model that gave them."""


class SuiteStanding(Closed):
    """What each trial of a suite rests on: by case, then by variant."""

    suite: str
    cases: dict[str, dict[str, str]]

    @property
    def incomplete(self) -> dict[str, int]:
        """Variants with trials that are not exact, and how many."""
        short = Counter(name for row in self.cases.values() for name, label in row.items() if label != "exact")
        return dict(short)


class RecordingState(Closed):
    """The whole account."""

    suites: tuple[SuiteStanding, ...]
    cassettes: tuple[FileStanding, ...]
    judge_cassettes: tuple[FileStanding, ...]
    """What a judge said; empty where no suite asks one."""


def suite_standing(suite: str, traces: Sequence[Trace]) -> SuiteStanding:
    """The labels of a suite's trials; several samples of one trial count as their worst."""
    cases: dict[str, dict[str, str]] = {}
    for trace in traces:
        row = cases.setdefault(trace.case_id, {})
        if row.get(trace.variant, "exact") == "exact":
            row[trace.variant] = label_of(trace)
    return SuiteStanding(suite=suite, cases=cases)


def label_of(trace: Trace) -> str:
    """`exact`, `frontier@k`, `missing` or `failed`; a trial whose frozen states lack answers is not exact."""
    label = {"unrecorded": "missing"}.get(str(trace.provenance), str(trace.provenance))
    unanswered = sum(point.chosen is None for point in trace.points)
    if label == "exact" and unanswered:
        return f"{unanswered} point{'s' if unanswered > 1 else ''} missing"
    return label


def asked_for(traces: Iterable[Trace]) -> dict[str, set[str]]:
    """The keys of everything the trials were served, by case."""
    asked: dict[str, set[str]] = {}
    for trace in traces:
        asked.setdefault(trace.case_id, set()).update(trace.asked)
    return asked


def split_by_use(cassette: Cassette, asked: set[str]) -> tuple[list[Interaction], list[Interaction]]:
    """What is asked for and what is not. All samples of a request share its fate: a trial chooses among them."""
    used = [found for found in cassette.interactions if found.key in asked]
    return used, [found for found in cassette.interactions if found.key not in asked]


def file_standing(path: Path, cassette: Cassette, asked: set[str]) -> FileStanding:
    """The account of one cassette."""
    times = sorted(found.recorded_at for found in cassette.interactions)
    return FileStanding(
        case=path.stem,
        interactions=len(cassette.interactions),
        unused=len(split_by_use(cassette, asked)[1]),
        size_bytes=path.stat().st_size,
        recorded_from=times[0] if times else "",
        recorded_to=times[-1] if times else "",
        models=dict(sorted(Counter(found.model for found in cassette.interactions if found.model).items())),
    )

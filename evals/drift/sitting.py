"""One sitting: a folder of its own with the fresh answers, cassettes like any other, and what they have shown.

    DIR/sitting-001/answers/<case>.yaml    the answers, as they came in; a sitting that broke off goes on here
    DIR/sitting-001/drift.json             written when all are there: the next one is a sitting of its own

An answer asked months ago says nothing of today, so a finished sitting is gone on with only where that is asked for.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from evals.cassette import arrived
from evals.cassette.store import Cassette, Interaction, load
from evals.drift.population import Recorded


@dataclass(frozen=True)
class Wanted:
    """One more answer to a request, the n-th, from 0."""

    request: Recorded
    sample: int


@dataclass(frozen=True)
class Sitting:
    """Where the answers of one sitting are."""

    folder: Path

    @classmethod
    def at(cls, folder: Path, *, extend: bool = False) -> "Sitting":
        """The one below `folder` that is not finished, else a new one; with `extend` the last one, finished or not."""
        known = sorted(folder.glob("sitting-[0-9][0-9][0-9]"))
        if known and (extend or not cls(known[-1]).result.exists()):
            return cls(known[-1])
        return cls(folder / f"sitting-{int(known[-1].name[-3:]) + 1 if known else 1:03}")

    @property
    def result(self) -> Path:
        """What the answers have shown, once all are there."""
        return self.folder / "drift.json"

    def cassette(self, case: str) -> Path:
        """The answers to requests of one case."""
        return self.folder / "answers" / f"{case}.yaml"

    def taken_in(self, requests: Iterable[Recorded]) -> dict[str, Cassette]:
        """What is answered so far, by case, what a killed sitting left beside included.

        Raises:
            CassetteError: a file cannot be trusted, read or written.
        """
        found = {}
        for case in sorted({request.case for request in requests}):
            arrived.take_in(self.cassette(case))
            found[case] = load(self.cassette(case))
        return found


def wanted(requests: Iterable[Recorded]) -> list[Wanted]:
    """Every answer a sample needs."""
    return [Wanted(request, sample) for request in requests for sample in range(request.times)]


def missing(each: Iterable[Wanted], answered: Mapping[str, Cassette]) -> list[Wanted]:
    """Those that are not answered yet."""
    return [one for one in each if answered[one.request.case].exact(one.request.key, one.sample) is None]


def answers(request: Recorded, answered: Mapping[str, Cassette]) -> tuple[Interaction, ...]:
    """The fresh answers to a request, as many as its sample needs."""
    found = (answered[request.case].exact(request.key, sample) for sample in range(request.times))
    return tuple(answer for answer in found if answer is not None)

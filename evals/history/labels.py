"""What labels said when a baseline was blessed: the gold node of every frozen state, and which cases are twins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evals.history.git import Repository
from evals.history.plain import plain_yaml
from evals.history.stored import Stored

Key = tuple[str, str]
"""(case, digest of all its labels rest on)."""


@dataclass(frozen=True)
class Labels:
    """Point -> gold node, the best graded; `cluster` is what is resampled together."""

    gold: Mapping[str, str]
    cluster: str


def read_labels(
    repository: Repository, cases: str, baselines: Sequence[tuple[str, Stored]]
) -> Mapping[Key, Labels | None]:
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
    found: dict[Key, Labels | None] = dict.fromkeys(first)
    found.update({key: read[blob] for key, blob in zip(wanted, blobs, strict=True) if blob})
    return found


def _labels(raw: bytes) -> Labels | None:
    told = plain_yaml(raw)
    if not isinstance(told, dict):
        return None
    try:
        points: Sequence[Mapping[str, Any]] = told.get("decision_points") or ()
        gold = {str(point["id"]): max(point["accept"], key=point["accept"].get) for point in points}
        return Labels(gold, str(told.get("pair_id") or told["id"]))
    except (AttributeError, KeyError, TypeError, ValueError):
        return None  # labels of another shape than today

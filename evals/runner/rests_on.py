"""What a run's traces depend on, one digest a thing: where two checkouts differ, this says in what."""

from collections.abc import Mapping, Sequence

from evals.kept import digest_of
from evals.models.case import Case
from evals.models.run import VariantInfo
from evals.models.suite import Suite
from evals.runner.digests import code_digest, file_digest
from evals.workspace import Workspace


def rests_on(
    suite: Suite, cases: Sequence[Case], variants: Sequence[VariantInfo], workspace: Workspace
) -> dict[str, str]:
    """Digests of suite, variants and their prompts, cases, recordings and code."""
    return {
        "suite": digest_of(suite.model_dump_json().encode()),
        "variants or prompts": digest_of(*(info.model_dump_json().encode() for info in variants)),
        "cases": digest_of(*(f"{case.id} {case.digest}".encode() for case in cases)),
        "cassettes": digest_of(
            file_digest(workspace.vectors).encode(),
            *((file_digest(workspace.distances).encode(),) if any(case.tree for case in cases) else ()),
            *(file_digest(workspace.cassette(case.id)).encode() for case in cases),
        ),
        "code": code_digest(workspace.root / "requirements.lock"),
    }


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> tuple[str, ...]:
    """The things whose digests differ, or that only one of them has."""
    return tuple(sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name)))

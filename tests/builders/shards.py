"""Shards for tests: a run of two cases under two variants, dealt out and written down without running anything."""

from pathlib import Path
from typing import Any

from evals.models.case import Case
from evals.models.run import Scope
from evals.models.run_request import WHOLE, RunRequest, Shard, Share, SuiteSelection
from evals.models.suite import Models, Selection, Suite
from evals.run_context import RunContext
from evals.runner.trials import TrialId, trial_digests
from evals.workspace import Workspace
from tests.builders.case import a_case
from tests.builders.facts import a_variant
from tests.builders.trace import a_trace

NOWHERE = Workspace(Path("nowhere"), Path("nowhere/datasets"))
RESTS_ON = {"cassettes": "1" * 64, "code": "2" * 64}


def shares(of: int) -> list[Share]:
    """All of them."""
    return [Share(number, of) for number in range(1, of + 1)]


def a_plan(
    cases: int = 2, samples: int = 1, share: Share = WHOLE, skipped: frozenset[TrialId] = frozenset()
) -> dict[TrialId, str]:
    """The trials of a share and what they are stored under."""
    variants = [a_variant("v2"), a_variant("v3")]
    suite = Suite(
        name="tiny",
        description="Two prompts.",
        cases=Selection(),
        models=Models(default="m", fallback="m"),
        variants=tuple(info.variant for info in variants),
        candidate="v3",
        reference="v2",
        samples=samples,
    )
    chosen = [_case(number) for number in range(cases)]
    request, scope = RunRequest("tiny"), Scope(cases=cases, selected=cases)
    context = RunContext(request, NOWHERE, suite, chosen, chosen, variants, scope, skipped=skipped)
    return trial_digests(context, share)


def _case(number: int) -> Case:
    return a_case(f"case-{number}").model_copy(update={"digest": f"{number:064}"})


def a_shard(number: int = 1, of: int = 2, **fields: Any) -> Shard:
    """A share of that run, every trial of it honest."""
    traces = {
        digest: a_trace(case_id=case, variant=variant, sample=sample)
        for (case, variant, sample), digest in a_plan(share=Share(number, of)).items()
    }
    told = {"asked": SuiteSelection(suite="tiny"), "number": number, "of": of, "rests_on": RESTS_ON, "traces": traces}
    return Shard(**told | fields)


def some_shards(*shards: Shard) -> dict[Path, Shard]:
    """As they are read: by file, `a.json`, `b.json` and so on."""
    return {Path(f"{'abcdefgh'[number]}.json"): shard for number, shard in enumerate(shards)}

"""`evals dataset harvest`: decision points to be labelled, out of a recorded trial."""

from pathlib import Path

import yaml

from evals.cassette.store import load
from evals.dataset.codebase import materialise
from evals.errors import EXIT_OK, CannotJudgeError
from evals.pipeline.options import Options
from evals.pipeline.select import selected


def harvest(case_id: str, variant: str, suite: str, root: Path) -> int:
    """Print the state before every decision of one trial as decision points without labels, as YAML for case.yaml.

    Raises:
        ConfigurationError, DatasetError: no such suite, case or variant.
        CannotJudgeError: the trial is not recorded, so there is no state to be had.
    """
    chosen = selected(suite, root, Options(cases=(case_id,), variants=(variant,)))
    from evals.subject.harvest import harvest as harvested
    from evals.subject.trial import Repository, trees_for

    workspace, [case], [info] = chosen.workspace, chosen.cases, chosen.variants
    tree = materialise(case, workspace.datasets, workspace.cache)
    repository = Repository.at(tree, workspace.vectors, trees_for(case, workspace.cache))
    states = harvested(case, info.variant, load(workspace.cassette(case_id)), repository)
    if not states:
        raise CannotJudgeError(f"{case_id} under {variant} is not recorded; `{chosen.record_command}` records it")
    points = [
        {"id": f"{variant}-decision-{index}", "why": "TODO", "accept": {}, "state": state}
        for index, state in enumerate(states)
    ]
    print(yaml.safe_dump(points, sort_keys=False, allow_unicode=True, width=120), end="")
    return EXIT_OK

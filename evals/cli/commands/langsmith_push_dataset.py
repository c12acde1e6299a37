"""`evals langsmith push-dataset`: the cases as examples of a dataset there."""

from pathlib import Path

from evals.cassette.allowed_secrets import allowed_beside
from evals.cli.terminal.console import VisibleConsole
from evals.dataset.load import load_cases
from evals.errors import EXIT_OK
from evals.langsmith.dataset import Standing, bring_up_to_date, need_dataset
from evals.langsmith.examples import CaseExample, example_of
from evals.langsmith.naming import name_of
from evals.langsmith.secrets import refuse_secrets
from evals.langsmith.service import Patience, connected
from evals.workspace import Workspace

ABOUT = "Labelled issues of triage-evals, kept by `evals langsmith push-dataset`."


def push_dataset(root: Path, dataset: Path | None, name: str | None, *, dry_run: bool, retries: int) -> int:
    """Send what is new or changed, and say what that was. Returns 0.

    Raises:
        ConfigurationError: no key. DatasetError: the dataset is wrong. SecretFoundError: something looks like a secret.
        ServiceError: LangSmith is not to be reached, or does not take it.
    """
    workspace = Workspace.at(root, dataset)
    named = name or name_of(workspace)
    cases = load_cases(workspace.datasets)
    examples = [example_of(case) for case in cases.values() if case.labels.split != "holdout"]
    told = ((f"case {each.case_id}", each.model_dump(mode="json")) for each in examples)
    refuse_secrets(workspace.datasets, told, allowed_beside(workspace.cassettes / named))
    held = f"; {len(cases) - len(examples)} held-out cases stay here" if len(cases) > len(examples) else ""
    if dry_run:
        _say(f"would send up to {_counted(examples)} to dataset {named}{held}")
        for each in examples:
            _say(f"  {each.case_id}  {each.split}  {each.size:,} bytes  {each.digest[:12]}")
        return EXIT_OK
    with connected(Patience(retries=retries)) as service:
        there = need_dataset(service, named, ABOUT)
        before = bring_up_to_date(service, there, examples, lambda done, of: _say(f"{done} of {of} sent"))
    _say(f"dataset {named}: {_told(before)}{held}")
    return EXIT_OK


def _told(before: Standing) -> str:
    strange = f", {before.strange} there that are no cases here" if before.strange else ""
    return f"{len(before.new)} new, {len(before.changed)} changed, {before.same} unchanged{strange}"


def _counted(examples: list[CaseExample]) -> str:
    return f"{len(examples)} examples ({sum(each.size for each in examples):,} bytes)"


def _say(text: str) -> None:
    VisibleConsole(soft_wrap=True).print(text, highlight=False, markup=False)

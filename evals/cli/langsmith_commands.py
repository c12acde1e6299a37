"""`evals langsmith push`: cases as examples, runs as experiments."""

import datetime as dt
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final
from uuid import UUID

import typer

from evals.cassettes.cassette_data import Interaction
from evals.cassettes.cassette_files import load
from evals.cli.options import DryRun, given
from evals.cli.terminal import note, say
from evals.errors import EXIT_OK, ConfigurationError
from evals.langsmith.dataset_sync import (
    CaseExample,
    DatasetState,
    bring_up_to_date,
    digests_there,
    example_of,
    find_dataset,
    name_of,
    need_dataset,
)
from evals.langsmith.experiments import RecordedOf, VariantRun, push_variants, variants_of, weigh
from evals.langsmith.langsmith_client import Service, ServicePatience, address, connected, refuse_secrets
from evals.langsmith.trial_runs import Recorded, example_id, nothing_recorded
from evals.models.run import Run, Trial
from evals.models.trace import Call
from evals.report.run_files import read_run
from evals.secret_filter import allowed_beside
from evals.workspace import Workspace

langsmith = typer.Typer(help="Send cases and runs to LangSmith. Needs LANGSMITH_API_KEY.", no_args_is_help=True)
RETRIES: Final = 4
CASES: Final = "cases"
Name = Annotated[str | None, typer.Option(help="Name of the dataset there (default: the project's folder).")]
Retries = Annotated[int, typer.Option(min=0, help="Tries after a rate limit, an outage or a cut connection.")]


@langsmith.command("push")
def push_command(
    context: typer.Context,
    what: Annotated[
        str | None,
        typer.Argument(metavar="[RUN]", help="A run.json, or `cases`; reports/latest/run.json if not given."),
    ] = None,
    name: Name = None,
    variant: Annotated[list[str] | None, typer.Option("--variant", help="Only this variant (repeatable).")] = None,
    messages: Annotated[bool, typer.Option("--messages/--no-messages", help="Send questions and answers.")] = True,
    dry_run: DryRun = False,
    retries: Retries = RETRIES,
) -> int:
    """Send a run: one experiment per variant, with trials, steps and metrics. Continues where it was stopped.

    First send the cases as examples: `push cases` (only new and changed ones, no held-out cases).
    Exit codes: 0 all is there; 2 no key, or no such dataset yet; 3 no network, refused by LangSmith, or a secret was
    found (then nothing is sent).
    """
    common = given(context, dataset=True)
    workspace = Workspace.at(common.root, common.dataset)
    named, patience = name or name_of(workspace), ServicePatience(retries=retries)
    if what == CASES:
        if variant or not messages:
            raise ConfigurationError("--variant and --no-messages: of a run; leave them out")
        _push_cases(workspace, named, patience, dry_run=dry_run)
        return EXIT_OK
    if not dry_run:
        address()  # what is wrong with it is said before a large run is read
    path = common.stored(Path(what) if what else None)
    run = read_run(path)
    variants = _variants(run, variant or (), path)
    _refuse_secrets(path, workspace, variants)
    recorded = _recorded(workspace, variants) if messages else lambda _trial: nothing_recorded
    if dry_run:
        for each in variants:
            say(_weighed(each, recorded))
        return EXIT_OK
    with connected(patience) as service:
        there = _dataset(service, named, variants)
        for sent in push_variants(service, variants, there, recorded, _now, _progress):
            new = f"{sent.runs} runs and {sent.scores} scores sent" if sent.runs or sent.scores else "all was there"
            say(f"experiment {sent.name}: {sent.trials} trials, {new}")
    if held := sum(case.split == "holdout" for case in run.cases):
        say(f"trials of {held} held-out cases stay here")
    return EXIT_OK


ABOUT = "Labelled cases of triage-evals, kept by `evals langsmith push cases`."


def _push_cases(workspace: Workspace, named: str, patience: ServicePatience, *, dry_run: bool) -> None:
    """Send what is new or changed, and say what that was.

    Raises:
        ConfigurationError: no key. DatasetError: the dataset is wrong. SecretFoundError: something looks like a secret.
        ServiceError: LangSmith is not to be reached, or does not take it.
    """
    cases = workspace.pack.load_cases(workspace.datasets)
    examples = [example_of(case) for case in cases.values() if case.labels.split != "holdout"]
    told = ((f"case {each.case_id}", each.model_dump(mode="json")) for each in examples)
    refuse_secrets(workspace.datasets, told, allowed_beside(workspace.cassettes / named))
    held = f"; {len(cases) - len(examples)} held-out cases stay here" if len(cases) > len(examples) else ""
    if dry_run:
        say(f"would send up to {_counted(examples)} to dataset {named}{held}")
        for each in examples:
            say(f"  {each.case_id}  {each.split}  {each.size:,} bytes  {each.digest[:12]}")
        return
    with connected(patience) as service:
        there = need_dataset(service, named, ABOUT)
        before = bring_up_to_date(service, there, examples, lambda done, of: say(f"{done} of {of} sent"))
    say(f"dataset {named}: {_told(before)}{held}")


def _told(before: DatasetState) -> str:
    strange = f", {before.strange} there that are no cases here" if before.strange else ""
    return f"{len(before.new)} new, {len(before.changed)} changed, {before.same} unchanged{strange}"


def _counted(examples: list[CaseExample]) -> str:
    return f"{len(examples)} examples ({sum(each.size for each in examples):,} bytes)"


PUSH_FIRST = "evals langsmith push cases"


def _variants(run: Run, wanted: Sequence[str], path: Path) -> list[VariantRun]:
    known = [info.variant.name for info in run.variants]
    if odd := [name for name in wanted if name not in known]:
        raise ConfigurationError(f"--variant {odd[0]}: not in {path}; it has {', '.join(known)}")
    if found := list(variants_of(run, wanted)):
        return found
    raise ConfigurationError(f"{path}: no trial of these variants was run; there is nothing to send")


def _dataset(service: Service, name: str, variants: Sequence[VariantRun]) -> UUID:
    """The dataset there; every case of the run has to be in it, or its trials would belong to nothing."""
    found = find_dataset(service, name)
    if found is None:
        raise ConfigurationError(f"{service.url} has no dataset {name}: `{PUSH_FIRST}` first, or give its --name")
    there = digests_there(service, found)
    cases = dict.fromkeys(case.id for each in variants for _, case in each.trials)
    if lacking := [case for case in cases if example_id(found, case) not in there]:
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        raise ConfigurationError(f"dataset {name} has no example of {lacking[0]}{more}: `{PUSH_FIRST}` first")
    return found


def _refuse_secrets(path: Path, workspace: Workspace, variants: Sequence[VariantRun]) -> None:
    """All but what stands in cassettes: those refuse secrets when they are read."""
    allowed = allowed_beside(workspace.cassettes / path.name)
    for each in variants:
        about = {"name": each.name, "description": each.description, "metadata": each.metadata}
        refuse_secrets(path, [(f"experiment {each.name}", about)], allowed)
        for trial, case in each.trials:
            root, rows = weigh(each.run, trial, case)
            told = {"runs": [span.told() for span in root.all()], "feedback": [_plain(row) for row in rows]}
            refuse_secrets(path, [(f"{case.id} under {trial.trace.variant}", told)], allowed)


def _plain(row: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in row.items() if name in ("key", "value", "comment")}


def _weighed(each: VariantRun, recorded: RecordedOf) -> str:
    runs = calls = scores = size = 0
    for trial, case in each.trials:
        root, rows = weigh(each.run, trial, case, recorded(trial))
        spans = root.all()
        runs += len(spans)
        calls += sum(span.kind == "llm" for span in spans)
        scores += len(rows)
        size += sum(len(json.dumps(told, default=str)) for told in ([span.sent() for span in spans], rows))
    return (
        f"would send experiment {each.name}: {len(each.trials)} trials, {runs} runs, "
        f"{calls} of them model calls, {scores} scores, {size:,} bytes"
    )


def _recorded(workspace: Workspace, variants: Sequence[VariantRun]) -> RecordedOf:
    """What was said in a call, by the cassette of its case. All are read at once: one that holds a secret, or cannot be
    trusted, refuses the upload before it begins."""
    cases = dict.fromkeys(case.id for each in variants for _, case in each.trials)
    tapes = {case: load(workspace.cassette(case)) for case in cases}

    def of(trial: Trial) -> Recorded:
        tape, sample = tapes[trial.trace.case_id], trial.trace.sample

        def said(call: Call) -> Interaction | None:
            return tape.exact(call.key, sample) or tape.exact(call.key)

        return said

    return of


def _progress(name: str, done: int, of: int) -> None:
    note(f"{name}: {done} of {of} trials")


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)

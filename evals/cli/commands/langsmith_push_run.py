"""`evals langsmith push-run`: a stored run as experiments, one a variant."""

import datetime as dt
import json
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from evals.cassette.allowed_secrets import allowed_beside
from evals.cassette.interaction import Interaction
from evals.cassette.store import load
from evals.cli.terminal.console import VisibleConsole
from evals.errors import EXIT_OK, ConfigurationError
from evals.export.stored import read_run
from evals.langsmith.dataset import digests_there, find_dataset
from evals.langsmith.experiment import VariantRun, variants_of
from evals.langsmith.identity import example_id
from evals.langsmith.naming import name_of
from evals.langsmith.push_run import RecordedOf, push_variants, weigh
from evals.langsmith.secrets import refuse_secrets
from evals.langsmith.service import Patience, Service, address, connected
from evals.langsmith.tree import Recorded, nothing_recorded
from evals.models.run import Run, Trial
from evals.models.trace import Call
from evals.workspace import Workspace

PUSH_FIRST = "evals langsmith push-dataset"


def push_run(
    path: Path,
    root: Path,
    dataset: Path | None,
    name: str | None,
    wanted: Sequence[str],
    *,
    messages: bool,
    dry_run: bool,
    retries: int,
) -> int:
    """Send what is not there yet, and say what that was. Returns 0.

    Raises:
        ConfigurationError: no key, no such run, variant or dataset. SecretFoundError: something looks like a secret.
        CassetteError: what was said cannot be read. ServiceError: LangSmith is not to be reached, or does not take it.
    """
    if not dry_run:
        address()  # what is wrong with it is said before a large run is read
    workspace = Workspace.at(root, dataset)
    named, run = name or name_of(workspace), read_run(path)
    variants = _variants(run, wanted, path)
    _refuse_secrets(path, workspace, variants)
    recorded = _recorded(workspace, variants) if messages else _nothing
    if dry_run:
        for each in variants:
            _say(_weighed(each, recorded))
        return EXIT_OK
    with connected(Patience(retries=retries)) as service:
        there = _dataset(service, named, variants)
        for sent in push_variants(service, variants, there, recorded, _now, _progress):
            new = f"{sent.runs} runs and {sent.scores} scores sent" if sent.runs or sent.scores else "all was there"
            _say(f"experiment {sent.name}: {sent.trials} trials, {new}")
    if held := sum(case.split == "holdout" for case in run.cases):
        _say(f"trials of {held} held-out cases stay here")
    return EXIT_OK


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


def _nothing(_trial: Trial) -> Recorded:
    return nothing_recorded


def _progress(name: str, done: int, of: int) -> None:
    VisibleConsole(stderr=True, soft_wrap=True).print(f"{name}: {done} of {of} trials", highlight=False, markup=False)


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


def _say(text: str) -> None:
    VisibleConsole(soft_wrap=True).print(text, highlight=False, markup=False)

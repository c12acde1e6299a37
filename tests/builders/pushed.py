"""A run of two cases that is pushed to a LangSmith, and what then is there."""

from evals.report.run_files import write_report
from tests.builders.checkout import evals
from tests.builders.run import a_run, a_trial, a_variant_info
from tests.builders.trace import a_call, a_trace

CASES = ("wrong-sum", "wrong-total")
TREES = "POST /runs/multipart"


def trials(variant="v2", samples=1, **outcomes):
    """A trial of every case, with a call."""
    return [
        a_trial(a_trace(case_id=case, variant=variant, sample=sample, calls=[a_call()]), outcomes)
        for case in CASES
        for sample in range(samples)
    ]


def stored(checkout, *found, **fields):
    """The path of a run of these trials, of one variant unless said otherwise."""
    infos = fields.pop("variants", (a_variant_info("v2"),))
    write_report(a_run(*(found or trials()), variants=infos, **fields), checkout / "out")
    return str(checkout / "out" / "run.json")


def push(checkout, *words):
    """What the command says."""
    return evals(checkout, "langsmith", "push", *words)


def scores(service):
    """(case, key) -> feedback."""
    runs = service.store.runs
    return {(runs[row["run_id"]]["name"], row["key"]): row for row in service.store.feedback.values()}


def roots(service):
    """The runs of whole trials."""
    return [run for run in service.store.runs.values() if not run["parent_run_id"]]


def experiments(service):
    """The sessions that are about a dataset."""
    return [each for each in service.store.sessions.values() if each["reference_dataset_id"]]

"""The triage graph as a pack: what the harness asks of it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evals.application_pack import Later, Pack
from evals.gc_pause import uncollected
from evals.paths import PACKAGE
from evals.triage.nodes import LAST, NODE_CAPS, NODE_LETTERS

if TYPE_CHECKING:
    from evals.cassettes.cassette_data import Cassette
    from evals.models.case import Case
    from evals.models.run import CaseInfo, DatasetBaseline
    from evals.models.suite import Variant
    from evals.models.trace import Trace
    from evals.runner.case_task import CaseTask
    from evals.triage.dataset.dataset_layout import Layout
    from evals.workspace import Workspace


_FOLDER: Final = PACKAGE / "triage"
_NOT_IN_TRIALS: Final = ("cli", "judge", "pytest_fixtures.py", "pytest_replay.py", "report", "sweep")
"""Parts of this package that decide nothing of a trial: an edit there makes no trial run again."""


def _layout(datasets: Path) -> "Layout":
    from evals.triage.dataset.dataset_layout import Layout  # noqa: PLC0415 - a session that runs no suite needs none

    return Layout(datasets)


class TriagePack(Pack):
    """See `evals.application_pack.Pack`, method by method."""

    prompt_folder = "triage/prompts"
    version_folder = "triage/prompts/supervisor"
    extra = "triage"
    own_endpoint = False
    root = PACKAGE.parent
    scorers: Final = ("evals.triage.scorers",)
    primary: Final[tuple[str, ...]] = ()
    report_sections = ("evals.triage.report.triage_sections",)
    node_letters = NODE_LETTERS
    variant_metrics = ("evals.triage.triage_metrics",)
    node_caps = NODE_CAPS
    last_node = LAST
    router = "supervisor"
    asking_node = "human_input"
    usual_settings: Mapping[str, str] = {"supervisor": "llm", "guards": "hardened"}
    results: Mapping[str, str] = {"root_cause.hit": "root cause", "root_cause.category": "category"}
    answer_field = "root_cause"
    run_settings: Mapping[str, str] = {"guards": "+{}", "max_iterations": "+max{}"}
    commands: Mapping[str, tuple[str, str, str]] = {
        "sweep": (
            "evals.triage.cli.sweep_command",
            "sweeping",
            "Try thresholds and guard sets on the recordings, and recommend a setting.",
        ),
        "dataset": ("evals.triage.cli.dataset_commands", "dataset", "Check, count and describe the labelled cases."),
        "dataset new": ("evals.triage.cli.add_cases", "making", "Make and import cases."),
    }
    faults = "evals.triage.triage_faults"
    pytest_plugins = ("evals.triage.pytest_fixtures",)
    completed = Later("variant_settings")
    describe = Later("variant_prompts")
    prompt_of = Later("variant_prompts")
    prompt_text = Later("variant_prompts")
    default_prompts = Later("variant_prompts")
    prompts_named = Later("variant_prompts")
    variant_prompts = Later("variant_prompts", "supervisor_files")
    worker_prompts = Later("variant_prompts", "worker_files")
    load_cases = Later("dataset.load_cases")
    load_case = Later("dataset.load_cases", "load_one")
    case_ids = Later("dataset.load_cases")
    case_file = Later("dataset.dataset_layout", "CaseFile")
    answer_readers = Later("drift_fields", "FIELDS")
    written = Later("sweep.sweep_result", "WRITTEN")
    rubric = Later("judge.triage_rubric", "TriageRubric")
    runner = Later("trial_clients")
    replay_clients = Later("trial_clients")
    recording_clients = Later("trial_clients")
    judge = Later("judge_model", "ask_judge")
    trials = Later("recorded_graph", "Repositories")

    def folder(self, root: Path) -> Path:  # noqa: ARG002 - the graph is beside this package
        """The folder of the graph."""
        return PACKAGE.parent / "triage"

    def code_files(self, root: Path) -> list[Path]:  # noqa: ARG002 - as above
        """Code and agent prompts of the graph, and this package but for `_NOT_IN_TRIALS`."""
        from evals.triage.variant_prompts import graph_sources  # noqa: PLC0415

        own = (path for path in _FOLDER.rglob("*.py") if path.relative_to(_FOLDER).parts[0] not in _NOT_IN_TRIALS)
        return [*graph_sources(), *sorted(own)]

    def variant_files(self, variant: "Variant") -> tuple[Path, ...]:
        """The file of the plan a variant starts from."""
        from evals.triage.variant_prompts import plan_file  # noqa: PLC0415

        found = plan_file(variant)
        return () if found is None else (found,)

    def cases_folder(self, datasets: Path) -> Path:
        """`triage/cases` of the dataset."""
        return _layout(datasets).cases

    def labels_file(self, datasets: Path, case_id: str) -> Path:
        """`case.yaml`."""
        return _layout(datasets).labels(case_id)

    def input_file(self, datasets: Path, case_id: str) -> Path:
        """`issue.md`."""
        return _layout(datasets).issue(case_id)

    def prepare_cases(self, cases: "Sequence[Case]", workspace: "Workspace") -> None:
        """Released packages and commits that the cases are about."""
        from evals.triage.dataset.case_code import need_commits  # noqa: PLC0415
        from evals.triage.dataset.fetch_packages import refuse_unfetched  # noqa: PLC0415

        refuse_unfetched(cases, workspace.datasets, workspace.cache)
        need_commits((case.labels.commits[0] for case in cases if case.labels.commits), workspace.cache)

    def floors(self, cases: "Sequence[Case]", workspace: "Workspace") -> "list[DatasetBaseline]":
        """What fixed routes, a word search and fixed decisions reach."""
        from evals.triage.dataset.case_code import materialise  # noqa: PLC0415
        from evals.triage.dataset.floor_scores import (  # noqa: PLC0415
            decision_baseline,
            root_cause_baselines,
            route_baselines,
        )

        causes = root_cause_baselines(
            cases, lambda case: materialise(case, workspace.datasets, workspace.cache), workspace.cache
        )
        return [*route_baselines(cases, workspace.cache), *causes, *decision_baseline(cases)]

    def reason(self, metric: str, trace: "Trace", case: "CaseInfo") -> str:
        """The place that was named, and those to blame."""
        if metric != "root_cause.hit":
            return ""
        gold: Any = case.labels.get("gold") or ["no file of the repository"]
        return f"named {trace.output.get('root_cause_location') or 'no place'}; to blame: {', '.join(gold)}"

    def preload(self) -> None:
        """LangGraph, Chroma and the word search."""
        import threading  # noqa: PLC0415

        with uncollected():  # a fifth of the time it takes
            import bm25s  # type: ignore[import-untyped]  # noqa: F401, PLC0415 - loaded at the first search by words
            import chromadb  # noqa: F401, PLC0415 - loaded at the first search by meaning
            import tqdm  # type: ignore[import-untyped]  # noqa: PLC0415

            tqdm.tqdm.set_lock(threading.RLock())  # its own is the system's, and outlives a worker that is killed
            import evals.triage.recorded_graph  # noqa: F401, PLC0415 - last: it may be broken

    def replay_case(self, task: "CaseTask", cassette: "Cassette") -> "list[Trace]":
        """Replay in this process."""
        with uncollected():  # a fifth of the time it takes to load them
            from evals.triage.recorded_graph import replay_case  # noqa: PLC0415 - loads LangGraph and Chroma

        return replay_case(task, cassette)

    @contextmanager
    def recording_services(self, datasets: Path) -> Iterator[Mapping[str, str]]:
        """`search`: the web pages of the dataset, with Tavily's protocol."""
        from evals.triage.dataset.web_search_server import running  # noqa: PLC0415 - loads bm25s

        with running(datasets) as url:
            yield {"search": url}


PACK: Final = TriagePack()

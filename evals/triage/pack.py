"""The triage graph as a pack: what the harness asks of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evals.gc_pause import uncollected
from evals.paths import PACKAGE
from evals.triage.nodes import LAST, NODE_CAPS, NODE_LETTERS

if TYPE_CHECKING:
    import asyncio

    import httpx
    import httpx2

    from evals.cassettes.interaction import Cassette
    from evals.cassettes.player import Tape
    from evals.models.case import Case
    from evals.models.run import DatasetBaseline, VariantInfo
    from evals.models.suite import Models, Variant
    from evals.models.trace import Trace
    from evals.pack import ModelJudge, PromptFile
    from evals.runner.trial_task import CaseTask
    from evals.triage.graph_trial import IndexedCode
    from evals.triage.judge.triage_rubric import TriageRubric
    from evals.triage.trial_clients import Clients
    from evals.workspace import Workspace


_FOLDER: Final = PACKAGE / "triage"
_NOT_IN_TRIALS: Final = ("cli", "judge", "langsmith", "plugin", "report", "sweep")
"""Folders of this package that decide nothing of a trial: an edit there makes no trial run again."""


class TriageCase:
    """Trials of one case on its indexed code."""

    def __init__(self, case: "Case", code: "IndexedCode") -> None:
        self._case, self._code = case, code

    async def run(
        self, variant: "Variant", tape: "Tape", clients: "Clients", halted: Callable[[], bool] = lambda: False
    ) -> "Trace":
        """See `evals.pack.CaseRunner`."""
        from evals.triage.graph_trial import CaseTarget, run_trial  # noqa: PLC0415 - loads LangGraph

        return await run_trial(CaseTarget.of(variant, clients, self._code), self._case, tape, halted)


class TriageTrials:
    """Trials over the code of a workspace's cases."""

    def __init__(self, workspace: "Workspace") -> None:
        from evals.triage.recorded_graph import Repositories  # noqa: PLC0415 - loads LangGraph

        self._code = Repositories(workspace)

    def open(self, case: "Case") -> TriageCase:
        """See `evals.pack.TrialRunner`."""
        return TriageCase(case, self._code.of(case))

    def close(self, case: "Case") -> None:
        """See `evals.pack.TrialRunner`."""
        self._code.close(case)

    def save(self) -> None:
        """See `evals.pack.TrialRunner`."""
        self._code.save()


class TriagePack:
    """See `evals.pack.Pack`, method by method."""

    prompt_folder: Final = "triage/prompts"
    version_folder: Final = "triage/prompts/supervisor"
    extra: Final = "triage"
    own_endpoint: Final = False
    root: Final = PACKAGE.parent
    scorers: Final = ("evals.triage.scorers",)
    primary: Final[tuple[str, ...]] = ()
    report_sections: Final = ("evals.triage.report.triage_sections",)
    node_letters: Final[Mapping[str, str]] = NODE_LETTERS
    variant_metrics: Final = ("evals.triage.agreement_metrics",)
    node_caps: Final[Mapping[str, int]] = NODE_CAPS
    last_node: Final = LAST
    commands: Final[Mapping[str, tuple[str, str, str]]] = {
        "sweep": (
            "evals.triage.cli.sweep_command",
            "sweeping",
            "Try thresholds and guard sets on the recordings, and recommend a setting.",
        ),
        "dataset": ("evals.triage.cli.dataset_commands", "dataset", "Check, count and describe the labelled cases."),
        "dataset new": ("evals.triage.cli.dataset_new", "making", "Make, import and harvest cases."),
    }
    pytest_plugins: Final = ("evals.triage.plugin.fixtures",)

    def at(self, root: Path) -> "TriagePack":  # noqa: ARG002 - as below
        """The same in every checkout."""
        return self

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

    def describe(self, variant: "Variant", root: Path) -> "VariantInfo":
        """The variant with prompt and plan."""
        from evals.triage.variant_prompts import describe  # noqa: PLC0415

        return describe(variant, root)

    def prompt_of(self, info: "VariantInfo", root: Path) -> object | None:  # noqa: ARG002 - prompts are beside the graph
        """The supervisor's prompt."""
        from evals.triage.variant_prompts import prompt_of  # noqa: PLC0415

        return prompt_of(info)

    def process_of(self, prompt: object) -> None:
        """Any: all variants are the code that is here."""
        del prompt

    def prompt_text(self, text: str, source: str) -> str:
        """Both halves of a supervisor's prompt."""
        from evals.triage.variant_prompts import prompt_text  # noqa: PLC0415

        return prompt_text(text, source)

    def default_prompts(self) -> dict[str, str]:
        """The prompts of `triage run`."""
        from evals.triage.variant_prompts import default_prompts  # noqa: PLC0415

        return default_prompts()

    def variant_prompts(self, infos: "Iterable[VariantInfo]", root: Path) -> "dict[str, PromptFile]":
        """The supervisors' prompts."""
        from evals.triage.variant_prompts import supervisor_files  # noqa: PLC0415

        return supervisor_files(infos, root)

    def worker_prompts(self, root: Path) -> "tuple[PromptFile, ...]":
        """The prompts of the other agents."""
        from evals.triage.variant_prompts import worker_files  # noqa: PLC0415

        return worker_files(root)

    def load_cases(self, datasets: Path) -> "dict[str, Case]":
        """The labelled issues."""
        from evals.triage.dataset.load_cases import load_cases  # noqa: PLC0415

        return load_cases(datasets)

    def load_case(self, datasets: Path, case_id: str) -> "Case":
        """A labelled issue."""
        from evals.triage.dataset.load_cases import load_one  # noqa: PLC0415

        return load_one(datasets, case_id)

    def case_ids(self, datasets: Path) -> list[str]:
        """The names of the issues."""
        from evals.triage.dataset.load_cases import case_ids  # noqa: PLC0415

        return case_ids(datasets)

    def cases_folder(self, datasets: Path) -> Path:
        """`triage/cases` of the dataset."""
        from evals.triage.dataset.dataset_layout import Layout  # noqa: PLC0415

        return Layout(datasets).cases

    def labels_file(self, datasets: Path, case_id: str) -> Path:
        """`case.yaml`."""
        from evals.triage.dataset.dataset_layout import Layout  # noqa: PLC0415

        return Layout(datasets).labels(case_id)

    def input_file(self, datasets: Path, case_id: str) -> Path:
        """`issue.md`."""
        from evals.triage.dataset.dataset_layout import Layout  # noqa: PLC0415

        return Layout(datasets).issue(case_id)

    def label_errors(self, cases: "Sequence[Case]", traces: "Sequence[Trace]") -> tuple[str, ...]:
        """None: `evals dataset lint` names them."""
        del cases, traces
        return ()

    def prepare_cases(self, cases: "Sequence[Case]", workspace: "Workspace") -> None:
        """Released packages and commits that the cases are about."""
        from evals.triage.dataset.commit_code import need_commits  # noqa: PLC0415
        from evals.triage.dataset.releases.fetch_releases import refuse_unfetched  # noqa: PLC0415

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

    @property
    def rubric(self) -> "TriageRubric":
        """The rubric of reports."""
        from evals.triage.judge.triage_rubric import RUBRIC  # noqa: PLC0415

        return RUBRIC

    def preload(self) -> None:
        """LangGraph, Chroma and the word search."""
        import threading  # noqa: PLC0415

        with uncollected():  # a fifth of the time it takes
            import bm25s  # type: ignore[import-untyped]  # noqa: F401, PLC0415 - loaded at the first search by words
            import chromadb  # noqa: F401, PLC0415 - loaded at the first search by meaning
            import tqdm  # type: ignore[import-untyped]  # noqa: PLC0415

            import evals.triage.case_replay  # noqa: F401, PLC0415
        tqdm.tqdm.set_lock(threading.RLock())  # its own one is the system's, and outlives a worker that is killed

    def runner(self) -> "asyncio.Runner":
        """A loop without waiting."""
        from evals.triage.replay_path import runner  # noqa: PLC0415

        return runner()

    def replay_case(self, task: "CaseTask", cassette: "Cassette") -> "list[Trace]":
        """Replay in this process."""
        with uncollected():  # a fifth of the time it takes to load them
            from evals.triage.case_replay import replay_case  # noqa: PLC0415 - loads LangGraph and Chroma

        return replay_case(task, cassette)

    def trials(self, workspace: "Workspace") -> TriageTrials:
        """A runner over the cases' code."""
        return TriageTrials(workspace)

    def replay_clients(self) -> "Clients":
        """Clients over the current cassette."""
        from evals.triage.trial_clients import replay_clients  # noqa: PLC0415

        return replay_clients()

    def recording_clients(
        self, llm: "httpx2.AsyncBaseTransport", search: "httpx.AsyncBaseTransport", timeout_s: float
    ) -> "Clients":
        """Clients over recording transports."""
        from evals.triage.trial_clients import recording_clients  # noqa: PLC0415

        return recording_clients(llm, search, timeout_s)

    def judge(self, clients: Any, models: "Models") -> "ModelJudge":  # noqa: ANN401 - this pack's own clients
        """A judge that asks as the agents do."""
        from evals.triage.judge_model import JudgeClient  # noqa: PLC0415

        return JudgeClient.over(clients, models)

    @contextmanager
    def recording_services(self, datasets: Path) -> Iterator[Mapping[str, str]]:
        """`search`: the web pages of the dataset, with Tavily's protocol."""
        from evals.triage.dataset.web_search_server import running  # noqa: PLC0415 - loads bm25s

        with running(datasets) as url:
            yield {"search": url}

    @property
    def live_target(self) -> Callable[..., Callable[[dict[str, Any]], dict[str, Any]]]:
        """`target` of the live graph."""
        from evals.triage.langsmith.live_evaluation import target  # noqa: PLC0415 - loads LangSmith

        return target


PACK: Final = TriagePack()

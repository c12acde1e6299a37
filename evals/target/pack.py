"""The pack of any LangGraph graph: a target that `langgraph.json` and `evals.toml` describe."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field, ValidationError

from evals.errors import CannotJudgeError, ConfigurationError
from evals.models.base import Closed
from evals.models.run import VariantInfo
from evals.models.trace import Decision, Exchange, Provenance, Trace, Visit
from evals.pack import PromptFile
from evals.project import FILE, Project, tables_of
from evals.target import cases as case_files

if TYPE_CHECKING:
    import httpx
    import httpx2

    from evals.cassettes.interaction import Cassette
    from evals.cassettes.player import Tape
    from evals.models.case import Case
    from evals.models.run import DatasetBaseline
    from evals.models.suite import Models, Variant
    from evals.pack import Command, ModelJudge
    from evals.target.capture import Recording, TargetTrial
    from evals.target.drive import Driver, TargetRun
    from evals.workspace import Workspace

TABLE: Final = "target"
LONGEST: Final = 600.0
"""Seconds that a trial may take while it is recorded."""
_CODE: Final = frozenset({".py", ".md", ".txt", ".json", ".toml", ".yaml", ".yml"}) | {
    *(".jinja", ".jinja2", ".j2", ".mustache", ".prompt", ".csv", ".tsv", ".xml", ".html", ".sql", ".ini", ".cfg")
}
_NOT_CODE: Final = frozenset({"__pycache__", "node_modules", "venv", "site-packages", "build", "dist", "tests"})
_END: Final = "__end__"
_ENDED_BADLY: Final = ("failed", "timeout", "unanswered")


class TargetSettings(Closed):
    """The table `[target]` of `evals.toml`."""

    graph: str | None = None
    """The name in `langgraph.json`; None: the only one there."""
    folder: str = "."
    """The folder of `langgraph.json`, from the project's root."""
    routers: tuple[str, ...] = ()
    """Nodes, or agents by name, whose choice is a decision."""
    output: tuple[str, ...] = ()
    """Members of the final state that are the output; none: all of them."""
    prompts: tuple[str, ...] = ()
    """Patterns of prompt files, from the root. One whose name is a value in a variant's `config` is that variant's."""
    clock: str | None = None
    pass_through: tuple[str, ...] = ()
    record: tuple[str, ...] = ()
    """Hosts of services whose answers are recorded as a model's are."""
    tools: tuple[str, ...] = ()
    """Tools whose results are recorded."""
    context: bool = False
    """Whether a variant's `config` is LangGraph's `context`; else it is `configurable`."""
    recursion_limit: Annotated[int, Field(ge=1)] = 50

    @classmethod
    def of(cls, root: Path) -> "TargetSettings":
        """The settings of the project at `root`. Raises ConfigurationError for an unknown key or a wrong type."""
        told = tables_of(root).get(TABLE, {})
        known = list(cls.model_fields)
        for name in told:
            if name not in known:
                near = get_close_matches(name, known, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
                raise ConfigurationError(f"{root / FILE}: [{TABLE}] has an unknown setting {name!r}; {hint}")
        try:
            return cls.model_validate_json(json.dumps(told, default=str), strict=True)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise ConfigurationError(f"{root / FILE}: [{TABLE}] {where}: {first['msg']}") from error


class TargetClients:
    """Where the requests of a target's trials go: into the cassette, or through a recorder."""

    def __init__(self, recording: "Recording | None" = None) -> None:
        self.recording = recording

    async def close(self) -> None:
        """End the thread of a recorder."""
        if self.recording is not None:
            self.recording.thread.end()


class TargetCase:
    """Trials of one case."""

    def __init__(self, case: "Case", root: Path) -> None:
        self._case, self._root = case, root

    async def run(
        self, variant: "Variant", tape: "Tape", clients: TargetClients, halted: Callable[[], bool] = lambda: False
    ) -> Trace:
        """See `evals.pack.CaseRunner`. A target is stopped at its first miss or failed request by itself."""
        del halted
        live = clients.recording is not None and clients.recording.recorder.answerer is None
        with _ready(self._root, replay=not live) as target:
            return await target.trace(self._case, variant, tape, clients.recording, seconds=LONGEST)


class TargetTrials:
    """Trials of a workspace."""

    def __init__(self, workspace: "Workspace") -> None:
        self._root = workspace.root

    def open(self, case: "Case") -> TargetCase:
        """See `evals.pack.TrialRunner`."""
        return TargetCase(case, self._root)

    def close(self, case: "Case") -> None:
        """Nothing is kept."""

    def save(self) -> None:
        """Nothing is committed beside the cassettes."""


@dataclass(frozen=True)
class LoadedTarget:
    """The graph of a project, its modules imported."""

    graph: Any
    settings: TargetSettings
    driver: "Driver"

    async def trace(
        self, case: "Case", variant: "Variant", tape: "Tape", recording: "Recording | None", *, seconds: float
    ) -> Trace:
        """Run one trial, which fails after so many seconds."""
        from evals.target.capture import Hosts, TargetTrial  # noqa: PLC0415 - loads LangGraph, as the next
        from evals.target.drive import TargetCall  # noqa: PLC0415

        told, labels = self.settings, case.labels
        call = TargetCall(
            graph=self.graph,
            inputs=dict(case.inputs),
            configurable={} if told.context else dict(variant.config),
            context=dict(variant.config) if told.context else None,
            answers=labels.answers,
            routers=frozenset(told.routers),
            output=(lambda state: {name: state[name] for name in told.output if name in state})
            if told.output
            else None,
            timeout=seconds,
            recursion_limit=told.recursion_limit,
            seed=f"{case.id} {tape.sample}",
        )
        hosts = Hosts(frozenset(told.pass_through), frozenset(told.record))
        trial = TargetTrial(tape, recording, hosts, frozenset(told.tools))
        return _trace(case, variant, tape, trial, await self.driver.run(call, trial))

    def _output(self, state: Mapping[str, Any]) -> dict[str, Any]:
        return {name: state[name] for name in self.settings.output if name in state}


def _trace(case: "Case", variant: "Variant", tape: "Tape", trial: "TargetTrial", run: "TargetRun") -> Trace:
    from evals.cassettes.trial_calls import calls_of, misses_of  # noqa: PLC0415

    decisions = tuple(
        Decision(
            index=index,
            iteration=made.step,
            chosen=" ".join("end" if name == _END else name for name in made.chosen),
            routed=" ".join("end" if name == _END else name for name in made.chosen),
        )
        for index, made in enumerate(run.decisions)
    )
    return Trace(
        case_id=case.id,
        variant=variant.name,
        sample=tape.sample,
        provenance=_provenance(run, trial, len(decisions)),
        visits=tuple(_visits(run, tape)),
        decisions=decisions,
        exchanges=tuple(
            Exchange(question=_words(each.payload), context="", answer=_words(each.answer), topic=None)
            for each in run.interrupts
        ),
        calls=calls_of(tape.ledger),
        misses=misses_of(tape.ledger, tape.cassette, len(decisions)),
        output=dict(run.output),
        error=_below_root(run.error, tape) if run.ended in _ENDED_BADLY or trial.refused else None,
    )


def _provenance(run: "TargetRun", trial: "TargetTrial", decisions: int) -> Provenance:
    if trial.refused or run.ended in _ENDED_BADLY:
        return Provenance(label="failed")
    if run.ended != "missed":
        return Provenance(label="exact")
    return Provenance(label="frontier", frontier=decisions) if decisions else Provenance(label="unrecorded")


def _visits(run: "TargetRun", tape: "Tape") -> Iterator[Visit]:
    """The steps; those that ran side by side have one number."""
    number, last = -1, None
    for step in run.steps:
        place = (step.kind, step.path, step.superstep)
        number += place != last or step.kind == "tool"
        last = place
        yield Visit(node=step.name, superstep=number, error=_below_root(step.error, tape))


def _below_root(text: str | None, tape: "Tape") -> str | None:
    """The text without the folder that the cassettes stand in: a result must not name a machine's folders."""
    return text and text.replace(f"{tape.cassette.path.parent.parent}/", "")


def _words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@cache
def _loaded(root: Path) -> LoadedTarget:
    """The target, its modules imported in the environment and under the capture that are set up now."""
    from evals.target.drive import Driver  # noqa: PLC0415 - loads LangGraph, as the next
    from evals.target.langgraph_json import load_graph, read_langgraph_json  # noqa: PLC0415

    settings = TargetSettings.of(root)
    file = read_langgraph_json(root / settings.folder)
    return LoadedTarget(load_graph(file, settings.graph or _only(list(file.graphs), root)), settings, Driver())


def _only(names: list[str], root: Path) -> str:
    if len(names) > 1:
        raise ConfigurationError(f"{root / FILE}: langgraph.json names {', '.join(names)}; write graph under [{TABLE}]")
    return names[0]


@dataclass
class _Surroundings:
    """What is set up for the trials of a process: by the first of those side by side, until the last has ended."""

    trials: int = 0
    stack: ExitStack = field(default_factory=ExitStack)


_surroundings: Final[dict[Path, _Surroundings]] = {}


@contextmanager
def _ready(root: Path, *, replay: bool) -> Iterator[LoadedTarget]:
    """The target inside the block, with requests captured, its environment set and its clock frozen.

    Trials may run side by side in one event loop: environment and clock are the process's, so they are shared.
    """
    shared = _surroundings.setdefault(root, _Surroundings())
    shared.trials += 1
    try:
        if shared.trials == 1:
            _set_up(root, shared.stack, replay=replay)
        yield _loaded(root)
    finally:
        shared.trials -= 1
        if not shared.trials:
            del _surroundings[root]
            shared.stack.close()


def _set_up(root: Path, stack: ExitStack, *, replay: bool) -> None:
    from evals.target.clock import frozen_clock  # noqa: PLC0415 - loads LangGraph, as the next
    from evals.target.langgraph_json import environment_of, read_langgraph_json  # noqa: PLC0415
    from evals.target.patches import captured  # noqa: PLC0415

    settings = TargetSettings.of(root)
    file = read_langgraph_json(root / settings.folder)
    stack.enter_context(captured())
    stack.enter_context(environment_of(file, replay=replay))
    stack.enter_context(frozen_clock(settings.clock))


class TargetPack:
    """See `evals.pack.Pack`, method by method."""

    prompt_folder: Final = "prompts"
    version_folder: Final = "prompts"
    extra: Final = None
    own_endpoint: Final = True
    last_node: Final = None
    rubric: Final = None
    node_caps: Final[Mapping[str, int]] = {}
    node_letters: Final[Mapping[str, str]] = {}
    scorers: Final = ("evals.target.output_scorers",)
    variant_metrics: Final[tuple[str, ...]] = ()
    report_sections: Final[tuple[str, ...]] = ()
    pytest_plugins: Final[tuple[str, ...]] = ()
    commands: "Final[Mapping[str, Command]]" = MappingProxyType({})

    def folder(self, root: Path) -> Path:
        """The folder of `langgraph.json`."""
        return (root / TargetSettings.of(root).folder).resolve()

    def code_files(self, root: Path) -> list[Path]:
        """Settings, code, prompts and data files below the folder of `langgraph.json`, without cases, recordings and
        reports. Prompts of variants are among them: which of them a graph reads without being told is not known."""
        from evals.target.langgraph_json import read_langgraph_json  # noqa: PLC0415 - loads LangGraph

        folder = self.folder(root)
        found = {*_files_below(folder, _folders_of_harness(root)), *self._prompt_files(root)}
        named = (root / FILE, read_langgraph_json(folder).env_file)
        return sorted({*found, *(path.resolve() for path in named if path is not None and path.is_file())})

    def _prompt_files(self, root: Path) -> list[Path]:
        patterns = TargetSettings.of(root).prompts
        return sorted({path.resolve() for pattern in patterns for path in root.glob(pattern)})

    def variant_files(self, variant: "Variant") -> tuple[Path, ...]:
        """None: `describe` reads them."""
        del variant
        return ()

    def _prompts_of(self, variant: "Variant", root: Path) -> list[Path]:
        values = {str(value) for value in variant.config.values()}
        return [path for path in self._prompt_files(root) if path.stem in values or path.name in values]

    def describe(self, variant: "Variant", root: Path) -> VariantInfo:
        """The variant with the text of its prompt files; the digest is also of its `config`."""
        TargetSettings.of(root)
        paths = self._prompts_of(variant, root)
        texts = [path.read_text(encoding="utf-8") for path in paths]
        told = [json.dumps(variant.config, sort_keys=True, default=str), *texts]
        return VariantInfo(
            variant=variant,
            prompt_version=" ".join(path.stem for path in paths),
            prompt_digest=hashlib.sha256("\0".join(told).encode()).hexdigest(),
            prompt_source=_shown(paths[0], root) if paths else "",
            prompt_text="\n".join(texts),
        )

    def prompt_of(self, info: VariantInfo, root: Path) -> object | None:
        """None: the target reads its prompts. Raises CannotJudgeError where they were edited meanwhile."""
        if self.describe(info.variant, root).prompt_digest != info.prompt_digest:
            raise CannotJudgeError(f"variant {info.variant.name}: its prompts changed while the run was under way")
        return None

    def prompt_text(self, text: str, source: str) -> str:
        """The text as it is."""
        del source
        return text

    def default_prompts(self) -> dict[str, str]:
        """None: a target has no default that the harness knows."""
        return {}

    def variant_prompts(self, infos: Iterable[VariantInfo], root: Path) -> dict[str, PromptFile]:
        """The first prompt file of each variant."""
        found = ((info.variant.name, self._prompts_of(info.variant, root)) for info in infos)
        return {name: _prompt_file(paths[0], root) for name, paths in found if paths}

    def worker_prompts(self, root: Path) -> tuple[PromptFile, ...]:
        """Markdown files of the target that are no variant's."""
        return tuple(_prompt_file(path, root) for path in self.code_files(root) if path.suffix == ".md")

    def load_cases(self, datasets: Path) -> "dict[str, Case]":
        """`cases/*.yaml`."""
        return case_files.load_cases(datasets)

    def load_case(self, datasets: Path, case_id: str) -> "Case":
        """`cases/CASE.yaml`."""
        return case_files.load_case(datasets, case_id)

    def case_ids(self, datasets: Path) -> list[str]:
        """The names of the files."""
        return case_files.case_ids(datasets)

    def cases_folder(self, datasets: Path) -> Path:
        """`cases`."""
        return datasets / "cases"

    def labels_file(self, datasets: Path, case_id: str) -> Path:
        """`cases/CASE.yaml`."""
        return case_files.case_file(datasets, case_id)

    def input_file(self, datasets: Path, case_id: str) -> Path:
        """`cases/CASE.yaml`."""
        return case_files.case_file(datasets, case_id)

    def prepare_cases(self, cases: "Sequence[Case]", workspace: "Workspace") -> None:
        """Cases need nothing beside their file."""

    def floors(self, cases: "Sequence[Case]", workspace: "Workspace") -> "list[DatasetBaseline]":
        """None: what a target reaches without a model is not known."""
        del cases, workspace
        return []

    def preload(self) -> None:
        """LangGraph."""
        import evals.target.drive  # noqa: F401, PLC0415

    def runner(self) -> asyncio.Runner:
        """The library's own."""
        return asyncio.Runner()

    def replay_case(self, task: Any, cassette: "Cassette") -> list[Trace]:  # noqa: ANN401 - a CaseTask: above this module
        """Replay in this process, one variant after the other."""
        from evals.cassettes.player import Tape  # noqa: PLC0415

        with _ready(task.root, replay=True) as target, asyncio.Runner() as loop:
            return [
                loop.run(
                    target.trace(
                        task.case,
                        variant,
                        Tape(cassette, sample=task.sample, samples=task.samples),
                        None,
                        seconds=task.trial_timeout,
                    )
                )
                for variant in task.variants
            ]

    def trials(self, workspace: "Workspace") -> TargetTrials:
        """Trials for recording."""
        return TargetTrials(workspace)

    def replay_clients(self) -> TargetClients:
        """The cassette alone."""
        return TargetClients()

    def recording_clients(
        self, llm: "httpx2.AsyncBaseTransport", search: "httpx.AsyncBaseTransport", timeout_s: float
    ) -> TargetClients:
        """The recorder behind `llm`; the requests go where the target sends them."""
        from evals.cassettes.io_thread import Apart  # noqa: PLC0415
        from evals.cassettes.recorder import RecordingTransport  # noqa: PLC0415
        from evals.target.bodies import answer_object  # noqa: PLC0415
        from evals.target.capture import Recording, stored_request  # noqa: PLC0415

        del search, timeout_s
        if not isinstance(llm, RecordingTransport):
            raise TypeError("a target is recorded through a RecordingTransport")
        llm.recorder.request_body, llm.recorder.answer_body = stored_request, answer_object
        return TargetClients(Recording(llm.recorder, Apart()))

    def judge(self, clients: Any, models: "Models") -> "ModelJudge":  # noqa: ANN401 - of any pack
        """Raises ConfigurationError: there is no rubric for any target."""
        del clients, models
        raise ConfigurationError("`judge:` needs a pack with a rubric; leave it out of the suite")

    @contextmanager
    def recording_services(self, datasets: Path) -> Iterator[Mapping[str, str]]:
        """None."""
        del datasets
        yield {}

    @property
    def live_target(self) -> Callable[..., Callable[[dict[str, Any]], dict[str, Any]]]:
        """Raises ConfigurationError: only the triage graph has one."""
        raise ConfigurationError("`langsmith.target` runs the triage graph only; call your own graph in its place")


def _prompt_file(path: Path, root: Path) -> PromptFile:
    return PromptFile(_shown(path, root), tuple(path.read_text(encoding="utf-8").splitlines()), path.stem)


def _shown(path: Path, root: Path) -> str:
    root = root.resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def _folders_of_harness(root: Path) -> set[Path]:
    project = Project.at(root)
    named = (project.cases, project.suites, project.cassettes, project.reports, project.baselines)
    return {(root / name).resolve() for name in named if name}


def _files_below(folder: Path, left_out: set[Path]) -> list[Path]:
    found: list[Path] = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name in _NOT_CODE or path.resolve() in left_out or path.is_symlink():
            continue
        if path.is_dir():
            found += _files_below(path, left_out)
        elif path.suffix in _CODE:
            found.append(path.resolve())
    return found


PACK: Final = TargetPack()

"""The pack of any LangGraph graph: a target that `langgraph.json` and `evals.toml` describe."""

import asyncio
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from evals.errors import CannotJudgeError, ConfigurationError
from evals.models.run import VariantInfo
from evals.models.trace import Trace
from evals.pack import HERE, PromptFile
from evals.target import cases as case_files
from evals.target.target_settings import TargetSettings, prompt_files, shown_path, target_files
from evals.target.target_trials import TargetClients, TargetTrials, target_ready

if TYPE_CHECKING:
    import httpx
    import httpx2

    from evals.cassettes.interaction import Cassette
    from evals.models.case import Case
    from evals.models.run import DatasetBaseline
    from evals.models.suite import Models, Variant
    from evals.pack import Command, ModelJudge
    from evals.workspace import Workspace


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
    variant_metrics: Final[tuple[str, ...]] = ()
    report_sections: Final[tuple[str, ...]] = ()
    pytest_plugins: Final[tuple[str, ...]] = ()
    commands: "Final[Mapping[str, Command]]" = MappingProxyType({})

    def __init__(self, root: Path = HERE) -> None:
        self.root: Final = root

    def at(self, root: Path) -> "TargetPack":
        """See `evals.pack.Pack`."""
        return _pack_at(root)

    @property
    def scorers(self) -> tuple[str, ...]:
        """Those of the output, then the project's own."""
        return ("evals.target.output_scorers", *TargetSettings.of(self.root).scorers)

    @property
    def primary(self) -> tuple[str, ...]:
        """The metrics that the settings name."""
        return TargetSettings.of(self.root).primary

    def folder(self, root: Path) -> Path:
        """The folder of `langgraph.json`."""
        return TargetSettings.of(root).at(root)

    def code_files(self, root: Path) -> list[Path]:
        """Settings, code, prompts and data files below the folder of `langgraph.json`, without cases, recordings and
        reports. Prompts of variants are among them: which of them a graph reads without being told is not known."""
        return target_files(root)

    def variant_files(self, variant: "Variant") -> tuple[Path, ...]:
        """None: `describe` reads them."""
        del variant
        return ()

    def _prompts_of(self, variant: "Variant", root: Path) -> list[Path]:
        values = {str(value) for value in variant.config.values()}
        return [path for path in prompt_files(root) if path.stem in values or path.name in values]

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
            prompt_source=shown_path(paths[0], root) if paths else "",
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

    def label_errors(self, cases: "Sequence[Case]", traces: Sequence[Trace]) -> tuple[str, ...]:
        """Those that name no field, tool or step of the graph."""
        from evals.target.label_names import label_errors  # noqa: PLC0415 - only where trials are scored

        return label_errors(cases, traces)

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

        with target_ready(task.root, replay=True) as target, asyncio.Runner() as loop:
            return [
                loop.run(
                    target.trace(
                        task.case,
                        variant,
                        Tape(cassette, sample=task.sample, samples=task.samples),
                        None,
                        seconds=task.timeout_s,
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


def _prompt_file(path: Path, root: Path) -> PromptFile:
    return PromptFile(shown_path(path, root), tuple(path.read_text(encoding="utf-8").splitlines()), path.stem)


@cache
def _pack_at(root: Path) -> TargetPack:
    return TargetPack(root)


PACK: Final = TargetPack()

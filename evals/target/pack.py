"""The pack of any LangGraph graph: a target that `langgraph.json` and `evals.toml` describe."""

import asyncio
import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from evals.application_pack import HERE, Later, Pack, PromptFile
from evals.errors import CannotJudgeError, ConfigurationError
from evals.models.run import VariantInfo
from evals.models.trace import Trace
from evals.prompt_versions import NamedPrompt
from evals.safe_yaml import read_text
from evals.target.target_settings import TargetSettings, prompt_files, shown_path, target_files
from evals.target.variant_checkout import VariantFiles

if TYPE_CHECKING:
    import httpx
    import httpx2

    from evals.application_pack import ModelJudge
    from evals.cassettes.cassette_data import Cassette
    from evals.models.case import Case
    from evals.models.suite import Models, Variant
    from evals.target.target_trials import TargetClients


class TargetPack(Pack):
    """See `evals.application_pack.Pack`, method by method."""

    prompt_folder = "prompts"
    version_folder = "prompts"
    own_endpoint = True
    commands = MappingProxyType(
        {
            "points": (
                "evals.cli.decision_points_command",
                "freezing",
                "Keep the states in which the reference's routers decided.",
            )
        }
    )

    pytest_plugins = ("evals.plugin.target_fixtures",)
    load_cases = Later("cases")
    load_case = Later("cases")
    case_ids = Later("cases")
    case_file = Later("cases", "TargetLabels")
    labels_file = Later("cases", "case_file")
    input_file = Later("cases", "case_file")
    rubric = Later("target_judge", "TargetRubric")
    runner = asyncio.Runner
    trials = Later("target_trials", "TargetTrials")
    replay_clients = Later("target_trials", "TargetClients")

    def __init__(self, root: Path = HERE) -> None:
        self.root = root

    def at(self, root: Path) -> "TargetPack":
        """See `evals.application_pack.Pack`."""
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

    def completed(self, variant: "Variant") -> "Variant":
        """The variant as it is: there are no settings beside those of every variant."""
        for name in variant.settings:
            raise ConfigurationError(
                f"variant {variant.name}: `{name}` is no setting of this graph; use `config`, `prompts` or `revision`"
            )
        return variant

    def describe(self, variant: "Variant", root: Path) -> VariantInfo:
        """The variant with the text of its prompt files; the digest is also of its `config` and its commit."""
        TargetSettings.of(root)
        files = VariantFiles.of(self.completed(variant), root)
        prompts = files.all_prompts(variant)
        at = [f"{files.revision}@{files.commit[:7]}"] if files.commit else []
        texts = [prompt.text for prompt in prompts]
        told = [json.dumps(variant.config, sort_keys=True, default=str), *texts, *filter(None, [files.commit])]
        return VariantInfo(
            variant=variant,
            prompt_version=" ".join([*at, *(prompt.spec for prompt in prompts)]),
            prompt_digest=hashlib.sha256("\0".join(told).encode()).hexdigest(),
            prompt_source=prompts[0].path if prompts else "",
            prompt_text="\n".join(texts),
        )

    def prompt_of(self, info: VariantInfo, root: Path) -> VariantFiles:
        """The files that the variant runs. Raises CannotJudgeError where its prompts were edited meanwhile."""
        if self.describe(info.variant, root).prompt_digest != info.prompt_digest:
            raise CannotJudgeError(f"variant {info.variant.name}: its prompts changed while the run was under way")
        return VariantFiles.of(info.variant, root).checked_out()

    def process_of(self, prompt: object) -> str:
        """See `evals.application_pack.Pack`."""
        return prompt.process if isinstance(prompt, VariantFiles) else ""

    def variant_prompts(self, infos: Iterable[VariantInfo], root: Path) -> dict[str, PromptFile]:
        """The first prompt file of each variant."""
        found = {info.variant.name: VariantFiles.of(info.variant, root).all_prompts(info.variant) for info in infos}
        return {name: _prompt(each[0].path, each[0].text, each[0].spec) for name, each in found.items() if each}

    def prompts_named(self, variant: "Variant", root: Path) -> tuple[NamedPrompt, ...]:
        """Those of `prompts`, and those that its `config` names."""
        return VariantFiles.of(variant, root).all_prompts(variant)

    def worker_prompts(self, root: Path) -> tuple[PromptFile, ...]:
        """Prompt files that the settings name, and all other Markdown files of the target."""
        named = prompt_files(root)
        files = [path for path in self.code_files(root) if path.suffix == ".md" or path in named]
        return tuple(_prompt(shown_path(path, root), read_text(path), path.stem) for path in files)

    def cases_folder(self, datasets: Path) -> Path:
        """`cases`."""
        return datasets / "cases"

    def label_errors(
        self, cases: "Sequence[Case]", variants: "Sequence[Variant]", traces: Sequence[Trace]
    ) -> tuple[str, ...]:
        """Those that name no field, tool or step of the graph, and prompts of variants that it never reads."""
        from evals.target.cases import label_errors, unread_prompts  # noqa: PLC0415 - only where trials are scored

        named = label_errors(cases, traces, TargetSettings.of(self.root).routers)
        return (*named, *unread_prompts(variants, traces, self.root))

    def preload(self) -> None:
        """LangGraph."""
        import evals.target.drive  # noqa: PLC0415
        import evals.target.target_trials  # noqa: F401, PLC0415

    def replay_case(self, task: Any, cassette: "Cassette") -> list[Trace]:  # noqa: ANN401 - a CaseTask: above this module
        """Replay in this process, one variant after the other."""
        with asyncio.Runner() as loop:
            return [loop.run(self._replayed(task, variant, files, cassette)) for variant, files in task.prepared]

    async def _replayed(self, task: Any, variant: "Variant", files: object, cassette: "Cassette") -> Trace:  # noqa: ANN401
        from evals.cassettes.player import Tape  # noqa: PLC0415
        from evals.target.target_trials import target_ready  # noqa: PLC0415

        if not isinstance(files, VariantFiles):  # of a worker elsewhere, which has read its own
            files = VariantFiles.of(variant, task.root).checked_out()
        with target_ready(files, replay=True) as target:
            tape = Tape(cassette, sample=task.sample, samples=task.samples)
            return await target.trace(task.case, variant, files, tape, seconds=task.timeout_s)

    def recording_clients(
        self, llm: "httpx2.AsyncBaseTransport", search: "httpx.AsyncBaseTransport", timeout_s: float
    ) -> "TargetClients":
        """The recorder behind `llm`; the requests go where the target sends them."""
        from evals.cassettes.event_loop_thread import Apart  # noqa: PLC0415
        from evals.cassettes.recorder import RecordingTransport  # noqa: PLC0415
        from evals.target.http_bodies import answer_object  # noqa: PLC0415
        from evals.target.http_capture import Recording, stored_request  # noqa: PLC0415
        from evals.target.target_trials import TargetClients  # noqa: PLC0415

        del search, timeout_s
        if not isinstance(llm, RecordingTransport):
            raise TypeError("a target is recorded through a RecordingTransport")
        llm.recorder.request_body, llm.recorder.answer_body = stored_request, answer_object
        return TargetClients(Recording(llm.recorder, Apart()), llm)

    def judge(self, clients: "TargetClients", models: "Models") -> "ModelJudge":  # type: ignore[override]  # asked with its own clients
        """Asks the model that the suite names for `judge`. Raises ConfigurationError: it names none."""
        from evals.target.target_judge import HttpJudge  # noqa: PLC0415 - only where a suite asks a judge

        return HttpJudge.over(clients.judge, models)


def _prompt(path: str, text: str, version: str) -> PromptFile:
    return PromptFile(path, tuple(text.splitlines()), version)


@cache
def _pack_at(root: Path) -> TargetPack:
    return TargetPack(root)


PACK: Final = TargetPack()

"""What an application adds to the harness: the interface of a pack, and how a pack is found.

The harness (everything else in `evals/`) imports no pack. A pack is a module with an object `PACK`; `evals.triage.pack`
is the first one. Its methods load what they need when they are called: LangGraph and Chroma take seconds.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from inspect import getattr_static
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from evals.errors import ConfigurationError
from evals.project import Project
from evals.source_loader import find_modules_in, other_place

if TYPE_CHECKING:
    import asyncio

    import httpx
    import httpx2
    from pydantic import BaseModel

    from evals.cassettes.player import Tape
    from evals.llm_judge.judge_questions import Rubric
    from evals.models.case import Case
    from evals.models.run import CaseInfo, DatasetBaseline, VariantInfo
    from evals.models.suite import Models, Variant
    from evals.models.trace import Trace
    from evals.prompt_versions import NamedPrompt
    from evals.workspace import Workspace

HERE: Final = Path()
COMMAND_ROOT: Final = ContextVar("COMMAND_ROOT", default=HERE)
"""The project of a command that was called with `--root`; the current folder of any other."""
DEFAULT: Final = "evals.triage.pack"
"""The pack of a checkout that names none."""

Schema = TypeVar("Schema", bound="BaseModel")
Readers = Mapping[tuple[str, str], Mapping[str, Callable[[Mapping[str, Any]], Hashable]]]
"""Agent and form of its answer (`text`, or the name of a schema) -> field -> how it is read from an answer."""
Command = tuple[str, str, str]
"""Module of a command or group, its Typer application there, and one line of help."""


@dataclass(frozen=True)
class PromptFile:
    """A prompt as it is written: `lines` of the whole file, `{names}` not filled in.

    `path` is relative to the checkout, or to the package where it is not in there. A worker's file belongs to no
    variant; `digest` names the system half of a router's.
    """

    path: str
    lines: tuple[str, ...]
    version: str = ""
    digest: str = ""


class PackClients(Protocol):
    """HTTP clients for the requests of trials: replaying or recording."""

    async def close(self) -> None:
        """Close every connection."""


class CaseRunner(Protocol):
    """Runs trials of one case, whose inputs are loaded."""

    async def run(
        self, variant: "Variant", tape: "Tape", clients: PackClients, halted: Callable[[], bool] = lambda: False
    ) -> "Trace":
        """Run one trial to its end, its first miss, or its failure. `halted` is asked after every step and may stop the
        trial. Raises ConfigurationError for a variant that cannot be configured."""


class TrialRunner(Protocol):
    """Runs trials of a workspace, case by case."""

    def open(self, case: "Case") -> CaseRunner:
        """Load what the trials of a case need; done once per case. Raises EvalsError."""

    def close(self, case: "Case") -> None:
        """Free what `open` has loaded."""

    def save(self) -> None:
        """Write what had to be computed and is committed beside the cassettes."""


class ModelJudge(Protocol):
    """A model that grades what trials have written."""

    async def ask(self, system: str, human: str, schema: type[Schema]) -> Schema:
        """An answer as an instance of `schema`. Raises whatever SDK, LangChain and pydantic raise."""


class Pack(Protocol):
    """What one application adds to the harness. What has a value or a body here, a pack may leave out."""

    def __hash__(self) -> int:
        """There is one object per pack."""
        return id(self)

    def folder(self, root: Path) -> Path:
        """The folder of the application's own code."""

    prompt_folder: str
    """The folder of the shipped prompts, from the checkout's root."""

    version_folder: str
    """The folder of the versions of the router's prompt, from the checkout's root."""

    extra: str | None = None
    """The extra of this package that its trials need; see `evals.shared.command_lifecycle`."""

    own_endpoint: bool
    """Whether the application asks an endpoint of its own while it is recorded, so that none has to be named."""

    node_caps: Mapping[str, int] = MappingProxyType({})
    """How many visits each node may have where a route specification does not say it; in the order that the report
    lists nodes in."""

    last_node: str | None = None
    """The node that ends a route, if one does."""

    router: str = ""
    """The agent that decides between steps: its requests are decisions. Empty where steps themselves decide."""

    asking_node: str | None = None
    """The node that asks a user, if one does: its n-th visit asks the n-th question of a trial."""

    usual_settings: Mapping[str, str] = MappingProxyType({})
    """Settings that describe a variant, each with the value that goes without saying. Variants that differ in the first
    are different systems."""

    results: Mapping[str, str] = MappingProxyType({})
    """Metrics of a trial's result -> what they are about, in words; label disputes need a value of the first."""

    answer_field: str = ""
    """The field of labels and output that label disputes quote."""

    def reason(self, metric: str, trace: "Trace", case: "CaseInfo") -> str:
        """Why a metric of the pack has its value in a trial; empty where its definition says it all."""
        return ""

    run_settings: Mapping[str, str] = MappingProxyType({})
    """Settings of a variant that `--set` may change for a whole run -> what a value adds to the names of variants, such
    as `+{}`."""

    def code_files(self, root: Path) -> list[Path]:
        """Code and prompts that decide what a trial does, sorted; without the prompts that variants name. `root` is the
        project's."""

    def variant_files(self, variant: "Variant") -> tuple[Path, ...]:
        """Files that a variant names and its graph reads by itself."""
        return ()

    def completed(self, variant: "Variant") -> "Variant":
        """The variant with all settings of the pack, also those it leaves out. Raises ConfigurationError for a setting
        that there is not, or a value that it cannot have."""

    def describe(self, variant: "Variant", root: Path) -> "VariantInfo":
        """The variant with the exact prompt it runs. Raises ConfigurationError if it cannot be configured."""

    def prompt_of(self, info: "VariantInfo", root: Path) -> object | None:
        """The prompt that a description is of; it can be sent to another process. Raises CannotJudgeError where the
        prompt's file holds something else by now."""

    def process_of(self, prompt: object) -> str | None:
        """Names the processes that may run trials with a prompt of `prompt_of`, since what a target has imported stays
        in its process; None: any process, this one too."""
        return None

    def prompt_text(self, text: str, source: str) -> str:
        """The text of a prompt file as `describe` gives it. Raises ConfigurationError where it holds no prompt."""
        return text

    def default_prompts(self) -> dict[str, str]:
        """Router -> version and digest of the prompt that it runs with where none is named."""
        return {}

    def variant_prompts(self, infos: "Iterable[VariantInfo]", root: Path) -> dict[str, PromptFile]:
        """The prompt of each variant that has one, by the variant's name."""

    def prompts_named(self, variant: "Variant", root: Path) -> "tuple[NamedPrompt, ...]":
        """The prompts that a variant names, with their texts. Raises ConfigurationError."""

    def worker_prompts(self, root: Path) -> tuple[PromptFile, ...]:
        """The prompts that belong to no variant."""

    def load_cases(self, datasets: Path) -> "dict[str, Case]":
        """Every case of a dataset, by id in alphabetical order. Raises DatasetError (`path:line: …`)."""

    def load_case(self, datasets: Path, case_id: str) -> "Case":
        """One case. Raises DatasetError (`path:line: …`)."""

    def case_ids(self, datasets: Path) -> list[str]:
        """The names of the cases, sorted."""

    def cases_folder(self, datasets: Path) -> Path:
        """The folder that holds the cases."""

    def labels_file(self, datasets: Path, case_id: str) -> Path:
        """The file with the labels of a case."""

    def input_file(self, datasets: Path, case_id: str) -> Path:
        """The file with the text that a case is about."""

    def label_errors(
        self, cases: "Sequence[Case]", variants: "Sequence[Variant]", traces: "Sequence[Trace]"
    ) -> tuple[str, ...]:
        """Labels that no scorer can read, and prompts that the graph does not, a sentence each."""
        return ()

    def prepare_cases(self, cases: "Sequence[Case]", workspace: "Workspace") -> None:
        """Check that everything the cases need is there. Raises NotFetchedError, DatasetError."""
        return

    def floors(self, cases: "Sequence[Case]", workspace: "Workspace") -> "list[DatasetBaseline]":
        """What the primary metrics come to on these cases without a model."""
        return []

    def preload(self) -> None:
        """Import what every worker needs, before workers are forked."""

    def runner(self) -> "asyncio.Runner":
        """A runner of coroutines for replays."""

    def replay_case(self, task: Any, cassette: Any) -> "list[Trace]":  # noqa: ANN401 - a CaseTask and its Cassette: above this module
        """Replay the trials of a task in this process, in order of its variants."""

    def trials(self, workspace: "Workspace") -> TrialRunner:
        """A runner of trials, for recording."""

    def replay_clients(self) -> PackClients:
        """Clients that answer from the current cassette and reach nothing else."""

    def recording_clients(
        self, llm: "httpx2.AsyncBaseTransport", search: "httpx.AsyncBaseTransport", timeout_s: float
    ) -> PackClients:
        """Clients over transports that record."""

    def judge(self, clients: PackClients, models: "Models") -> ModelJudge:
        """The judge that a suite names, over the given clients."""

    def recording_services(self, datasets: Path) -> AbstractContextManager[Mapping[str, str]]:
        """Local servers that answer the application while it is recorded: name -> base URL, inside the block. The
        harness asks `search`."""
        return nullcontext({})

    root: Path
    """The root of the project that it is for."""

    def at(self, root: Path) -> "Pack":
        """The pack for the project at `root`, one object per root; the same everywhere if not given."""
        return self

    @property
    def scorers(self) -> tuple[str, ...]:
        """Names of the modules, or their files below `root`, whose scorers (`SCORERS`, else all they have) score a
        trial, in the order of the report. Ready-made ones of `evals.scoring` that they do not list come last."""

    @property
    def primary(self) -> tuple[str, ...]:
        """Names of the metrics that decide a verdict; none: those that say so themselves."""

    variant_metrics: tuple[str, ...] = ()
    """Names of the modules whose `METRICS` are computed over all trials of a variant, in the order of the report. A
    function `calibrations` of one gives the tables of stated confidence."""

    @property
    def case_file(self) -> "type[BaseModel]":
        """The model of the file with the labels of a case."""

    written: "Mapping[str, type[BaseModel]]" = MappingProxyType({})
    """Name -> the model of each file that only its own commands write."""

    def rubric(self, version: str, root: Path) -> "Rubric":
        """What a judge is asked about trials. Raises ConfigurationError: no such version, or a file that is none."""

    answer_readers: Readers = MappingProxyType({})
    """How a drift check reads answers."""

    faults: str | None = None
    """Name of the module whose `FAULTS` a self-test plants beside those that fit any target."""

    report_sections: tuple[str, ...] = ()
    """Names of the modules whose `SECTIONS` stand in the report of a run, in order; see
    `evals.report.view.page_parts`."""

    node_letters: Mapping[str, str] = MappingProxyType({})
    """Node -> its letters in a route strip, in the order of the legend. A node without is shown by its initials."""

    commands: Mapping[str, Command] = MappingProxyType({})
    """Commands or groups of commands that the pack adds, by name. The name `GROUP COMMAND` adds a command to a
    group of the harness."""

    pytest_plugins: tuple[str, ...] = ()
    """Modules with pytest fixtures of the application. Every start of pytest imports them: they must be light."""


class Later:
    """Member of a pack that a module of its package holds; imported when the member is first asked for."""

    def __init__(self, module: str, name: str = "") -> None:
        self._module, self._name = module, name

    def __set_name__(self, owner: type, name: str) -> None:
        self._module, self._name = f"{owner.__module__.rpartition('.')[0]}.{self._module}", self._name or name

    def __get__(self, _instance: object, _owner: type | None = None) -> Any:  # noqa: ANN401 - checked by `Pack`
        return getattr(import_module(self._module), self._name)


REQUIRED: Final = (
    "folder code_files completed describe prompt_of variant_prompts prompts_named worker_prompts load_cases load_case "
    "case_ids cases_folder labels_file input_file preload runner replay_case trials replay_clients recording_clients "
    "judge scorers primary case_file rubric prompt_folder version_folder own_endpoint root"
)
"""Names of what a pack may not leave out."""


def load_pack(name: str | None = None, root: Path | None = None) -> Pack:
    """The pack in the module `name`, or that the project names, for the project at `root`, or at `COMMAND_ROOT`. Raises
    ConfigurationError: there is no such module, it has no `PACK`, or that lacks something."""
    root = root or COMMAND_ROOT.get()
    return _load(name or Project.at(root).pack, root.resolve()).at(root.resolve())


@cache
def _load(name: str, root: Path) -> Pack:
    if name.partition(".")[0] != "evals":
        find_modules_in(root)
    try:
        module = import_module(name)
        found: Pack = module.PACK
    except ModuleNotFoundError as error:
        from evals.shared.command_lifecycle import missing_extra  # noqa: PLC0415 - pytest loads packs in any session

        if missing_extra(error):
            raise  # the command names the extra
        raise ConfigurationError(f"pack {name}: no module {error.name}; name another one in evals.toml") from error
    except AttributeError as error:
        raise ConfigurationError(f"pack {name}: the module has no PACK; see evals/application_pack.py") from error
    except (Exception, SystemExit) as error:  # whatever the module does
        cause = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ConfigurationError(f"pack {name}: cannot be imported ({cause})") from error
    if place := other_place(module, name, root):
        raise ConfigurationError(f"pack {name} is that of {place}; judge in another process")
    member = partial(getattr_static, default=None)  # without a load of what the pack loads when it is asked for
    if lacks := [each for each in REQUIRED.split() if member(found, each) in (None, member(Pack, each))]:
        raise ConfigurationError(f"pack {name}: it lacks {', '.join(lacks)}; see evals/application_pack.py")
    return found


def installed_pack(name: str = DEFAULT, root: Path | None = None) -> Pack | None:
    """The pack; None where it is not installed, so that what needs no pack works without one."""
    try:
        return load_pack(name, root)
    except ConfigurationError:
        return None

"""Options and arguments of several commands, and those of `evals` itself: checkout, dataset, processes, prices."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import typer
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evals.application_pack import COMMAND_ROOT, load_pack
from evals.errors import ConfigurationError, nearest_name
from evals.project import Project

CORES: Final = os.cpu_count() or 1
HERE: Final = Path()
GLOBAL: Final = ("--root", "--dataset", "--jobs", "--prices")
"""They may stand before the command or behind it."""


@dataclass(frozen=True)
class GlobalOptions:
    """What is said to `evals` itself: checkout, dataset, worker processes, price table."""

    root: Path
    dataset: Path | None
    jobs: int
    prices: Path | None

    def stored(self, run: Path | None) -> Path:
        """The named run.json, else that of the last run."""
        return run or self.root / Project.at(self.root).reports / "latest/run.json"


def global_options(
    context: typer.Context,
    root: Annotated[Path, typer.Option(help="The checkout to work in.")] = HERE,
    dataset: Annotated[Path | None, typer.Option(help="Another dataset, such as an imported one.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Number of worker processes.")] = CORES,
    prices: Annotated[Path | None, typer.Option(help="Price table to use instead of the shipped one.")] = None,
) -> None:
    """Offline evaluation of agent graphs. These options stand before or behind any command."""
    COMMAND_ROOT.set(root)
    context.obj = GlobalOptions(root, dataset, jobs, prices)


def given(context: typer.Context, *, dataset: bool = False) -> GlobalOptions:
    """The options of every command, for a command that reads another `dataset` or does not.

    Raises:
        ConfigurationError: --dataset, for a command that reads none.
    """
    found: GlobalOptions = context.find_root().obj
    if found.dataset is not None and not dataset:
        name = context.command_path.removeprefix("evals ")
        raise ConfigurationError(f"--dataset {found.dataset}: `evals {name}` reads no other dataset; leave it out")
    return found


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The options that go with every command, wherever they stand, and all other words."""
    new_case = "dataset new" in " ".join(arguments)  # there --jobs named a file in version 0.2
    front: list[str] = []
    rest: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--":
            rest += [word, *words]
        elif word.partition("=")[0] not in GLOBAL or (new_case and word.startswith("--jobs")):
            rest.append(word)
        else:
            front += [word] if "=" in word else [word, *following(words)]
    return front, rest


def following(words: Iterator[str]) -> list[str]:
    """The next word, if there is one."""
    return [word for word in [next(words, None)] if word is not None]


Suite = Annotated[
    str,
    typer.Argument(help="A suite's name, or a suite file."),
]
Cases = Annotated[list[str] | None, typer.Option("--case", help="Only this case (repeatable).")]
Variants = Annotated[list[str] | None, typer.Option("--variant", help="Only this variant (repeatable).")]
Repeat = Annotated[int | None, typer.Option(min=1, metavar="N", help="Run each case and variant N times.")]
OpenHoldout = Annotated[str | None, typer.Option(metavar="WHY", help="Score held-out cases too; each WHY is logged.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Run every trial again, whatever is cached.")]
Annotations = Annotated[bool, typer.Option("--annotations", help="Print GitHub annotations outside of Actions, too.")]
StoredRun = Annotated[Path | None, typer.Argument(metavar="[RUN]", help="A run.json (default: the latest).")]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print what would be sent; send nothing.")]
CaseId = Annotated[str, typer.Argument(help="The name of the case.")]
Verbose = Annotated[bool, typer.Option("--verbose", help="Also print all reasons, costs and violated constraints.")]
AskJudge = Annotated[bool, typer.Option("--judge", help="Only requests of the judge, the model that grades.")]


class SuiteSettings(BaseModel):
    """What `--set` changes of a suite: the members of a subclass, and settings of the pack in every variant."""

    model_config = ConfigDict(extra="allow", frozen=True)

    @property
    def of_variants(self) -> dict[str, str | int]:
        """The settings of the pack; what reads as a number is one."""
        given: dict[str, str] = self.model_extra or {}
        return {name: int(value) if value.removeprefix("-").isdecimal() else value for name, value in given.items()}


class AskingSettings(BaseModel):
    """How an endpoint or an answering command is asked.

    `api_key_env`: environment variable that holds the key. `timeout`: seconds one request may take. `retries`:
    tries after a rate limit, an outage or a cut connection (4). `concurrency`: requests in flight (4; the local model
    is asked one by one). `shards`: files to split a round into, by case. `keep_invalid`: record answers that break
    their schema, too. `model`: who answers, where an answer names no model.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    api_key_env: str = "OPENAI_API_KEY"
    timeout: float = Field(300, ge=1)
    retries: int | None = Field(None, ge=0)
    concurrency: int | None = Field(None, ge=1)
    shards: int = Field(1, ge=1)
    keep_invalid: bool = False
    model: str | None = None


class RecordSettings(AskingSettings, SuiteSettings):
    """What `--set` changes while recording."""


class DriftSettings(AskingSettings):
    """What `--set` changes for drift. `seed`: another one draws another sample. `precision`: the change of decisions
    that must not be overlooked."""

    seed: int = Field(0, ge=0)
    precision: float = Field(0.15, ge=0.01, le=0.9)


Settings = TypeVar("Settings", bound=BaseModel)


def set_option(model: type[BaseModel]) -> Any:  # noqa: ANN401 - what typer.Option returns
    """`--set NAME=VALUE`, whose help lists the names of `model`."""
    names = [*model.model_fields, *(["any setting of a variant"] if issubclass(model, SuiteSettings) else [])]
    return typer.Option("--set", metavar="NAME=VALUE", help=f"Change a setting (repeatable): {', '.join(names)}.")


def settings(
    model: type[Settings], pairs: Iterable[str] | None, now: Settings | None = None, *, root: Path | None = None
) -> Settings:
    """The settings that `--set` gives; the others are as `now`, or by default. With `root`, those of the pack of the
    project there are known too.

    Raises:
        ConfigurationError: an unknown name, or a wrong value.
    """
    values = now.model_dump() if now else {}
    known = [*model.model_fields, *(load_pack(root=root).run_settings if root and pairs else ())]
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        name = name.replace("-", "_")
        if not equals or name not in known:
            hint = nearest_name(name, known) or (f"; known are {', '.join(known)}" if known else ", and no other")
            wrong = f"there is no setting {pair.partition('=')[0]}" if equals else "write NAME=VALUE"
            raise ConfigurationError(f"--set {pair}: {wrong}{hint}")
        values[name] = value
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigurationError(f"--set {first['loc'][0]}={first['input']}: {first['msg']}") from error


_BATCH: Final = "Without an endpoint"
Export = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Write each round of requests (JSONL) below DIR.", rich_help_panel=_BATCH),
]
Import = Annotated[
    list[Path] | None,
    typer.Option("--import", metavar="ANSWERS...", help="Read files of answers (JSONL).", rich_help_panel=_BATCH),
]
AnswerWith = Annotated[
    str | None,
    typer.Option(
        metavar="CMD",
        help="Let CMD answer all requests: it reads them on stdin, writes answers to stdout. Needs --export.",
        rich_help_panel=_BATCH,
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        help="OpenAI-compatible endpoint, with /v1. Default: the local model. "
        "Not for your own graph: set its SDK's environment variable.",
        envvar="EVALS_BASE_URL",
    ),
]
Budget = Annotated[float | None, typer.Option(min=0, metavar="USD", help="Stop before the cost could exceed this.")]
MaxRequests = Annotated[int | None, typer.Option(min=1, help="Stop after this many requests.")]
MoreAnswers = Annotated[
    list[Path] | None, typer.Argument(metavar="[ANSWERS]...", help="More answer files for --import.")
]

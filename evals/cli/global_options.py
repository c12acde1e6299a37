"""Options of `evals` itself, which go with every command: checkout, dataset, worker processes, price table."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from evals.errors import ConfigurationError
from evals.pack import COMMAND_ROOT

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
        return run or self.root / "reports/latest/run.json"


def global_options(
    context: typer.Context,
    root: Annotated[Path, typer.Option(help="The checkout to work in.")] = HERE,
    dataset: Annotated[Path | None, typer.Option(help="Another dataset, such as an imported one.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Worker processes.")] = CORES,
    prices: Annotated[Path | None, typer.Option(help="Another price table than the shipped one.")] = None,
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

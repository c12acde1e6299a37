"""Options and arguments that more than one command takes."""

import os
from pathlib import Path
from typing import Annotated

import typer

Suite = Annotated[str, typer.Argument(help="A shipped suite (starter, prompts, guards, supervisors) or a suite file.")]
Dataset = Annotated[
    Path | None, typer.Option("--dataset", help="Another dataset than the checkout's own, such as an imported one.")
]
Root = Annotated[Path, typer.Option(help="The checkout to work in.")]
Cases = Annotated[
    list[str] | None, typer.Option("--case", help="Only this case (repeatable); a part of a suite is not judged.")
]
Variants = Annotated[
    list[str] | None, typer.Option("--variant", help="Only this variant (repeatable); a part of a suite is not judged.")
]
Guards = Annotated[
    str | None, typer.Option(help="Run every variant under this guard set: none, prd, hardened, hardened-without-X.")
]
MaxIterations = Annotated[int | None, typer.Option(min=1, help="Run every variant with this iteration limit.")]
Jobs = Annotated[int, typer.Option(min=1, help="Worker processes.")]
Prices = Annotated[
    Path | None, typer.Option(help="Another price table than the shipped one, evals/recording/prices.yaml.")
]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]
CaseId = Annotated[str, typer.Argument(help="The name of the case: its folder below datasets/triage/cases.")]
CORES = os.cpu_count() or 1
HERE = Path()

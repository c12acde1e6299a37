"""Options and arguments that several commands take."""

import os
from pathlib import Path
from typing import Annotated, Final

import typer

from evals.errors import ConfigurationError

Suite = Annotated[
    str,
    typer.Argument(help="A shipped suite, such as prompts, versions, judged, supervisors or guards; or a suite file."),
]
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
Samples = Annotated[
    int | None,
    typer.Option(min=1, help="Answers per request, and trials per case and variant, in place of the suite's."),
]
OpenHoldout = Annotated[
    str | None,
    typer.Option(metavar="WHY", help="Score the held-out cases too; counted, with the reason, in the dataset."),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Run every trial again, whatever is cached.")]
TrialTimeout = Annotated[float, typer.Option(metavar="S", min=0.01, help="Seconds after which a trial has failed.")]
Scheduler = Annotated[
    str,
    typer.Option(metavar="WHERE", help="local, or dask://HOST:PORT: a Dask cluster whose workers stand in checkouts."),
]
ShardOf = Annotated[
    str | None,
    typer.Option("--shard", metavar="N/OF", help="Only this share of the trials, into a file for `evals merge`."),
]
Watch = Annotated[
    bool, typer.Option("--watch", help="Run again whenever a prompt, guard, suite, case or cassette changes.")
]
Verbose = Annotated[bool, typer.Option("--verbose", help="Print every reason, costs and violated constraints, too.")]
StoredShards = Annotated[list[Path], typer.Argument(metavar="SHARD...", help="All shards of one run.")]
Annotations = Annotated[
    bool, typer.Option("--annotations", help="Print GitHub annotations on changed prompt lines elsewhere, too.")
]
StoredRun = Annotated[Path, typer.Argument(help="A run.json.")]
Jobs = Annotated[int, typer.Option(min=1, help="Worker processes.")]
Prices = Annotated[Path | None, typer.Option(help="Another price table than the shipped one, evals/prices.yaml.")]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]
CaseId = Annotated[str, typer.Argument(help="The name of the case: its folder below datasets/triage/cases.")]
_BATCH: Final = "Without an endpoint"
Export = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Write what can be asked now as a round of JSONL below DIR.", rich_help_panel=_BATCH
    ),
]
Import = Annotated[
    list[Path] | None,
    typer.Option("--import", metavar="ANSWERS...", help="Take in files of answers (JSONL).", rich_help_panel=_BATCH),
]
Rounds = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Go round until nothing waits (--answer-with).", rich_help_panel=_BATCH),
]
AnswerWith = Annotated[
    str | None,
    typer.Option(metavar="CMD", help="Reads requests on stdin, writes answers to stdout.", rich_help_panel=_BATCH),
]
Shards = Annotated[int, typer.Option(min=1, help="Files to split a round into, by case.", rich_help_panel=_BATCH)]
KeepInvalid = Annotated[
    bool,
    typer.Option("--keep-invalid", help="Record answers that break their schema, too.", rich_help_panel=_BATCH),
]
Model = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Who answers, where an answer names no model.", rich_help_panel=_BATCH),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        help="An OpenAI-compatible endpoint, /v1 included; if not given, the local model when it is being served.",
        envvar="EVALS_BASE_URL",
    ),
]
ApiKeyEnv = Annotated[str, typer.Option(help="The environment variable that holds the key.")]
Budget = Annotated[
    float | None, typer.Option(min=0, metavar="USD", help="Stop before the request that could cost more than this.")
]
MaxRequests = Annotated[int | None, typer.Option(min=1, help="Stop after this many requests.")]
Concurrency = Annotated[
    int | None, typer.Option(min=1, help="Requests in flight: 4 if not given; the local model is asked one by one.")
]
Timeout = Annotated[float, typer.Option(min=1, help="Seconds one request may take.")]
Retries = Annotated[
    int | None,
    typer.Option(min=0, help="Tries after a rate limit, an outage or a cut connection; 4 if not given."),
]
RETRIES: Final = 4
CORES = os.cpu_count() or 1
HERE = Path()
LATEST = Path("reports/latest/run.json")


def refuse_live(**options: object) -> None:
    """Batch rounds ask nobody, so what bounds the asking would do nothing there. Raises ConfigurationError."""
    if given := [f"--{name.replace('_', '-')}" for name, value in options.items() if value is not None]:
        raise ConfigurationError(
            f"{', '.join(given)}: only where an endpoint is asked, not in batch rounds; leave it out"
        )

"""The `evals cassette` group: names, options and help texts; each command's work is in `evals.cli.commands`."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from evals.cli.options import CORES, HERE, AsJson, Dataset, Jobs, Root

cassette = typer.Typer(help="Read, check and tidy what was recorded.", no_args_is_help=True)

Recorded = Annotated[str, typer.Argument(metavar="CASE", help="The name of a case, or a cassette file.")]


@cassette.command("status")
def cassette_status_command(
    suite: Annotated[str | None, typer.Argument(help="A suite; every shipped one if not given.")] = None,
    as_json: AsJson = False,
    jobs: Jobs = CORES,
    dataset: Dataset = None,
    root: Root = HERE,
) -> int:
    """How far each trial's tape reaches; age, size and models of each cassette; what nobody asks for."""
    from evals.cli.commands.cassette_status import status

    return status(suite, root, jobs=jobs, today=datetime.now(UTC).date(), as_json=as_json, dataset=dataset)


@cassette.command("show")
def cassette_show_command(
    case: Recorded,
    variant: Annotated[str | None, typer.Option(help="The trial of this variant, in its order.")] = None,
    agent: Annotated[str | None, typer.Option(help="Only what this agent asked.")] = None,
    suite: Annotated[
        str | None, typer.Option(help="The suite that has the variant; the first shipped one if not given.")
    ] = None,
    dataset: Dataset = None,
    root: Root = HERE,
) -> int:
    """Print a cassette as a conversation: agent, prompt, answer, tokens."""
    from evals.cli.commands.cassette_show import show

    return show(case, root, variant=variant, agent=agent, suite=suite, dataset=dataset)


@cassette.command("diff")
def cassette_diff_command(
    before: Annotated[str, typer.Argument(metavar="A", help="A cassette file, or a git revision (also REV..REV).")],
    after: Annotated[str, typer.Argument(metavar="B", help="A cassette file; after a revision, the name of a case.")],
    dataset: Dataset = None,
    root: Root = HERE,
) -> int:
    """Say which interactions came, went, or were answered anew."""
    from evals.cli.commands.cassette_diff import diff

    return diff(before, after, root, dataset=dataset)


@cassette.command("verify")
def cassette_verify_command(
    case: Annotated[list[str] | None, typer.Argument(metavar="[CASE]...", help="Only these cases.")] = None,
    as_json: AsJson = False,
    dataset: Dataset = None,
    root: Root = HERE,
) -> int:
    """Check schema, counts, keys, digests, secrets, spelling and manifest; 3 if anything is wrong."""
    from evals.cli.commands.cassette_verify import verify

    return verify(root, case or (), as_json=as_json, dataset=dataset)


@cassette.command("manifest")
def cassette_manifest_command(dataset: Dataset = None, root: Root = HERE) -> int:
    """Write cassettes/manifest.jsonl anew from the cassettes that are there."""
    from evals.cli.commands.cassette_manifest import manifest

    return manifest(root, dataset=dataset)


@cassette.command("prune")
def cassette_prune_command(
    also: Annotated[
        list[str] | None, typer.Option("--also", help="A suite file of your own that needs its answers (repeatable).")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do it; without, only say what would go.")] = False,
    jobs: Jobs = CORES,
    dataset: Dataset = None,
    root: Root = HERE,
) -> int:
    """Drop what no variant of any suite asks for; only when every trial of all suites is exact."""
    from evals.cli.commands.cassette_prune import prune

    return prune(root, also or (), jobs=jobs, yes=yes, dataset=dataset)


@cassette.command("migrate")
def cassette_migrate_command(dataset: Dataset = None, root: Root = HERE) -> int:
    """Rewrite cassettes of an older schema in today's."""
    from evals.cli.commands.cassette_migrate import migrate

    return migrate(root, dataset=dataset)


@cassette.command("adopt")
def cassette_adopt_command(
    recording: Annotated[Path, typer.Argument(help="A cassette recorded by stock vcrpy or pytest-recording.")],
    case: Annotated[str, typer.Argument(help="The case whose cassette takes it in.")],
    recorded_by: Annotated[str, typer.Option(help="Who answers for it; kept with every answer.")] = "vcrpy",
    dataset: Dataset = None,
    root: Root = HERE,
) -> int:
    """Take a stock VCR recording into a case's cassette, redacted and checked like a live one."""
    from evals.cli.commands.cassette_adopt import adopt

    return adopt(recording, case, root, recorded_by=recorded_by, dataset=dataset)


@cassette.command("text")
def cassette_text_command(file: Annotated[Path, typer.Argument(help="A cassette file.")]) -> int:
    """Print a cassette file as text, for git's textconv (see `make setup-git`)."""
    from evals.cli.commands.cassette_text import text

    return text(file)


@cassette.command("merge")
def cassette_merge_command(
    base: Annotated[Path, typer.Argument(help="The common ancestor; may be empty.")],
    ours: Annotated[Path, typer.Argument(help="Our side; takes the result.")],
    theirs: Annotated[Path, typer.Argument(help="Their side.")],
    path: Annotated[str, typer.Argument(help="What git calls the file.")],
    prefer: Annotated[str | None, typer.Option(help="Settle conflicts for one side: ours or theirs.")] = None,
) -> int:
    """Join two branches' recordings of one case: git's merge driver (see `make setup-git`)."""
    from evals.cli.commands.cassette_merge import merge

    return merge(base, ours, theirs, path, prefer)

"""A command that another one calls gets its defaults as it gets them from the shell."""

import datetime

import click
from click.testing import CliRunner


@click.command()
@click.option("--since", type=click.DateTime(), default="2021-01-01")
@click.option("--keep", type=int, default="30")
def prune(since: datetime.datetime, keep: int) -> None:
    click.echo(f"{since.year} {keep + 1}")


@click.command()
@click.pass_context
def nightly(context: click.Context) -> None:
    context.invoke(prune)


alone, called = CliRunner().invoke(prune), CliRunner().invoke(nightly)
assert alone.output == "2021 31\n", alone.output
assert called.output == alone.output, repr(called.exception)

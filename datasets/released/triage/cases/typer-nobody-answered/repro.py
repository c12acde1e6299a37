"""Where the prepared answers of a test run out, the question is not answered: the command is aborted."""

import typer
from typer.testing import CliRunner

app = typer.Typer()
deleted: list[str] = []


@app.command()
def drop(table: str) -> None:
    if typer.confirm(f"Drop {table}?", default=True):
        deleted.append(table)


result = CliRunner().invoke(app, ["orders"], input="")
assert result.exit_code == 1, result.output
assert deleted == [], deleted

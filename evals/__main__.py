"""`python -m evals` is the `evals` command."""

from evals.cli.main import run

if __name__ == "__main__":
    run()

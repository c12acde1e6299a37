"""`python -m evals`: the same as the `evals` command."""

from evals.cli.main import run

if __name__ == "__main__":
    run()

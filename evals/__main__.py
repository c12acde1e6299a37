"""`python -m evals` is the `evals` command."""

from evals.entry_point import run

if __name__ == "__main__":
    run()

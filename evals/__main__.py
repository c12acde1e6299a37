"""`python -m evals` is the `evals` command."""

from evals.start import run

if __name__ == "__main__":
    run()

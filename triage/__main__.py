"""`python -m triage` is the `triage` command."""

from triage.cli import run

if __name__ == "__main__":
    run()

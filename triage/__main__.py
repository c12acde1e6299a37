"""`python -m triage` is the `triage` command."""

from triage.entry_point import run

if __name__ == "__main__":
    run()

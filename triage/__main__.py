"""`python -m triage` is the `triage` command."""

from triage.start import run

if __name__ == "__main__":
    run()

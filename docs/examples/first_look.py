# %% A suite from Python: run this file as it is, or cell by cell in an editor that knows `# %%`.
"""Replay two cases of a suite, judge them, look at the numbers as a table, and write the report."""

import tempfile
from pathlib import Path

import evals

ROOT = Path(__file__).parents[2]
CASES = ("stockroom-random-403", "coldshelf-audit-trail-lag")

# %% What is going to be run: cases, variants, and the baseline they are held against.
suite = evals.load_suite("prompts", ROOT, evals.Options(cases=CASES, variants=("v3", "v6")))

# %% Every trial offline; whoever wants to watch passes a function.
done: list[str] = []


def watch(trace: evals.Trace, *, reused: bool, total: int) -> None:
    """Told of every finished trial."""
    done.append(f"{len(done) + 1}/{total} {trace.case_id} {trace.variant}{' (reused)' if reused else ''}")


trials = evals.replay(suite, progress=watch)
print("\n".join(done))

# %% Scores, comparisons and verdict. A part of a suite is never judged green: that is said, and is no exception.
run = evals.decide(suite, trials)
print(run.verdict.status, "-", run.verdict.sentence)

# %% A row per trial and score; `by_decision=True` gives a row per decision of the supervisor.
table = run.frame()
print(table[table.scorer == "route.pass"].pivot_table(index="case", columns="variant", values="value"))

# %% Two prompts against each other.
against = evals.compare(("v3", "v6"), "prompts", ROOT, evals.Options(cases=CASES))
print(against.verdict.sentence)

# %% index.html, run.json, summary.md and junit.xml; `read_run` reads what was written.
with tempfile.TemporaryDirectory() as folder:
    evals.write_report(run, Path(folder))
    print(evals.read_run(Path(folder) / "run.json").verdict == run.verdict)

# %% What goes wrong is an exception that says what to do.
try:
    evals.load_suite("nosuch", ROOT)
except evals.EvalsError as error:
    print(error)

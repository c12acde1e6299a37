"""How a sitting ends: what it took, what was written, what is missing, and the exit code that says so."""

from collections.abc import Callable, Iterable
from pathlib import Path

from triage.account import Account
from triage.caveats import grave_caveats
from triage.errors import EXIT_OK, EXIT_UNFINISHED, EXIT_UNFOUNDED
from triage.job import Job
from triage.options import Options
from triage.plans import plan_header
from triage.prices import told
from triage.results import missing_texts, texts_of, write_results
from triage.state import BugTriageState


def summary(account: Account, seconds: float) -> str:
    """What a sitting has asked for: answered calls, tokens as the endpoint counted them, their price, time; and of each
    cap how much the whole job has used."""
    tokens_in = sum(call.tokens_in for call in account.calls)
    tokens_out = sum(call.tokens_out for call in account.calls)
    refused = f" ({len(account.refusals)} refused or lost)" if account.refusals else ""
    tokens = f"{tokens_in:,} + {tokens_out:,} tokens"
    cap = f"; {account.budget.told()}" if account.budget else ""
    return f"{len(account.calls)} calls{refused}, {tokens}, {told(account.calls)}, {seconds:.0f} s{cap}"


def close(job: Job | None, options: Options, how_to_resume: str, say: Callable[[str], None]) -> int:
    """Write what the job brought to its folder, say what it lacks; the exit code (see `triage.cli`)."""
    if job is None or not job.finished:
        say(f"waiting for an answer; {how_to_resume}")
        return EXIT_UNFINISHED
    floor, plan = options.floor(), plan_header(options.plan) if options.plan else None
    for path in write_results(Path(str(options.out)), job.state, plan, floor):
        say(f"wrote {path}")
    if missing := missing_texts(job.state):
        say(f"{_what_is_missing(job.state, missing)}{f'; {how_to_resume}' if job.unwritten else ''}")
        return EXIT_UNFINISHED
    if grave := grave_caveats(job.state, floor):
        say(too_little(grave))
        return EXIT_UNFOUNDED
    return EXIT_OK


def too_little(grave: Iterable[str]) -> str:
    """The grave caveats of a report in one line."""
    return f"the report rests on too little: {' '.join(grave)}".removesuffix(".")


def _what_is_missing(state: BugTriageState, missing: tuple[str, ...]) -> str:
    """Which texts were not written, and why."""
    failures = [failure.error for failure in state.agent_errors if failure.agent_name == "writer"]
    failures += [failure.error for failure in state.supervisor_errors]
    why = failures[-1] if failures else "the supervisor ended the job without one"
    what = "report" if texts_of(state).report is None else " and no ".join(missing)
    return f"no {what} was written ({why})"

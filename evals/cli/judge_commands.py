"""Commands on the judge: `evals judge` (how accurate it is), and what `record --judge` and `plan --judge` do."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from evals.atomic_files import write_files
from evals.cassettes.recorder import StopSignal
from evals.cli.endpoint_or_batch import (
    Asking,
    announced,
    end_of_asking,
    endpoint_of,
    finishing_on_interrupt,
    say_rounds,
)
from evals.cli.options import AsJson, given
from evals.cli.run_output import replayed
from evals.cli.terminal import bar, note, place_of, say, shown, wide_console
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK
from evals.llm_judge.judge_questions import JudgeQuestion
from evals.models.judge import JudgeCheck
from evals.models.run_request import Options
from evals.pipeline.judge_stage import (
    asking,
    bench,
    causes_of,
    checked,
    judge_effort,
    questions_by_rounds,
    record_questions,
    rubric_of,
    unanswered,
)
from evals.pipeline.load_suite import selected
from evals.pipeline.record_suite import Batch, recorder_of
from evals.pipeline.run_suite import proven
from evals.prices import load_prices
from evals.recording.batch_files import Round
from evals.recording.batch_rounds import RoundState
from evals.recording.endpoint import author
from evals.recording.plan_recording import Effort, Gatherer, MissingBecause
from evals.recording.recording_cost import Meter, priced
from evals.recording.recording_session import Settled
from evals.report.html_page import render_sheet
from evals.report.view.judge_view import check_page, notes, rests_on, sentence, tables
from evals.run_context import RunContext
from evals.shared.display_text import counted
from evals.shared.secrets.rule import hold

judging = typer.Typer()


@judging.command("judge")
def judge_command(
    context: typer.Context,
    suite: Annotated[str, typer.Argument(help="A suite with a judge: a shipped one, or a suite file.")] = "judged",
    as_json: AsJson = False,
    out: Annotated[Path | None, typer.Option(help="Folder of the page (default: reports/judge).")] = None,
) -> int:
    """Measure the judge: planted defects it sees, harmless changes it punishes, attacks that work. Sends no request.

    `evals record SUITE --judge` records the judge's missing answers. Exit codes: 0 measured, 2 the suite has no judge,
    3 answers are missing, or no report is good enough to plant defects in.
    """
    common = given(context)
    chosen = selected(suite, common.root, Options())
    rubric_of(chosen)  # a suite without a judge is said before the work, not after
    found = checked(chosen, replayed(chosen, jobs=common.jobs).traces)
    folder = out or chosen.workspace.reports / "judge"
    stored = "".join(found.pieces(indent=1)) + "\n"
    write_files(folder, {"index.html": render_sheet("judge", check_page(found)), "judge.json": stored})
    if as_json:
        print(stored, end="")
    else:
        _say(found, place_of(folder / "index.html", chosen.workspace.root))
    return EXIT_CANNOT_JUDGE if found.missing else EXIT_OK


def _say(found: JudgeCheck, report: str) -> None:
    console = wide_console()
    console.print(rests_on(found), markup=False)
    for table in tables(found):
        console.print(shown(table))
    for line in notes(found):
        console.print(line, markup=False)
    console.print(sentence(found), style="bold", markup=False)
    console.print(f"Report: {report}", markup=False)


def record_judge(chosen: RunContext, questions: Sequence[JudgeQuestion], batch: Batch, live: Asking) -> int:
    """Record what is missing of these questions; 0 when all are recorded, 3 as long as something waits, 130 when it was
    interrupted.

    Raises:
        ConfigurationError: no endpoint is named, an answer file cannot be read, or the command cannot be started.
        RecordingError: the endpoint or the command failed.
    """
    lacking = unanswered(chosen, questions)
    if not lacking:
        say(f"{chosen.suite.name}: all {len(questions)} questions to the judge are recorded.")
        return EXIT_OK
    asked = [heard.question for heard in lacking]
    return _by_rounds(chosen, asked, batch, live.timeout_s) if batch.wanted else _live(chosen, asked, live)


def record_check(name: str, root: Path, batch: Batch, live: Asking, *, jobs: int) -> int:
    """What suite and check ask the judge, recorded; the suite's trials have to be recorded.

    Raises:
        ConfigurationError, RecordingError: as `record_judge`.
    """
    chosen = selected(name, root, Options())
    traces = replayed(chosen, jobs=jobs).traces
    questions = (*asking(chosen, traces).questions, *bench(chosen, traces).questions)
    return record_judge(chosen, questions, batch, live)


def plan_check(name: str, root: Path, *, jobs: int, prices: Path | None) -> int:
    """Print what suite and check ask the judge that is not recorded; 0 when nothing is missing, else 3."""
    table = load_prices(prices)
    chosen = selected(name, root, Options())
    traces = replayed(chosen, jobs=jobs).traces
    asked, planted = asking(chosen, traces), bench(chosen, traces)
    questions = (*asked.questions, *planted.questions)
    lacking = unanswered(chosen, questions)
    if not lacking:
        say(f"Nothing is missing: all {len(questions)} questions to the judge are recorded.")
        return EXIT_OK
    say(
        f"{len(lacking)} requests to the judge are not recorded, of {len(asked.graded)} trials to grade, "
        f"{len(asked.paired)} questions about pairs, {len(planted.plants)} planted changes and {len(planted.again)} "
        "asked twice; equal ones are asked once"
    )
    for cause in causes_of(chosen, lacking):
        say(f"  {because(cause)}")
    experience = Gatherer(chosen.workspace, chosen.variants).experience([case.id for case in chosen.cases])
    say(effort(judge_effort(chosen, lacking, experience, table)))
    say(f"Record them with:\n  {chosen.record_command} --judge")
    return EXIT_CANNOT_JUDGE


def record_judged(
    name: str, root: Path, options: Options, batch: Batch, live: Asking, *, jobs: int, first: bool
) -> int | None:
    """What a suite's judge lacks, recorded once every trial is recorded; None as long as not all are. `first`: no trial
    was recorded by this command, so that nothing of a limit is spent.

    Raises:
        ConfigurationError, RecordingError: as `record_judge`.
    """
    chosen = selected(name, root, options)
    traces = replayed(chosen, jobs=jobs).traces
    if len(proven(traces)) < len(traces):
        return None
    if not first and (live.budget_usd is not None or live.max_requests is not None):
        say("The trials are recorded; the same command again goes on with the judge's questions.")
        return EXIT_CANNOT_JUDGE
    apart = batch.below("judge") if batch.answer_with else batch  # no trial's answers among them
    return record_judge(chosen, asking(chosen, traces).questions, apart, live)


def _live(chosen: RunContext, questions: Sequence[JudgeQuestion], live: Asking) -> int:
    hold(live.api_key)
    meter = Meter(load_prices(live.prices), live.budget_usd, live.max_requests)
    if live.budget_usd is not None:
        priced([chosen.suite.models], meter.prices)
    name, llm = author(live.recorded_by, chosen.workspace), endpoint_of(live, chosen.workspace)
    asked = live.options(llm)

    async def run() -> tuple[int, StopSignal]:
        with bar(f"asking the judge of {chosen.suite.name}", len(questions)) as progress:

            def told(settled: Settled) -> None:
                where = f"{settled.question.case_id} {settled.question.name}"
                if settled.error is not None:
                    progress.note(f"{where}: {settled.error}")
                progress.step(where)

            recorder = recorder_of(meter, asked, name, answered=lambda _: None, say=progress.note)
            with finishing_on_interrupt(recorder, progress):
                return await record_questions(chosen, questions, recorder, llm, live.timeout_s, told), recorder.stop

    proven, stop = asyncio.run(run())
    say(f"{chosen.suite.name}: {proven} of {len(questions)} questions to the judge were recorded ({meter}).")
    missing = len(questions) - proven
    return end_of_asking(stop, f"{missing} answers of the judge were not recorded" if missing else "")


def _by_rounds(chosen: RunContext, questions: Sequence[JudgeQuestion], batch: Batch, timeout_s: float) -> int:
    answers = batch.read(batch.answers)

    def announce(found: Round, standing: RoundState) -> None:
        announced(found, f"{standing.proven} questions are settled")

    standing, allowed = asyncio.run(
        questions_by_rounds(chosen, questions, answers, batch, timeout_s, say=note, announce=announce)
    )
    settled = f"{standing.proven} of {standing.trials} questions to the judge are settled"
    return say_rounds(batch, standing, allowed, f"{chosen.suite.name}: {settled}", "questions")


def because(cause: MissingBecause) -> str:
    """One cause on one line."""
    agents = ", ".join(f"{agent} {count}" for agent, count in cause.agents.items())
    cases = cause.cases[0] if len(cause.cases) == 1 else f"{len(cause.cases)} cases"
    missing = f"{counted(cause.requests, 'request')} ({agents}) of {', '.join(cause.variants)} in {cases}"
    return f"{cause.kind}: {cause.text} · {missing}"


def effort(found: Effort) -> str:
    """Tokens, price and time on one line."""
    if found.unpriced:
        models = ", ".join(filter(None, found.unpriced)) or "model"
        price = f"price unknown ({models} not in the price table of {found.prices_as_of}; --prices FILE)"
    else:
        price = f"{found.usd:.2f} USD by the price table of {found.prices_as_of}"
    tokens = f"About {found.input_tokens:,} tokens in and {found.output_tokens:,} out"
    return f"{tokens}; {price}; {_time(found.seconds)}."


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "time unknown (no recorded answer of this model has a latency)"
    shown = f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
    return f"about {shown}, one request after the other"

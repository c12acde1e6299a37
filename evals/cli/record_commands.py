"""Commands that plan and record: `plan`, `record`, `rounds`."""

import asyncio
import os
from collections.abc import Collection
from pathlib import Path
from typing import Annotated

import typer

from evals.cassettes.interaction import Interaction
from evals.cassettes.recorder import StopSignal
from evals.cli.endpoint_options import INTERRUPTED, at_once, finishing_on_interrupt, llm_endpoint, search_endpoint
from evals.cli.judge_terminal import because, count, effort
from evals.cli.shared_options import (
    CORES,
    HERE,
    RETRIES,
    AnswerWith,
    ApiKeyEnv,
    AsJson,
    BaseUrl,
    Budget,
    Cases,
    Concurrency,
    Dataset,
    Export,
    Guards,
    Import,
    Jobs,
    KeepInvalid,
    MaxIterations,
    MaxRequests,
    Model,
    Prices,
    Retries,
    Root,
    Rounds,
    Samples,
    Shards,
    Suite,
    Timeout,
    Variants,
    refuse_live,
)
from evals.cli.terminal import ProgressBar, VisibleConsole, bar
from evals.cli.terminal_output import replayed
from evals.errors import (
    EXIT_CANNOT_JUDGE,
    EXIT_INTERRUPTED,
    EXIT_OK,
    ConfigurationError,
    RecordingError,
    RecordingStoppedError,
)
from evals.models.case import Case
from evals.models.run_request import Options
from evals.models.suite import Variant
from evals.pipeline.load_run import selected
from evals.pipeline.plan_suite import planned
from evals.pipeline.record_suite import Batch, EndpointOptions, record_suite, recorder_of, round_by_round
from evals.pipeline.run_suite import begun, proven
from evals.prices import load_prices
from evals.recording.endpoint import TARGETS_OWN, Endpoint, author
from evals.recording.plan.plan_recording import MissingVariant, RecordingPlan
from evals.recording.recording_session import Outcome, RecordedTrial, TrialCounts
from evals.recording.rounds.round_files import Round, by_file, write_round
from evals.recording.rounds.round_loop import ATTEMPTS
from evals.recording.rounds.round_step import RoundState
from evals.recording.spend import Meter, priced
from evals.run_context import RunContext
from evals.runner.trials import TrialId
from evals.secrets.allowed_secrets import AllowedSecrets
from evals.shared.extras import missing_from
from evals.shared.secrets.rule import hold

recording = typer.Typer()


@recording.command("plan")
def plan_command(
    suite: Suite,
    guards: Guards = None,
    max_iterations: MaxIterations = None,
    case: Cases = None,
    variant: Variants = None,
    samples: Samples = None,
    dataset: Dataset = None,
    jobs: Jobs = CORES,
    prices: Prices = None,
    as_json: AsJson = False,
    root: Root = HERE,
) -> int:
    """Say what is not recorded yet and why, what recording it takes, and the command that does it."""
    options = Options(guards, max_iterations, tuple(case or ()), tuple(variant or ()), dataset, samples=samples)
    table = load_prices(prices)  # a wrong one is said before the work, not after
    chosen = selected(suite, root, options)
    found = planned(suite, chosen, replayed(chosen, jobs=jobs).traces, table)
    if as_json:
        print(found.model_dump_json(indent=2))
    else:
        _say(found)
    return EXIT_OK if found.complete else EXIT_CANNOT_JUDGE


@recording.command("record")
def record_command(
    suite: Suite,
    more_answers: Annotated[
        list[Path] | None, typer.Argument(metavar="[ANSWERS]...", help="More answer files for --import.")
    ] = None,
    base_url: BaseUrl = None,
    api_key_env: ApiKeyEnv = "OPENAI_API_KEY",
    recorded_by: Annotated[
        str | None,
        typer.Option(help="Who answers for this recording; kept with every answer. git's user.name if not given."),
    ] = None,
    budget: Budget = None,
    prices: Prices = None,
    max_requests: MaxRequests = None,
    concurrency: Concurrency = None,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Ask again for what the selected trials use, and replace it when proven.")
    ] = False,
    guards: Guards = None,
    max_iterations: MaxIterations = None,
    case: Cases = None,
    variant: Variants = None,
    samples: Samples = None,
    dataset: Dataset = None,
    timeout: Timeout = 300,
    retries: Retries = None,
    export: Export = None,
    import_: Import = None,
    rounds: Rounds = None,
    answer_with: AnswerWith = None,
    shards: Shards = 1,
    keep_invalid: KeepInvalid = False,
    model: Model = None,
    jobs: Jobs = CORES,
    root: Root = HERE,
) -> int:
    """Ask an endpoint for what is missing, and only that; then prove that it replays.

    Exits with 0 when everything asked for is recorded and replays, with 3 when the endpoint fails or a limit (--budget,
    --max-requests) is reached. Ctrl-C finishes what is under way, keeps it, exits with 130; the same command goes on.

    Without an endpoint: --export the requests as files, --import their answers, or have a command answer them.
    """
    from evals.suites.suite_files import read_suite

    options = Options(guards, max_iterations, tuple(case or ()), tuple(variant or ()), dataset, samples=samples)
    if more_answers and not import_:
        raise ConfigurationError(f"one suite at a time: {more_answers[0]} is too much (answers go to --import)")
    answers = (*(import_ or ()), *(more_answers or ()))
    batch = Batch(export, answers, rounds, answer_with, shards, keep_invalid, recorded_by, model).checked()
    tries = RETRIES if retries is None else retries
    if batch.wanted:
        refuse_live(
            base_url=None if base_url == os.environ.get("EVALS_BASE_URL") else base_url,
            budget=budget,
            prices=prices,
            max_requests=max_requests,
            concurrency=concurrency,
            refresh=refresh or None,
            retries=retries,
        )

    key = os.environ.get(api_key_env, "")

    def judged(*, first: bool) -> int | None:
        from evals.cli.judge_terminal import JudgeEndpoint, record_judged

        live = JudgeEndpoint(base_url, key, recorded_by, timeout, tries, concurrency, budget, max_requests, prices)
        return record_judged(suite, root, options, batch, live, jobs=jobs, first=first)

    asks_judge = read_suite(suite).judge is not None and not refresh
    if asks_judge and (code := judged(first=True)) is not None:
        return code
    tavily_key = os.environ.get("TAVILY_API_KEY", "")
    if batch.wanted:
        code = record_rounds(suite, root, options, batch, tavily_key=tavily_key, timeout_s=timeout, jobs=jobs)
    else:
        hold(key, tavily_key)
        chosen = selected(suite, root, options)
        meter = Meter(load_prices(prices), budget, max_requests)
        if budget is not None:
            priced([info.variant.models for info in chosen.variants], meter.prices)
        name = author(recorded_by, chosen.workspace)
        if (extra := chosen.workspace.pack.extra) and (needed := missing_from(extra)):
            raise ConfigurationError(needed)
        own = chosen.workspace.pack.own_endpoint
        if own and base_url:
            _not_for_a_target(base_url)
        llm = Endpoint(TARGETS_OWN, "") if own else llm_endpoint(base_url, key)
        on_tape = () if refresh else proven(replayed(begun(chosen), jobs=jobs).traces)
        asking = EndpointOptions(timeout, tries, at_once(llm, concurrency), refresh)
        with search_endpoint(chosen.workspace, tavily_key) as search:
            code = asyncio.run(_record(chosen, llm, search, meter, asking, name, on_tape))
    further = judged(first=False) if asks_judge and code == EXIT_OK else None
    return code if further is None else further


def _not_for_a_target(base_url: str) -> None:
    """Say that the endpoint is not used. Raises ConfigurationError where it was asked for with this very command."""
    why = "does not apply to a target, which asks the endpoint of its own settings, such as OPENAI_BASE_URL"
    if base_url != os.environ.get("EVALS_BASE_URL"):
        raise ConfigurationError(f"--base-url {why}; leave it out")
    VisibleConsole(stderr=True, soft_wrap=True).print(f"evals: EVALS_BASE_URL {why}", markup=False, highlight=False)


async def _record(
    chosen: RunContext,
    llm: Endpoint,
    search: Endpoint,
    meter: Meter,
    asking: EndpointOptions,
    recorded_by: str,
    on_tape: Collection[TrialId],
) -> int:
    samples = chosen.suite.samples
    size = len(chosen.cases) * samples * len(chosen.variants)
    with bar(f"recording {chosen.suite.name}", size - len(on_tape)) as progress:

        def told(case: Case, variant: Variant, sample: int, outcome: Outcome) -> None:
            which = f" sample {sample + 1}" if samples > 1 else ""
            _tell(progress, f"{case.id} {variant.name}{which}", outcome)

        def answered(answer: Interaction) -> None:
            progress.say(f"{meter} · {_spoken(answer)}")

        recorder = recorder_of(meter, asking, recorded_by, answered=answered, say=progress.note)
        with finishing_on_interrupt(recorder, progress):
            tally = await record_suite(chosen, recorder, llm, search, asking, on_tape=on_tape, told=told)
    return _concluded(chosen, tally, meter, llm, recorder.stop)


def _concluded(chosen: RunContext, tally: TrialCounts, meter: Meter, llm: Endpoint, stop: StopSignal) -> int:
    """The last lines, and the exit code or error that goes with them."""
    if tally.proven or meter.answers:
        source = "the target's endpoint" if llm.base_url == TARGETS_OWN else llm.base_url
        VisibleConsole(soft_wrap=True).print(
            f"Recorded {chosen.suite.name}: {tally.proven} of {tally.planned} trials replay exactly, {meter.answers} "
            f"new answers from {source} ({meter}).",
            highlight=False,
        )
    if stop.reason is INTERRUPTED:
        return EXIT_INTERRUPTED
    if stop.reason is not None:
        raise stop.reason
    if tally.failed:
        raise RecordingError(f"{tally.failed} trials were not recorded; what was answered is kept, run it again")
    return EXIT_OK


def _tell(progress: ProgressBar, where: str, outcome: Outcome) -> None:
    """One line per trial; why everything stopped is said once, at the end."""
    if isinstance(outcome, RecordedTrial):
        answers = f"{outcome.asked + outcome.reused} answers, {outcome.asked} of them not recorded before"
        progress.note(f"{where}: {' '.join(outcome.trace.route)} ({answers})")
    elif not isinstance(outcome, RecordingStoppedError):
        progress.note(f"{where}: {outcome}")
    progress.step(where)


def _spoken(answer: Interaction) -> str:
    tokens = answer.usage.prompt_tokens + answer.usage.completion_tokens
    return f"{answer.agent}: {tokens} tokens in {answer.latency_ms / 1000:.0f} s"


def record_rounds(
    name: str, root: Path, options: Options, batch: Batch, *, tavily_key: str, timeout_s: float, jobs: int
) -> int:
    """Take answers in, and say or write what is asked next; 0 when nothing is, 3 as long as something waits.

    Raises:
        ConfigurationError: an answer file cannot be read, or the answering command cannot be started.
        RecordingError: the answering command failed.
    """
    hold(tavily_key)
    answers = batch.read(batch.answers)  # before anything is run: a misspelled file is no empty one
    chosen = selected(name, root, options)
    on_tape = proven(replayed(begun(chosen), jobs=jobs).traces)
    with search_endpoint(chosen.workspace, tavily_key) as search:
        standing, allowed = asyncio.run(
            round_by_round(chosen, answers, batch, search, timeout_s, on_tape=on_tape, say=_note, announce=_announce)
        )
    return _conclude(chosen, batch, standing, allowed)


def _conclude(chosen: RunContext, batch: Batch, standing: RoundState, allowed: AllowedSecrets) -> int:
    taken = f"{standing.taken} new answers" + (
        f", {standing.known_before} on record before" if standing.known_before else ""
    )
    _print(f"{chosen.suite.name}: {standing.proven} of {standing.trials} trials replay exactly ({taken}).")
    if standing.failed:
        _print(f"{standing.failed} trials failed, see above; what was answered is kept, run it again.")
    if standing.pending:
        _print_next(batch, standing, allowed)
    return EXIT_CANNOT_JUDGE if standing.failed or standing.waiting else EXIT_OK


def _print_next(batch: Batch, standing: RoundState, allowed: AllowedSecrets) -> None:
    wait = f"{standing.waiting} trials wait for {len(standing.pending)} answers"
    if batch.rounds:
        _print(f"{wait}: each was asked {ATTEMPTS} times, and no answer could be used.")
    elif batch.export:
        found = write_round(batch.export, standing.pending, batch.shards, allowed)
        files = ", ".join(f"{name} ({count})" for name, count in sorted(by_file(found).items()))
        _print(
            f"{wait}; round {found.number} asks for them in {found.folder}: {files}.\n"
            "Next: the same command again, with --import and the files that answer them."
        )
    else:
        _print(f"{wait}; --export DIR writes the requests.")


def _announce(found: Round, standing: RoundState) -> None:
    files = by_file(found)
    shards = f" in {len(files)} shards" if len(files) > 1 else ""
    _note(
        f"round {found.number}: {files.total()} requests{shards}; "
        f"{standing.proven} of {standing.trials} trials replay exactly"
    )


def _print(text: str) -> None:
    VisibleConsole(soft_wrap=True).print(text, highlight=False, markup=False)


def _note(text: str) -> None:
    VisibleConsole(stderr=True, soft_wrap=True).print(text, highlight=False, markup=False)


def _say(found: RecordingPlan) -> None:
    console = VisibleConsole(soft_wrap=True, highlight=False)
    for error in found.broken:
        console.print(f"cannot be replayed: {error}", markup=False)
    if found.complete:
        console.print(f"Nothing is missing: all {found.trials} trials of {found.suite} are recorded.")
    for item in found.variants:
        console.print(_lack(item), markup=False)
    if found.judge:
        console.print(f"judge: {count(found.judge, 'request')} about recorded trials are unanswered", markup=False)
    for cause in found.causes:
        console.print(f"  {because(cause)}", markup=False)
    if found.held_out:
        console.print(f"Held out, recorded too: {', '.join(found.held_out)}.", markup=False)
    if found.variants or found.judge:
        console.print(_known(found), markup=False)
        if found.effort:
            console.print(effort(found.effort), markup=False)
        console.print(f"Record them with:\n  {found.command}", markup=False)


def _lack(item: MissingVariant) -> str:
    points = f", {item.points} decision points are unanswered" if item.points else ""
    return f"{item.variant}: {item.off_tape} of {item.trials} trials are not recorded{points}"


def _known(found: RecordingPlan) -> str:
    """The estimate is never less than what is known."""
    known = f"{count(found.known, 'distinct request')} known now"
    if found.effort is None:
        return f"{known}; more follow once these are answered. Nothing is recorded to estimate how many."
    cases = count(found.effort.based_on, "recorded case")
    if not found.variants:
        return f"{known}, and none follows from them (estimated from {cases})."
    in_all = found.effort.requests + found.effort.searches
    return f"{known}, about {in_all} in all once these are answered (estimated from {cases})."

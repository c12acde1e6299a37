"""Commands that plan and record: `plan`, `record`."""

import asyncio
import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from evals.cassettes.cassette_data import Interaction
from evals.cli.endpoint_or_batch import (
    Asking,
    announced,
    batch_of,
    end_of_asking,
    finishing_on_interrupt,
    llm_endpoint,
    refuse_live,
    say_rounds,
    search_endpoint,
)
from evals.cli.judge_commands import because, effort, plan_check, record_check, record_judged
from evals.cli.options import (
    AnswerWith,
    AsJson,
    AskJudge,
    BaseUrl,
    Budget,
    Cases,
    Export,
    Import,
    MaxRequests,
    MoreAnswers,
    RecordSettings,
    Repeat,
    Suite,
    SuiteSettings,
    Variants,
    given,
    set_option,
    settings,
)
from evals.cli.run_output import replayed
from evals.cli.terminal import ProgressBar, bar, note, say
from evals.errors import (
    EXIT_CANNOT_JUDGE,
    EXIT_OK,
    ConfigurationError,
    RecordingStoppedError,
)
from evals.models.case import Case
from evals.models.run_request import Options
from evals.models.suite import Variant
from evals.pipeline.decisive_step import forced_trials
from evals.pipeline.load_suite import loaded, selected, to_be_run
from evals.pipeline.record_suite import Batch, EndpointOptions, planned, record_suite, recorder_of, round_by_round
from evals.pipeline.run_suite import begun, proven
from evals.prices import load_prices
from evals.recording.batch_files import Round
from evals.recording.batch_rounds import RoundState
from evals.recording.endpoint import TARGETS_OWN, Endpoint, author
from evals.recording.plan_recording import MissingVariant, RecordingPlan
from evals.recording.recording_cost import Meter, priced
from evals.recording.recording_session import Outcome, RecordedTrial
from evals.run_context import RunContext
from evals.runner.trials import TrialId
from evals.shared.command_lifecycle import missing_from
from evals.shared.display_text import counted
from evals.shared.secrets.rule import hold
from evals.suites.suite_files import read_suite

if TYPE_CHECKING:
    from evals.pipeline.record_until_verdict import VerdictWatch

recording = typer.Typer()


@recording.command("plan")
def plan_command(
    context: typer.Context,
    suite: Suite,
    case: Cases = None,
    variant: Variants = None,
    repeat: Repeat = None,
    changed: Annotated[list[str] | None, set_option(SuiteSettings)] = None,
    judge: AskJudge = False,
    as_json: AsJson = False,
) -> int:
    """List missing answers, why they are missing, what recording them would take, and the command for it."""
    common = given(context, dataset=not judge)
    if judge:
        _refuse_beside("--judge", _JUDGE, case=case, variant=variant, repeat=repeat, set=changed, json=as_json)
        return plan_check(suite, common.root, jobs=common.jobs, prices=common.prices)
    asked = settings(SuiteSettings, changed, root=common.root)
    options = _options(asked, case, variant, common.dataset, repeat)
    table = load_prices(common.prices)  # a wrong one is said before the work, not after
    chosen = selected(suite, common.root, options)
    found = planned(suite, chosen, replayed(chosen, jobs=common.jobs).traces, table)
    if as_json:
        print(found.model_dump_json(indent=2))
    else:
        _say(found)
    return EXIT_OK if found.complete else EXIT_CANNOT_JUDGE


@recording.command("record")
def record_command(
    context: typer.Context,
    suite: Suite,
    more_answers: MoreAnswers = None,
    case: Cases = None,
    variant: Variants = None,
    repeat: Repeat = None,
    changed: Annotated[list[str] | None, set_option(RecordSettings)] = None,
    judge: AskJudge = False,
    refresh: Annotated[bool, typer.Option("--refresh", help="Ask again for all answers that trials use.")] = False,
    forced: Annotated[bool, typer.Option("--forced", help="Record answers that `run --decisive` needs.")] = False,
    base_url: BaseUrl = None,
    budget: Budget = None,
    max_requests: MaxRequests = None,
    until_judged: Annotated[
        bool, typer.Option("--until-judged", help="Stop once the missing answers cannot change the verdict.")
    ] = False,
    recorded_by: Annotated[str | None, typer.Option(help="Who recorded it (default: git's user.name).")] = None,
    export: Export = None,
    import_: Import = None,
    answer_with: AnswerWith = None,
) -> int:
    """Record the missing answers from an endpoint, and check that they replay.

    Exit codes: 0 all is recorded and replays, 3 the endpoint failed or a limit (--budget, --max-requests) was reached,
    130 interrupted by Ctrl-C: recorded answers are kept, and the same command continues.

    Without an endpoint: --export the requests as files, --import their answers, or have a command answer them.

    Example: evals record prompts --until-judged --budget 5
    """
    common = given(context, dataset=not judge)
    asked = settings(RecordSettings, changed, root=common.root)
    root, prices = common.root, common.prices
    options = _options(asked, case, variant, common.dataset, repeat)
    batch = batch_of(asked, export, import_, more_answers, answer_with, recorded_by)
    live = Asking.of(asked, base_url, budget, max_requests, prices, recorded_by)
    if until_judged:
        others: dict[str, object] = {"case": case, "variant": variant, "export": export, "import": import_}
        others |= {"judge": judge, "refresh": refresh, "forced": forced}
        _refuse_beside("--until-judged", "an endpoint is asked about the whole suite", **others)
    if batch.wanted:
        refuse_live(asked, base_url, budget=budget, prices=prices, max_requests=max_requests, refresh=refresh)
    if judge:
        _refuse_beside("--judge", _JUDGE, case=case, variant=variant, repeat=repeat, refresh=refresh, forced=forced)
        return record_check(suite, root, batch, live, jobs=common.jobs)
    if forced and refresh:
        raise ConfigurationError("--refresh and --forced: a forced choice has no old answer; leave one out")
    asks_judge = read_suite(suite, root).judge is not None and not refresh and not forced

    def judged(*, first: bool) -> int | None:
        return record_judged(suite, root, options, batch, live, jobs=common.jobs, first=first) if asks_judge else None

    if (code := judged(first=True)) is not None:
        return code
    tavily_key = os.environ.get("TAVILY_API_KEY", "")
    chosen = selected(suite, root, options)
    chosen = replace(chosen, request=replace(chosen.request, jobs=common.jobs, decisive=forced))
    if batch.wanted:
        code = record_rounds(chosen, batch, tavily_key=tavily_key, timeout_s=live.timeout_s)
    else:
        code = _record_live(chosen, live, tavily_key, refresh=refresh, until_judged=until_judged)
    further = judged(first=False) if code == EXIT_OK else None
    return code if further is None else further


def _options(
    asked: SuiteSettings,
    case: list[str] | None,
    variant: list[str] | None,
    dataset: Path | None,
    repeat: int | None,
) -> Options:
    narrowed = tuple(case or ()), tuple(variant or ())
    return Options(asked.of_variants, *narrowed, dataset, samples=repeat)


_JUDGE: Final = "the judge is asked about the whole suite"


def _refuse_beside(option: str, why: str, **others: object) -> None:
    """Raises ConfigurationError for another option that `option` would leave unread."""
    if named := [f"--{name}" for name, value in others.items() if value]:
        raise ConfigurationError(f"{named[0]} and {option}: {why}; leave one out")


def _record_live(chosen: RunContext, live: Asking, tavily_key: str, *, refresh: bool, until_judged: bool) -> int:
    hold(live.api_key, tavily_key)
    meter = Meter(load_prices(live.prices), live.budget_usd, live.max_requests)
    if live.budget_usd is not None:
        priced([info.variant.models for info in chosen.variants], meter.prices)
    name = author(live.recorded_by, chosen.workspace)
    if (extra := chosen.workspace.pack.extra) and (needed := missing_from(extra)):
        raise ConfigurationError(needed)
    own = chosen.workspace.pack.own_endpoint
    if own and live.base_url and chosen.suite.judge is None:
        _not_for_a_target(live.base_url)
    watch: VerdictWatch | None = None
    skip: Collection[TrialId] = ()
    if until_judged:
        from evals.pipeline import record_until_verdict as until

        chosen = loaded(chosen)
        watch = until.VerdictWatch(chosen, replayed(chosen, jobs=chosen.request.jobs))
        chosen, skip = replace(chosen, cases=watch.cases), watch.not_asked
    elif not refresh:
        chosen, skip = _left_to_record(chosen)
        trials = len(chosen.cases) * chosen.suite.samples * len(chosen.variants)
        if not own and not live.base_url and len(skip) == trials:
            say(f"Nothing is missing: all {trials} trials of {chosen.suite.name} are recorded.")
            return EXIT_OK
    llm = Endpoint(TARGETS_OWN, "") if own else llm_endpoint(live.base_url, live.api_key)
    asking = live.options(llm, refresh=refresh)
    with search_endpoint(chosen.workspace, tavily_key) as search:
        return asyncio.run(_record(chosen, llm, search, meter, asking, name, skip, watch))


def _left_to_record(chosen: RunContext) -> tuple[RunContext, Collection[TrialId]]:
    """What is to be recorded, and which of its trials are already, or are not to be."""
    jobs = chosen.request.jobs
    if chosen.request.decisive:
        chosen = forced_trials(chosen, replayed(begun(to_be_run(chosen)), jobs=jobs).traces)
    return chosen, chosen.skipped | proven(replayed(begun(chosen), jobs=jobs).traces)


def _not_for_a_target(base_url: str) -> None:
    """Say that the endpoint is not used. Raises ConfigurationError where it was asked for with this very command."""
    why = "does not apply to a target, which asks the endpoint of its own settings, such as OPENAI_BASE_URL"
    if base_url != os.environ.get("EVALS_BASE_URL"):
        raise ConfigurationError(f"--base-url {why}; leave it out")
    note(f"evals: EVALS_BASE_URL {why}")


async def _record(
    chosen: RunContext,
    llm: Endpoint,
    search: Endpoint,
    meter: Meter,
    asking: EndpointOptions,
    recorded_by: str,
    skip: Collection[TrialId],
    watch: "VerdictWatch | None",
) -> int:
    samples = chosen.suite.samples
    size = len(chosen.cases) * samples * len(chosen.variants)
    with bar(f"recording {chosen.suite.name}", size - len(skip)) as progress:

        def told(case: Case, variant: Variant, sample: int, outcome: Outcome) -> None:
            which = f" sample {sample + 1}" if samples > 1 else ""
            _tell(progress, f"{case.id} {variant.name}{which}", outcome)
            if watch and isinstance(outcome, RecordedTrial) and watch.heard(outcome.trace):
                recorder.stop.set(watch.REASON)

        def answered(answer: Interaction) -> None:
            progress.say(f"{meter} · {_spoken(answer)}")

        recorder = recorder_of(meter, asking, recorded_by, answered=answered, say=progress.note)
        with finishing_on_interrupt(recorder, progress):
            tally = await record_suite(chosen, recorder, llm, search, asking, skip=skip, told=told)
    if tally.proven or meter.answers:
        source = "the target's endpoint" if llm.base_url == TARGETS_OWN else llm.base_url
        say(
            f"Recorded {chosen.suite.name}: {tally.proven} of {tally.planned} trials replay exactly, {meter.answers} "
            f"new answers from {source} ({meter})."
        )
    if watch:
        say(str(watch))
        if watch.is_judged:
            return EXIT_OK
    return end_of_asking(recorder.stop, f"{counted(tally.failed, 'trial')} not recorded" if tally.failed else "")


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


def record_rounds(chosen: RunContext, batch: Batch, *, tavily_key: str, timeout_s: float) -> int:
    """Take answers in, and say or write what is asked next; 0 when nothing is, 3 as long as something waits.

    Raises:
        ConfigurationError: an answer file cannot be read, or the answering command cannot be started.
        RecordingError: the answering command failed.
    """
    hold(tavily_key)
    answers = batch.read(batch.answers)  # before anything is run: a misspelled file is no empty one
    chosen, skip = _left_to_record(chosen)
    with search_endpoint(chosen.workspace, tavily_key) as search:
        standing, allowed = asyncio.run(
            round_by_round(chosen, answers, batch, search, timeout_s, skip=skip, say=note, announce=_announce)
        )
    exact = f"{standing.proven} of {standing.trials} trials replay exactly"
    return say_rounds(batch, standing, allowed, f"{chosen.suite.name}: {exact}", "trials")


def _announce(found: Round, standing: RoundState) -> None:
    announced(found, f"{standing.proven} of {standing.trials} trials replay exactly")


def _say(found: RecordingPlan) -> None:
    for error in found.broken:
        say(f"cannot be replayed: {error}")
    if found.complete:
        say(f"Nothing is missing: all {found.trials} trials of {found.suite} are recorded.")
    for item in found.variants:
        say(_lack(item))
    if found.judge:
        say(f"judge: {counted(found.judge, 'request')} about recorded trials are unanswered")
    for cause in found.causes:
        say(f"  {because(cause)}")
    if found.held_out:
        say(f"Held out, recorded too: {', '.join(found.held_out)}.")
    if found.variants or found.judge:
        say(_known(found))
        if found.effort:
            say(effort(found.effort))
        say("Record them with:")
        say(f"  {found.command}", whole=True)


def _lack(item: MissingVariant) -> str:
    points = f", {item.points} decision points are unanswered" if item.points else ""
    return f"{item.variant}: {item.off_tape} of {item.trials} trials are not recorded{points}"


def _known(found: RecordingPlan) -> str:
    """The estimate is never less than what is known."""
    known = f"{counted(found.known, 'distinct request')} known now"
    if found.effort is None:
        return f"{known}; more follow once these are answered. Nothing is recorded to estimate how many."
    cases = counted(found.effort.based_on, "recorded case")
    if not found.variants:
        return f"{known}, and none follows from them (estimated from {cases})."
    in_all = found.effort.requests + found.effort.searches
    return f"{known}, about {in_all} in all once these are answered (estimated from {cases})."

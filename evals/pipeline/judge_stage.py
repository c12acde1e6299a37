"""The judge of a suite: what it is asked, what of that is not recorded, and recording its answers."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evals.application_pack import PromptFile
from evals.cassettes import manifest
from evals.cassettes.cassette_data import Cassette, texts_of
from evals.cassettes.cassette_files import load
from evals.cassettes.event_loop_thread import Apart
from evals.cassettes.recorder import Recorder
from evals.errors import CannotJudgeError, ConfigurationError
from evals.llm_judge.grade_statistics import Graded, Paired, graded, paired, position
from evals.llm_judge.judge_questions import JudgeCheckSet, JudgeQuestion, JudgeReply, Rubric, missing, replayed
from evals.llm_judge.judge_summary import judgement
from evals.llm_judge.planted_accuracy import Measured, other_judge, with_judgement
from evals.models.judge import AGENT, BlessedJudge, JudgeCheck, JudgedRun
from evals.models.run import Reason, Run
from evals.models.trace import Provenance, Trace
from evals.pipeline.record_suite import Announce, Batch
from evals.prices import PriceTable
from evals.recording.batch_files import Answers, BatchWire
from evals.recording.batch_rounds import JudgeFrontier, RoundState, Say
from evals.recording.coverage import asked_for
from evals.recording.endpoint import Endpoint, OpenAIWire, author
from evals.recording.miss_causes import IssueText, MissEvidence
from evals.recording.plan_recording import Effort, Missed, MissingBecause, RecordingPlan, by_cause, effort_for
from evals.recording.recording_cost import Experience, Need, experience_of
from evals.recording.recording_session import JudgeSession, Settled, by_case
from evals.recording.unusable_answers import FailuresInARow
from evals.run_context import RunContext
from evals.runner.trial_cache import digest_of_replaced
from evals.secret_filter import AllowedSecrets
from evals.workspace import Workspace


@dataclass(frozen=True)
class JudgeRequests:
    """Everything a suite asks its judge about finished trials."""

    graded: tuple[Graded, ...]
    paired: tuple[Paired, ...]

    @property
    def questions(self) -> tuple[JudgeQuestion, ...]:
        """All of them, the rubric's first."""
        return (*(item.question for item in self.graded), *(item.question for item in self.paired))


def rubric_of(chosen: RunContext) -> Rubric:
    """What the suite asks its judge.

    Raises:
        ConfigurationError: the suite names no rubric, or one there is not.
    """
    suite, place = chosen.suite, chosen.workspace
    if suite.judge is None:
        raise ConfigurationError(f"suite {suite.name} asks no judge: write `judge: v1` into it, or name another")
    return place.pack.rubric(suite.judge, place.root)


def asking(chosen: RunContext, traces: Sequence[Trace]) -> JudgeRequests:
    """What the suite asks about these trials."""
    rubric, suite = rubric_of(chosen), chosen.suite
    return JudgeRequests(
        graded(rubric, chosen.by_id, traces),
        paired(rubric, chosen.by_id, traces, suite.candidate, suite.reference),
    )


def bench(chosen: RunContext, traces: Sequence[Trace]) -> JudgeCheckSet:
    """What the check asks: planted in the reports of the reference, which an edit to the candidate leaves alone.

    Raises:
        CannotJudgeError: there is no good report to break.
    """
    mine = [trace for trace in traces if trace.variant == chosen.suite.reference]
    return rubric_of(chosen).check_set(chosen.by_id, mine)


def answers(chosen: RunContext, questions: Sequence[JudgeQuestion]) -> dict[JudgeQuestion, JudgeReply]:
    """What the tape has to each question. Raises CassetteError if it cannot be trusted."""
    return dict(zip(questions, replayed(questions, chosen.workspace, chosen.suite.models), strict=True))


def unanswered(chosen: RunContext, questions: Sequence[JudgeQuestion]) -> tuple[JudgeReply, ...]:
    """Those of the questions that nobody has answered, equal ones once."""
    lacking = missing(answers(chosen, questions).values())
    return tuple({(one.miss.key, one.question.sample): one for one in lacking if one.miss}.values())


def judge_asked_for(chosen: RunContext, traces: Sequence[Trace]) -> dict[str, set[str]]:
    """The keys of all that suite and check ask the judge, by case; of what has no answer, too."""
    asked: dict[str, set[str]] = {}
    for question, heard in answers(chosen, _all_questions(chosen, traces)).items():
        keys = asked.setdefault(question.case_id, set())
        keys.update(served.key for served in heard.served)
        keys.update((heard.miss.key,) if heard.miss else ())
    return asked


def _all_questions(chosen: RunContext, traces: Sequence[Trace]) -> tuple[JudgeQuestion, ...]:
    check = _bench_of_whole(chosen, traces)
    return (*asking(chosen, traces).questions, *(check.questions if check else ()))


def judged(run: Run, chosen: RunContext, traces: Sequence[Trace]) -> JudgedRun:
    """The run with what the suite's judge says of it, from the tape."""
    asked, model, rubric = asking(chosen, traces), chosen.suite.models.of(AGENT), rubric_of(chosen)
    check = _bench_of_whole(chosen, traces)
    heard = answers(chosen, (*asked.questions, *(check.questions if check else ())))
    measured = Measured(rubric, check, heard).reliability() if check else ()
    blessed = BlessedJudge.of(chosen.baseline)
    said = judgement(run, rubric, model, asked.graded, asked.paired, heard, measured)
    reasons = other_judge(blessed, said, chosen.bless_command)
    if blessed and not reasons:
        said = judgement(run, rubric, model, asked.graded, asked.paired, heard, measured, blessed)
    paths = [chosen.workspace.judge_cassette(case.id) for case in chosen.cases] if not said.missing else []
    replayed = {path.name: digest_of_replaced(path) for path in paths if path.exists()}
    others = manifest.unlisted(chosen.workspace.judge_cassettes, replayed) if replayed else ()
    reasons += [Reason(kind="partial run", text=f"judge: {text}") for text in others]
    return with_judgement(run, said, chosen.record_command, reasons)


def checked(chosen: RunContext, traces: Sequence[Trace]) -> JudgeCheck:
    """How far the suite's judge can be trusted, from the tape.

    Raises:
        CannotJudgeError: there is no good report to break.
    """
    asked, material, rubric = asking(chosen, traces), bench(chosen, traces), rubric_of(chosen)
    pairs = tuple(item.question for item in asked.paired)
    questions = (*material.questions, *pairs)
    heard = answers(chosen, questions)
    measured = Measured(rubric, material, heard)
    found = JudgeCheck(
        suite=chosen.suite.name,
        variant=chosen.suite.reference,
        version=rubric.prompts.version,
        model=chosen.suite.models.of(AGENT),
        asked=len(questions),
        missing=sum(one.answer is None for one in heard.values()),
        originals=len(material.originals),
        grades=measured.grades(),
        defects=measured.defects(),
        rewordings=measured.rewordings(),
        attacks=measured.attacks(),
        agreements=measured.agreements(),
        position=position(asked.paired, heard, _lengths(chosen, traces)),
        reliability=measured.reliability(),
    )
    return found.sealed()


def _bench_of_whole(chosen: RunContext, traces: Sequence[Trace]) -> JudgeCheckSet | None:
    """The check's material, if the reference's trials are all there: in fewer, other things would be planted."""
    mine = [trace for trace in traces if trace.variant == chosen.suite.reference]
    if chosen.options.partial or not all(trace.provenance.label == "exact" for trace in mine):
        return None
    try:
        return bench(chosen, traces)
    except CannotJudgeError:
        return None  # nothing to break: the grades are shown, and were not measured


def _lengths(chosen: RunContext, traces: Sequence[Trace]) -> dict[tuple[str, str], int]:
    """Characters of what each first trial wrote, as the judge is shown it."""
    rubric = rubric_of(chosen)
    found = ((trace, rubric.dossier(chosen.by_id[trace.case_id], trace)) for trace in traces if not trace.sample)
    return {(trace.case_id, trace.variant): rubric.length(dossier) for trace, dossier in found if dossier}


async def record_questions(
    chosen: RunContext,
    questions: Sequence[JudgeQuestion],
    recorder: Recorder,
    llm: Endpoint,
    timeout_s: float,
    told: Callable[[Settled], None],
) -> int:
    """Ask the endpoint every question that is not recorded; how many are proven. `told` hears of each.

    Raises:
        CassetteError: a cassette cannot be trusted.
    """
    recorder.apart = apart = Apart()
    session = JudgeSession(chosen.workspace, recorder, OpenAIWire(llm), chosen.suite.models, timeout_s)
    proven, in_a_row = 0, FailuresInARow(recorder.stop)
    try:
        for case, mine in by_case(questions).items():
            if recorder.stop.reason:
                break
            for settled in await session.record_case(case, mine):
                proven += settled.error is None
                in_a_row.count(settled.error)
                told(settled)
    finally:
        await session.close()
        apart.end()
    return proven


async def questions_by_rounds(
    chosen: RunContext,
    questions: Sequence[JudgeQuestion],
    answers: Answers,
    batch: Batch,
    timeout_s: float,
    *,
    say: Say,
    announce: Announce,
) -> tuple[RoundState, AllowedSecrets]:
    """Take answers in, and go on as long as a command gives more; where that leaves the questions, and what may go out.

    Raises:
        ConfigurationError: the answering command cannot be started.
        RecordingError: it failed.
    """
    wire = BatchWire()
    recorder = batch.recorder(author(batch.recorded_by, chosen.workspace), slots=asyncio.Semaphore(1))
    session = JudgeSession(chosen.workspace, recorder, wire, chosen.suite.models, timeout_s)
    frontier = JudgeFrontier(chosen.workspace, wire, say, questions, session)
    try:
        standing = await batch.advance(frontier, answers, announce)
    finally:
        await session.close()
    return standing, frontier.allowed


def asked_in(
    found: Sequence[tuple[RunContext, Sequence[Trace]]], workspace: Workspace
) -> dict[Path, dict[str, set[str]]]:
    """The keys of all that replayed suites ask, by folder of cassettes, then by case.

    Of a judge's check only where the trials it plants in are exact.
    """
    judge: dict[str, set[str]] = {}
    for chosen, traces in found:
        if chosen.suite.judge is not None:
            for case, keys in judge_asked_for(chosen, traces).items():
                judge.setdefault(case, set()).update(keys)
    return {
        workspace.cassettes: asked_for(trace for _, traces in found for trace in traces),
        workspace.judge_cassettes: judge,
    }


def with_judge(
    found: RecordingPlan, chosen: RunContext, traces: Sequence[Trace], experience: Experience, prices: PriceTable
) -> RecordingPlan:
    """The plan with what the suite's judge has not been asked about the trials that are recorded."""
    lacking = unanswered(chosen, asking(chosen, traces).questions)
    if not lacking:
        return found
    return found.model_copy(
        update={
            "causes": (*found.causes, *causes_of(chosen, lacking)),
            "known": found.known + len(lacking),
            "judge": len(lacking),
            "effort": found.effort or judge_effort(chosen, lacking, experience, prices),
            "command": found.command or chosen.record_command,
        }
    )


def causes_of(chosen: RunContext, lacking: Sequence[JudgeReply]) -> tuple[MissingBecause, ...]:
    """Why these questions have no recorded answer; who asks is called by the name of its question."""
    place, tapes = chosen.workspace, dict[str, Cassette]()
    files = tuple(
        PromptFile(
            _shown(prompt.path, place.root), prompt.lines or tuple(prompt.path.read_text(encoding="utf-8").splitlines())
        )
        for prompt in rubric_of(chosen).prompts.files
    )
    found = []
    for heard in lacking:
        case = heard.question.case_id
        tapes.setdefault(case, load(place.judge_cassette(case)))
        if heard.miss is not None:
            found.append(Missed.explained(_evidence(heard, tapes[case], files)))
    return by_cause(found)


def judge_effort(
    chosen: RunContext, lacking: Sequence[JudgeReply], experience: Experience, prices: PriceTable
) -> Effort:
    """What asking them takes: all of it is known, since no question follows from another's answer. What asking took so
    far, the judge's own recordings say."""
    misses = [heard.miss for heard in lacking if heard.miss is not None]
    characters = sum(miss.characters for miss in misses)
    need = Need(AGENT, chosen.suite.models.of(AGENT), len(misses), characters, float(len(misses)))
    own = experience_of(load(path) for path in sorted(chosen.workspace.judge_cassettes.glob("*.yaml"))[:12])
    if AGENT in own.by_asker:
        experience = replace(experience, by_asker={**experience.by_asker, **own.by_asker})
    return effort_for([need], experience, prices)


def _evidence(heard: JudgeReply, tape: Cassette, files: tuple[PromptFile, ...]) -> MissEvidence:
    question, miss = heard.question, heard.miss
    assert miss is not None  # noqa: S101 - as the caller has seen
    nearest = miss.nearest
    return MissEvidence(
        trace=Trace(
            case_id=question.case_id,
            variant=question.name,
            sample=question.sample,
            provenance=Provenance(label="unrecorded"),
        ),
        miss=miss,
        recorded=next((found for found in tape.interactions if nearest and found.key == nearest.key), None),
        tape="\n".join(text for found in tape.interactions for text in texts_of(found.request)),
        walked=frozenset(),
        frozen=True,
        issue=IssueText("", ()),
        prompt=None,
        workers=sorted(files, key=lambda file: not file.path.endswith(question.prompt.path.name)),
        versions={},
    )


def _shown(path: Path, root: Path) -> str:
    resolved = path.resolve()
    return (
        resolved.relative_to(root).as_posix()
        if resolved.is_relative_to(root)
        else f"judge/{path.parent.name}/{path.name}"
    )

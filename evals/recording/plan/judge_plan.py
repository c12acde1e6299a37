"""Missing requests of a judge, with causes and cost."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from evals.cassettes.interaction import Cassette, texts_of
from evals.cassettes.store import load
from evals.llm_judge.questions import JudgeReply, Prompts
from evals.models.judge import AGENT
from evals.models.trace import Provenance, Trace
from evals.pack import PromptFile
from evals.recording.plan.cost_estimate import Experience, Need, experience_of
from evals.recording.plan.miss_causes import IssueText, MissEvidence
from evals.recording.plan.plan_recording import Missed
from evals.workspace import Workspace

_ISSUE = IssueText("", ())


def judge_missed(lacking: Sequence[JudgeReply], prompts: Prompts, workspace: Workspace) -> list[Missed]:
    """Every miss with its cause; who asks is called by the name of its question."""
    files = tuple(
        PromptFile(
            _shown(prompt.path, workspace.root),
            prompt.lines or tuple(prompt.path.read_text(encoding="utf-8").splitlines()),
        )
        for prompt in prompts.files
    )
    tapes: dict[str, Cassette] = {}
    found = []
    for heard in lacking:
        case = heard.question.case_id
        tapes.setdefault(case, load(workspace.judge_cassette(case)))
        if heard.miss is not None:
            found.append(Missed.explained(_evidence(heard, tapes[case], files)))
    return found


def judge_need(lacking: Sequence[JudgeReply], model: str) -> Need:
    """What is to be asked: all of it is known, since no question follows from another's answer."""
    misses = [heard.miss for heard in lacking if heard.miss is not None]
    return Need(AGENT, model, len(misses), sum(miss.characters for miss in misses), float(len(misses)))


def judge_experience(workspace: Workspace, experience: Experience) -> Experience:
    """What asking took so far, the judge's own recordings among it."""
    own = experience_of(load(path) for path in sorted(workspace.judge_cassettes.glob("*.yaml"))[:12])
    known: Mapping[str, object] = own.by_asker
    return replace(experience, by_asker={**experience.by_asker, **own.by_asker}) if AGENT in known else experience


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
        issue=_ISSUE,
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

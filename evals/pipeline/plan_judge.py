"""Plan the recording of a suite's judge."""

from collections.abc import Sequence

from evals.llm_judge.questions import JudgeReply
from evals.models.judge import AGENT
from evals.models.trace import Trace
from evals.pipeline.judge_stage import asking, prompts_of, unanswered
from evals.prices import PriceTable
from evals.recording.plan.cost_estimate import Experience
from evals.recording.plan.judge_plan import judge_experience, judge_missed, judge_need
from evals.recording.plan.plan_recording import Effort, MissingBecause, RecordingPlan, by_cause, effort_for
from evals.run_context import RunContext


def with_judge(
    found: RecordingPlan, chosen: RunContext, traces: Sequence[Trace], experience: Experience, prices: PriceTable
) -> RecordingPlan:
    """The plan with what the suite's judge has not been asked about the trials that are on tape."""
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
    """Why these questions have no answer on tape."""
    return by_cause(judge_missed(lacking, prompts_of(chosen), chosen.workspace))


def judge_effort(
    chosen: RunContext, lacking: Sequence[JudgeReply], experience: Experience, prices: PriceTable
) -> Effort:
    """What asking them takes."""
    need = judge_need(lacking, chosen.suite.models.of(AGENT))
    return effort_for([need], judge_experience(chosen.workspace, experience), prices)

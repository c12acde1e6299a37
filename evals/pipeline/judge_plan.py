"""What a judge has not been asked, why, and what asking it takes: part of a suite's plan, and of a check's."""

from collections.abc import Sequence

from evals.llm_judge.ask import Heard
from evals.models.judge import AGENT
from evals.models.trace import Trace
from evals.pipeline.judged import asking, prompts_of, unanswered
from evals.pipeline.select import Selected
from evals.prices import PriceTable
from evals.recording.plan.estimate import Experience
from evals.recording.plan.judged import judge_experience, judge_missed, judge_need
from evals.recording.plan.plan import Effort, MissingBecause, Plan, by_cause, effort_for


def with_judge(
    found: Plan, chosen: Selected, traces: Sequence[Trace], experience: Experience, prices: PriceTable
) -> Plan:
    """The plan with what the suite's judge has not been asked about the trials that are on tape."""
    lacking = unanswered(chosen, asking(chosen, traces).questions)
    if not lacking:
        return found
    return found.model_copy(
        update={
            "causes": (*found.causes, *causes_of(chosen, lacking)),
            "known": found.known + len(lacking),
            "judge": len(lacking),
            "effort": found.effort or effort_of(chosen, lacking, experience, prices),
            "command": found.command or chosen.record_command,
        }
    )


def causes_of(chosen: Selected, lacking: Sequence[Heard]) -> tuple[MissingBecause, ...]:
    """Why these questions have no answer on tape."""
    return by_cause(judge_missed(lacking, prompts_of(chosen), chosen.workspace))


def effort_of(chosen: Selected, lacking: Sequence[Heard], experience: Experience, prices: PriceTable) -> Effort:
    """What asking them takes."""
    need = judge_need(lacking, chosen.suite.models.of(AGENT))
    return effort_for([need], judge_experience(chosen.workspace, experience), prices)

"""Choices that are forced in trials of the repository's own graphs, over the committed cassettes."""

from dataclasses import replace

from evals.pipeline.decisive_step import with_decisive_steps
from evals.pipeline.load_suite import load_suite
from evals.pipeline.run_suite import replay
from evals.scoring.registry import score_trials
from tests.builders.case import a_constraint, a_spec, an_alternative
from tests.builders.checkout import REPOSITORY


def test_under_a_plan_the_choice_is_forced_at_its_own_decision():
    """A decision may start several tasks, so that decisions and iterations are counted apart."""
    suite = load_suite("supervisors", REPOSITORY)
    plan = tuple(info for info in suite.variants if info.variant.name == "plan-fixed")
    trace = next(
        trace
        for trace in replay(replace(suite, variants=plan, cases=suite.cases[:12])).traces
        if any(made.iteration == len(trace.decisions) - 1 for made in trace.decisions[:-1])
    )
    longer = (*(visit.node for visit in trace.steps), "web_search")
    spec = a_spec(an_alternative(a_constraint("end", ["web_search"], hard=True), exemplars=[longer]))
    case = suite.by_id[trace.case_id].model_copy(update={"route_spec": spec})
    context = replace(suite, variants=plan, cases=[case])

    (trial,) = with_decisive_steps(context, score_trials(context.by_id, [trace], context.pack))
    (each,) = trial.decisive.tried
    assert each.decision == len(trace.decisions) - 1
    assert (each.result, each.why, each.route) == ("not recorded", "", trace.route)

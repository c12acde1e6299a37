"""One trial up close."""

from evals.models.metrics import Failed, Skipped
from evals.models.run import PointInfo
from evals.models.trace import GraphNames, Visit
from evals.report.view.page_parts import Texts
from evals.report.view.plan_graph import Pictures
from evals.report.view.trial_view import plain_ribbon, trial_view
from tests.builders.run import a_case_info, a_scorer_info, a_trial
from tests.builders.trace import a_decision, a_plan, a_trace, an_answer, an_override


def _view(trial, case=None, scorers=()):
    return trial_view(trial, case or a_case_info(), scorers, plain_ribbon((), {}), Texts(), Pictures())


def test_every_decision_stands_with_the_visit_it_led_to():
    trace = a_trace("investigator", "codebase_search")
    steps = _view(a_trial(trace)).steps

    assert [(step.routed, [visit.node for visit in step.visits]) for step in steps] == [
        ("investigator", ["investigator"]),
        ("codebase_search", ["codebase_search"]),
    ]


def test_the_reviews_of_a_plans_step_stand_with_the_decision_that_led_to_them():
    """Supersteps 0 and 1 are the work and its review, 3 and 4 the next; in between the supervisor was asked."""
    nodes = ("investigator", "critic", "codebase_search", "web_search", "critic", "critic")
    told = [a_decision(0, "investigator", tasks=(1,)), a_decision(1, "codebase_search", tasks=(2, 3))]
    trace = a_trace(*nodes, supersteps=[0, 1, 3, 3, 4, 4], decisions=told, plan=a_plan())
    steps = _view(a_trial(trace)).steps

    assert [[visit.node for visit in step.visits] for step in steps] == [list(nodes[:2]), list(nodes[2:])]
    assert [step.tasks for step in steps] == ["step 1: task 1", "step 2: tasks 2, 3"]


def test_a_veto_names_the_guard_and_both_nodes():
    decision = a_decision(0, "writer", "investigator", overrides=[an_override()])
    step = _view(a_trial(a_trace("investigator", decisions=[decision]))).steps[0]

    assert step.overrides == ("investigator_first: writer → investigator",)


def test_corrections_and_forced_fallbacks_are_said():
    decision = a_decision(0, "investigator", corrections=2, forced_fallback=True)
    step = _view(a_trial(a_trace("investigator", decisions=[decision]))).steps[0]

    assert step.notes == ("forced fallback", "2 corrections asked for")


def test_a_reply_that_could_not_be_used_is_said():
    decision = a_decision(0, "end", error="the reply was empty", forced_fallback=True)
    step = _view(a_trial(a_trace(decisions=[decision]))).steps[0]

    assert step.notes == ("forced fallback", "unusable reply: the reply was empty")


def test_scored_skipped_and_failed_read_differently():
    texts = Texts()
    scorers = [a_scorer_info(name) for name in ("route.pass", "ask.required", "cost.visits", "new")]
    trial = a_trial(
        outcomes={"ask.required": Skipped(reason="no question"), "cost.visits": Failed(error="ValueError:\nnan")}
    )
    trial_view(trial, a_case_info(), scorers, plain_ribbon((), {}), texts, Pictures())

    lines = texts.all()[-1].split("\n")
    assert lines[-4:] == ["100 %", "skipped: no question", "failed: ValueError: nan", "skipped: not asked for"]


def test_a_decision_point_stands_beside_what_is_acceptable():
    case = a_case_info(points=(PointInfo(id="p1", accept={"critic": 1.0, "writer": 0.5}, why="No gate yet."),))
    answers = [an_answer(chosen=node) for node in ("critic", "writer", "human_input", None)]
    points = _view(a_trial(a_trace(points=answers)), case).points

    assert points[0].accepted == "critic 100 %, writer 50 %"
    assert [point.verdict for point in points] == ["✓ right", "~ defensible (50 %)", "✗ not acceptable", "n/a"]


def test_the_steps_of_a_target_stand_around_its_routers_decisions():
    """A decision says how many nodes ran before its router; calls of tools are no nodes."""
    nodes = [("router", None), ("search", {"query": "x"}), ("worker", None), ("router", None), ("reply", None)]
    visits = tuple(Visit(node=name, superstep=n, arguments=given) for n, (name, given) in enumerate(nodes))
    decisions = (a_decision(0, "worker", iteration=0), a_decision(1, "reply", iteration=2))
    trace = a_trace(decisions=decisions).model_copy(update={"visits": visits, "names": GraphNames()})
    steps = _view(a_trial(trace)).steps

    assert [(step.chosen, [visit.node for visit in step.visits]) for step in steps] == [
        ("", ["router"]),
        ("worker", ["search", "worker", "router"]),
        ("reply", ["reply"]),
    ]
    assert steps[1].visits[0].arguments == '{"query": "x"}'

"""The step that took a trial off the tape."""

from evals.models.trace import Finding, Miss, Nearest, Visit
from evals.recording.miss_causes import first_step, ways_of
from tests.builders.trace import a_decision, a_trace, an_exchange, an_override

NEWS = "The cache forgets what was written last."


def a_missed(agent="supervisor", *, near=True):
    nearest = Nearest(key="r", alike=0.9, prompt_alike=1.0) if near else None
    return Miss(key="k", agent=agent, method="POST", path="/x", model="m", decision=2, nearest=nearest)


def a_walk(*nodes, finding=NEWS, **fields):
    """Each visit found something of its own; the last one `finding`."""
    texts = [*(f"What {node} had already found before." for node in nodes[:-1]), finding]
    visits = [
        Visit(
            node=node,
            superstep=i,
            findings=(Finding(agent_name=node, summary=text, confidence=0.5, details=text),),
        )
        for i, (node, text) in enumerate(zip(nodes, texts, strict=True))
    ]
    return a_trace(*nodes, provenance="frontier", frontier=2, **fields).model_copy(update={"visits": tuple(visits)})


def test_a_visit_that_found_something_else_is_the_step():
    trace = a_walk("investigator", "critic")

    assert first_step(trace, a_missed(), f"Summary: {NEWS}", (), ()).text == (
        "what visit 2 (critic) found is in no recorded request"
    )


def test_what_was_told_before_is_no_news():
    """It only moved within the request; then the way itself is the cause."""
    trace = a_walk("investigator", "critic")

    assert first_step(trace, a_missed(), f"Summary: {NEWS}", (f"Summary: {NEWS}",), ()).text == (
        "supervisor is asked after investigator critic, as in no recorded trial"
    )


def test_a_guard_that_sent_the_trial_to_that_visit_is_the_step():
    veto = a_decision(1, "writer", "critic", overrides=[an_override("critic_gate", "writer", "critic")])
    trace = a_walk("investigator", "critic", decisions=[a_decision(0, "investigator"), veto])

    found = first_step(trace, a_missed(), NEWS, (), ())

    assert (found.text, found.group) == (
        "critic_gate sent writer to critic (decision 2)",
        "critic_gate sent writer to critic",
    )


def test_an_answer_of_the_user_can_be_the_step():
    trace = a_walk("investigator", exchanges=[an_exchange(answer="We run it behind a proxy, on two hosts.")])

    assert first_step(trace, a_missed(), "A: We run it behind a proxy, on two hosts.", (), ()).group == "question"


def test_an_agent_nobody_recorded_is_told_with_the_way_to_it():
    trace = a_walk(*["critic"] * 6)

    assert first_step(trace, a_missed("web_search", near=False), "", (), ()).text == (
        "web_search is asked after 2 visits and critic critic critic critic, as in no recorded trial"
    )


def test_a_way_another_trial_went_on_tape_explains_nothing():
    """Then it is the request itself that is built otherwise."""
    trace = a_walk("investigator", "critic")

    assert first_step(trace, a_missed(), "", (), {("supervisor", ("investigator", "critic"))}) is None


def test_the_request_a_trial_missed_is_no_way_on_tape():
    """Two visits, two decisions: a third was asked for and missed."""
    trace = a_walk("investigator", "critic", decisions=[a_decision(0, "investigator"), a_decision(1, "critic")])

    assert ways_of(trace, "supervisor") == {
        ("supervisor", ()),
        ("investigator", ()),
        ("supervisor", ("investigator",)),
        ("critic", ("investigator",)),
    }

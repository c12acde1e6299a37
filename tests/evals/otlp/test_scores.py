"""A judge's grades are results of evaluation as well: they have a label in the place of a value."""

from evals.models.judge import Grade, JudgedRun, JudgedTrial, Judgement, Preferences
from evals.otlp import attribute_names as names
from evals.otlp.span_plan import score_events
from tests.builders.run import a_run, a_trial
from tests.builders.trace import a_trace

JUDGED = JudgedTrial(
    case_id="local-bug",
    variant="v3",
    sample=0,
    grades={"root_cause": Grade(grade="partly", reason="It names a symptom.")},
)


def a_judged_run(*trials):
    """A run whose judge said something of one trial."""
    tally = dict.fromkeys(("better", "worse", "tie", "contradicted", "equal", "missing"), 0)
    said = Judgement(
        version="v1",
        model="m",
        prompts={},
        asked=1,
        missing=0,
        trials=(JUDGED,),
        scores=(),
        comparisons=(),
        cells=(),
        disagreements=(),
        preferences=Preferences(candidate="v3", reference="v2", p_value=None, **tally),
    )
    run = a_run(*trials)
    return JudgedRun(**{name: getattr(run, name) for name in type(run).model_fields}, judge=said)


def grades_of(variant, *, content):
    trial = a_trial(a_trace(variant=variant))
    events = score_events(a_judged_run(trial), trial, 5, content=content)
    return [event.attributes for event in events if names.SCORE_LABEL in event.attributes]


def test_a_grade_is_a_label_and_its_reason_is_content():
    told = {names.SCORE: "judge.root_cause", names.SCORE_LABEL: "partly"}

    assert grades_of("v3", content=False) == [told]
    assert grades_of("v3", content=True) == [told | {names.SCORE_WHY: "It names a symptom."}]


def test_a_grade_belongs_to_the_trial_it_was_given_to():
    assert grades_of("v2", content=True) == []

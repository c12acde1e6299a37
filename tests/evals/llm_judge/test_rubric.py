"""A judge asks what the rubric of a pack says, whatever its questions are called."""

from types import SimpleNamespace

from evals.llm_judge.grade_statistics import Graded, change, counts, value
from evals.llm_judge.judge_questions import (
    GroundTruth,
    JudgeCheckSet,
    JudgePrompt,
    JudgeQuestion,
    JudgeReply,
    Plant,
    Prompts,
)
from evals.llm_judge.judge_summary import blessed_judge, judgement
from evals.llm_judge.planted_accuracy import Measured
from evals.models.judge import BlessedJudge, Grade, PairAnswer
from tests.builders.run import a_run

POLITE = ("rude", "curt", "polite")


class Replies:
    """A rubric of another application: one question about a reply."""

    scales = {"polite": POLITE}  # noqa: RUF012 - as the protocol has it
    ground_truth = GroundTruth("route.pass", "polite", {True: ("polite",), False: ("rude", "curt")})

    def __init__(self, asked=None):
        self.prompts = Prompts("v1", (asked.prompt,)) if asked else None

    def grades(self, answer):
        return {"polite": Grade(grade=answer.reason, reason="so")} if answer is not None else {}


def a_question(case_id, tmp_path, name=""):
    path = tmp_path / "rubric.md"
    path.write_text("s")
    return JudgeQuestion(case_id, name, JudgePrompt(path, "s", "h"), f"{case_id} {name}", PairAnswer)


def a_reply(question, grade):
    told = PairAnswer(first_strength="", second_strength="", reason=grade, preferred="tie")
    return JudgeReply(question, told)


def test_grades_are_places_on_the_scale_of_their_own_question():
    rude, polite = ({"polite": Grade(grade=grade, reason="")} for grade in ("rude", "polite"))

    assert (value(POLITE, "rude"), value(POLITE, "curt"), value(POLITE, "polite")) == (0.0, 0.5, 1.0)
    assert change("polite", POLITE, polite, rude) == -2
    assert change("polite", POLITE, polite, {}) is None
    assert counts("polite", POLITE, [rude, polite, {}]) == {"polite": 1, "curt": 0, "rude": 1}


def test_a_defect_of_another_application_is_caught_when_its_grade_falls(tmp_path):
    original, spoilt = a_question("a", tmp_path), a_question("a", tmp_path, "spoilt")
    insult = SimpleNamespace(name="insult", target="polite", what="an insult is added")
    found = JudgeCheckSet(
        {"a": ("a", original)}, {}, ((Plant("broken", "insult", "a", None, "polite"), spoilt),), [insult]
    )
    measured = Measured(Replies(), found, {original: a_reply(original, "polite"), spoilt: a_reply(spoilt, "rude")})

    (defect,) = measured.defects()

    assert (defect.question, defect.caught.hits, defect.caught.n) == ("polite", 1, 1)


def test_a_grade_is_held_against_the_metric_that_the_rubric_names(tmp_path):
    run = a_run()
    trace = run.trials[0].trace
    asked = a_question(trace.case_id, tmp_path)
    graded = Graded(trace.case_id, trace.variant, trace.sample, asked)

    said = judgement(run, Replies(asked), "m", [graded], [], {asked: a_reply(asked, "rude")}, [])

    (disagreement,) = said.disagreements
    assert (disagreement.case_id, disagreement.hit, disagreement.grade) == (trace.case_id, True, "rude")
    assert {score.question for score in said.scores} == {"polite"}


def test_grades_of_a_run_are_compared_with_those_it_was_blessed_with(tmp_path):
    run = a_run()
    (name, *_), trials = [info.variant.name for info in run.variants], run.trials
    asked = {trial.trace.case_id: a_question(trial.trace.case_id, tmp_path) for trial in trials}
    graded = [Graded(case, name, 0, question) for case, question in asked.items()]
    replies = {question: a_reply(question, "curt") for question in asked.values()}
    rubric = Replies(next(iter(asked.values())))
    before = BlessedJudge(asked_with={}, grades={name: {"judge.polite": dict.fromkeys(asked, 1.0)}})

    said = judgement(run, rubric, "m", graded, [], replies, [], before)

    (found,) = [item for item in said.comparisons if item.against == "baseline"]
    assert (found.endpoint, found.left, found.right) == ("judge.polite", name, f"{name} (baseline)")
    assert (found.n, found.delta) == (len(asked), -0.5)
    assert blessed_judge(said).grades[name] == {"judge.polite": dict.fromkeys(asked, 0.5)}

"""The decisive step of failed trials, by execution: mistakes are planted at decisions that are known."""

import json

import pytest

from tests.builders.checkout import a_checkout
from tests.builders.checkout import evals as command
from tests.builders.example_projects import copied, evals, live_model
from tests.builders.llm_server import an_llm_server, answering
from tests.builders.planted_mistakes import GRAPH, MISTAKES, a_project, err
from tests.builders.unpacked import unpacked

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """The project, recorded without and then with forced choices; and what the commands said."""
    project = a_project(tmp_path_factory.mktemp("planted") / "project")
    with live_model(err) as model:
        first = evals(project, "record", "row", **model)
        before = evals(project, "explain", "detour-2", "--suite", "row")
        forced = evals(project, "record", "row", "--forced", **model)
        again = evals(project, "record", "row", "--forced", **model)
    return project, {"first": first, "before": before, "forced": forced, "again": again}


@pytest.fixture(scope="module")
def decisive(planted):
    """What `decided` says of the project, and the page of the run."""
    project, _ = planted
    found, said = decided(project)
    return found, said, unpacked((project / "reports" / "latest" / "index.html").read_text())


def decided(project):
    """(case, variant) -> decisive step of each failed trial, from run.json; and what the run said."""
    _, said = evals(project, "run", "row", "--decisive")
    return decisive_in(project), said


def decisive_in(project):
    run = json.loads((project / "reports" / "latest" / "run.json").read_bytes())
    return {
        (trial["trace"]["case_id"], trial["trace"]["variant"]): trial["decisive"]
        for trial in run["trials"]
        if "decisive" in trial
    }


def test_of_planted_mistakes_at_least_9_in_10_are_found_at_their_decision(decisive):
    found, _, _ = decisive

    places = {}
    for (case, variant), step in found.items():
        passing = [each["decision"] + 1 for each in step["tried"] if each["result"] == "passes"]
        places[case, variant] = passing[0] if passing else None
    right = [
        places.get((f"{kind}-{place}", variant)) == place for place, kind in MISTAKES for variant in ("edge", "command")
    ]
    assert sum(right) >= 0.9 * len(right), places
    assert not any(case == "none-0" for case, _ in found)


def test_what_is_not_recorded_stays_unknown_until_it_is_asked_for(planted):
    _, said = planted

    code, text = said["before"]
    assert code == 0, text
    assert "Not recorded: what follows a forced choice at decision 2" in text
    code, text = said["forced"]
    assert (code, "trials replay exactly" in text) == (0, True), text
    code, text = said["again"]
    assert (code, " 0 new answers" in text or "new answers" not in text) == (0, True), text


def test_a_trial_is_explained_with_its_decisive_step(planted):
    project, _ = planted
    code, said = evals(project, "explain", "detour-2", "--suite", "row")

    assert code == 0, said
    assert "The trial went wrong at decision 2: with check instead of shout it passes." in said


def test_a_run_counts_the_deciding_decisions_and_the_report_shows_them(decisive):
    _, said, page = decisive

    assert "edge: 13 failed trials: decision 1 is decisive in 2" in said, said
    assert "decision 1 is decisive in 2" in page
    assert "The trial went wrong at decision 2: with check instead of shout it passes." in page


def test_a_run_without_the_option_tries_nothing(planted, decisive):
    project, _ = planted
    evals(project, "run", "row")

    assert "decisive" not in (project / "reports" / "latest" / "run.json").read_text()


def test_the_supervisor_of_triage_is_forced_too_and_asked_by_an_endpoint_or_by_rounds(tmp_path):
    """It leaves the critic out; forced to go there once, it goes on by itself."""
    checkout = a_checkout(tmp_path / "checkout")
    with an_llm_server(answering(route=("investigator", "codebase_search", "writer"))) as llm:
        assert command(checkout, "record", "tiny.yaml", "--base-url", llm.base_url).code == 0
        rounds = command(checkout, "record", "tiny.yaml", "--forced", "--export", "rounds")
        asked = command(checkout, "record", "tiny.yaml", "--forced", "--base-url", llm.base_url)
    explained = command(checkout, "explain", "wrong-sum", "--suite", "tiny.yaml")

    assert (rounds.code, "0 of 4 trials replay exactly" in rounds.out) == (3, True), rounds
    assert (asked.code, "4 of 4 trials replay exactly" in asked.out) == (0, True), asked
    wrong = "The trial went wrong at decision 3: with critic instead of writer it passes."
    assert wrong in " ".join(explained.out.split()), explained


def test_a_desk_that_was_chosen_wrongly_decides_as_far_as_the_other_desks_answers_are_recorded(tmp_path):
    project = copied("support", tmp_path)

    assert "v2: 10 failed trials: decision 1 is decisive in 10" in evals(project, "run", "router", "--decisive")[1]


def test_a_tool_that_another_answer_would_have_to_call_is_refused_with_its_reason(tmp_path):
    project = copied("research", tmp_path)
    said = evals(project, "explain", "java", "--suite", "supervisor", "--variant", "v2")[1]

    assert "decisive" not in said
    run = evals(project, "run", "supervisor", "--decisive")[1]
    assert "v2: 9 failed trials: not recorded in 9" in run, run
    tried = [each for step in decisive_in(project).values() for each in step["tried"] if each["decision"] == 1]
    assert {each["why"] for each in tried} == {"model cannot go on to it, or not without arguments"}


GOOD_REPLY = """
from evals.scoring.scorer import NotApplicable, scorer


@scorer("reply.good", primary=True)
def good(case, trace):
    \"\"\"1 if nothing was shouted before the reply.\"\"\"
    if "reply" not in trace.route:
        raise NotApplicable("there is no reply")
    return float("shout" not in trace.route)
"""
CRASHES = """    def work(state):
        done = state.get("done", [])
        if name == "check" and state["task"] == "detour@2" and "shout" not in done:
            raise KeyError("order")
        return {"done": [*done, name]}
    return work
"""


def test_a_forced_trial_passes_only_if_it_ends_well_and_every_metric_has_a_value(tmp_path):
    """Forced to the end, one has no reply to judge; the other goes on to a node that crashes."""
    project = a_project(tmp_path / "project", ("edge",))
    graph = GRAPH.replace('    return lambda state: {"done": [*state.get("done", []), name]}\n', CRASHES)
    (project / "chain.py").write_text(graph)
    (project / "own.py").write_text(GOOD_REPLY)
    with (project / "evals.toml").open("a") as settings:
        settings.write('scorers = ["own.py"]\nprimary = ["reply.good"]\n')
    for file in (project / "evaluation" / "cases").iterdir():
        if file.stem not in ("detour-2", "detour-3"):
            file.unlink()
    rules = [
        {"id": "look-once", "type": "existence", "a": ["look"], "min": 1, "max": 1, "hard": True},
        {"id": "no-shout", "type": "absence", "a": ["shout"], "hard": True},
    ]
    case = {"inputs": {"task": "detour@3"}, "route": {"constraints": rules}}
    (project / "evaluation" / "cases" / "detour-3.yaml").write_text(json.dumps(case))
    with live_model(err) as model:
        assert evals(project, "record", "row", **model)[0] == 0
        evals(project, "record", "row", "--forced", **model)
    found, _ = decided(project)

    assert {
        case: [(each["choice"], each["result"], each["why"]) for each in step["tried"]]
        for (case, _), step in found.items()
    } == {
        "detour-2": [("check", "fails", "KeyError: 'order' (node check)")],
        "detour-3": [("end", "cannot be judged", "reply.good has no value: there is no reply")],
    }


def test_what_cannot_be_forced_is_said_in_one_line(tmp_path):
    checkout = a_checkout(tmp_path / "checkout")
    with an_llm_server() as llm:
        assert command(checkout, "record", "tiny.yaml", "--base-url", llm.base_url).code == 0
    for words, why in (
        (
            ("record", "tiny.yaml", "--forced", "--export", "rounds"),
            "no failed trial has a choice to force; `evals explain CASE` says why",
        ),
        (("record", "tiny.yaml", "--forced", "--refresh"), "--refresh and --forced: a forced choice has no old answer"),
        (("run", "tiny.yaml", "--decisive", "--shard", "1/2"), "--decisive shows verdicts, and a --shard has none"),
    ):
        said = command(checkout, *words)
        assert (said.code, why in said.err, len(said.err.splitlines())) == (2, True, 1), said

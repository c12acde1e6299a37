"""Raw answers in the report: what each model call was shown and answered, from the cassettes of the run."""

import pytest

from evals.cassettes.cassette_files import load, merge_write
from evals.cassettes.transcript import keep_words
from evals.content_cache import digest_of
from evals.report.html_page import render
from evals.report.recorded_calls import RecordedCall, TrialCalls, recorded_calls
from evals.report.run_files import write_report
from evals.report.view.divergence_view import divergence_views, pools_for
from evals.workspace import Workspace
from tests.builders.interaction import a_chat_request, an_interaction, messages
from tests.builders.run import a_run, a_run_that_parts, a_trial
from tests.builders.trace import a_call, a_decision, a_trace
from tests.builders.unpacked import content_of, parts_of

ASKED = an_interaction(
    request=a_chat_request(messages=messages("You route tickets.", "A crash")), answer="Go to critic"
)


def traced(*keys, **more):
    calls = tuple(a_call("router").model_copy(update={"key": key}) for key in keys)
    return a_trace().model_copy(update={"calls": calls, **more})


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "datasets").mkdir()
    return Workspace.at(tmp_path)


@pytest.fixture
def run(workspace):
    """A run of one call, whose cassette is there."""
    path = workspace.cassette("local-bug")
    path.parent.mkdir()
    merge_write(path, [ASKED])
    trial = a_trial(traced(ASKED.key))
    return a_run(trial).model_copy(update={"cassettes": {"local-bug": digest_of(path.read_bytes())}})


def texts_of(page):
    return [text for _, _, texts in parts_of(content_of(page)) for text in texts]


@pytest.mark.parametrize("times", [1, 2], ids=["read", "from the cache"])
def test_a_call_has_its_system_prompt_message_and_answer(workspace, run, times):
    for _ in range(times):
        found = recorded_calls(run, workspace)

    assert found == {("local-bug", ASKED.key, 0): RecordedCall("You route tickets.", "A crash", "Go to critic")}


def test_of_a_cassette_that_changed_since_the_run_nothing_is_shown(workspace, run):
    recorded_calls(run, workspace)
    merge_write(workspace.cassette("local-bug"), [an_interaction("Another question")])
    changed = run.model_copy(update={"cassettes": {"local-bug": "0" * 64}})

    assert recorded_calls(changed, workspace) == {}


def test_the_written_page_holds_the_raw_answers_of_its_checkout(workspace, run, tmp_path):
    write_report(run, tmp_path / "out", workspace.root)

    texts = texts_of((tmp_path / "out" / "index.html").read_text(encoding="utf-8"))
    assert {"You route tickets.", "A crash", "Go to critic"} <= set(texts)


def test_where_no_cassette_is_the_page_says_so(run):
    markup = "".join(part for _, part, _ in parts_of(content_of(render(run))))

    assert "No raw answers: the cassette is not here, or is not the one of this run." in markup


def test_a_repeat_and_a_repeated_request_take_the_next_answer():
    answers = {("local-bug", "k", number): RecordedCall("", "", f"answer {number}") for number in range(2)}
    trials = [a_trial(traced("k", "k", sample=sample)) for sample in range(2)]
    calls = TrialCalls(a_run(*trials), answers)

    heard = [[each.reply for each in calls.of(trial.trace)] for trial in trials]
    assert heard == [["answer 0", "answer 1"], ["answer 1", "answer 0"]]


def test_a_divergence_shows_what_both_sides_were_asked_and_answered_where_the_trace_does_not_say():
    run = a_run_that_parts("local-bug")
    trials = []
    for trial in run.trials:
        name, decisions = trial.trace.variant, trial.trace.decisions
        decisions = tuple(each.model_copy(update={"context": ""}) for each in decisions)
        calls = tuple(a_call("router").model_copy(update={"key": f"{name}-{n}"}) for n in range(len(decisions)))
        trials.append(
            trial.model_copy(update={"trace": trial.trace.model_copy(update={"decisions": decisions, "calls": calls})})
        )
    run = run.model_copy(update={"trials": tuple(trials)})
    recorded = {
        ("local-bug", call.key, 0): RecordedCall("You route.", f"shown {call.key}", f"said {call.key}")
        for trial in trials
        for call in trial.trace.calls
    }
    pools = pools_for(run, recorded=recorded)
    traces = {(trial.trace.variant, trial.trace.sample): trial.trace for trial in trials}
    (view,) = divergence_views(run, run.divergences, traces, pools)

    texts, place = pools.texts.all(), int(view.number) - 1
    said = [texts[int(side.call.reply)] for side in view.sides if side.call]
    assert said == [f"said {side.variant}-{place}" for side in view.sides if side.call]
    assert said


def test_the_router_is_who_is_asked_once_per_decision():
    decisions = (a_decision(0, "critic"), a_decision(1, "writer", corrections=1))
    names = ("router", "worker", "router", "router", "writer")
    calls = tuple(a_call(name).model_copy(update={"key": str(number)}) for number, name in enumerate(names))
    trace = a_trace(decisions=decisions).model_copy(update={"calls": calls})
    answers = {("local-bug", str(number), 0): RecordedCall("", "", f"{number}") for number in range(len(names))}
    found = TrialCalls(a_run(a_trial(trace)), answers)

    assert [found.of_decision(trace, index)[1].reply for index in range(2)] == ["0", "3"]


def test_words_that_were_kept_while_a_cassette_was_parsed_are_not_read_again(workspace, run):
    path, digest = workspace.cassette("local-bug"), run.cassettes["local-bug"]
    keys = {call.key for trial in run.trials for call in trial.trace.calls}
    keep_words(load(path), digest, keys, workspace.cache)
    path.unlink()

    assert [words.reply for words in recorded_calls(run, workspace).values()] == ["Go to critic"]

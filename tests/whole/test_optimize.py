"""`evals.optimize`: GEPA changes prompts on the tune cases, and what it accepts is confirmed on the gate cases."""

import contextlib
import json
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

import evals
from evals.errors import CannotJudgeError, ConfigurationError, RecordingError
from evals.pipeline.load_suite import read_openings
from evals.pipeline.optimize_prompts import _Search
from tests.builders.at_once import run_at_once
from tests.builders.checkout import a_checkout, cassettes
from tests.builders.dataset import a_case_file, a_case_folder, write
from tests.builders.endpoint import a_completion
from tests.builders.example_projects import copied
from tests.builders.llm_server import an_llm_server, answering

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PROMPTS = ROOT / "triage" / "prompts" / "supervisor"
NAME = "triage/prompts/supervisor/v2.md"  # v2 alone is a version of a worker's prompt, too
SEED = {NAME: PROMPTS / "v2.md"}
CASES = {"tune": 8, "gate": 12, "holdout": 2}
"""Split -> how many of the shipped cases."""
MARK = "## After the critic"
"""Only in v3 of the prompt."""
HELD_OUT = ROOT / "datasets" / "holdout.yaml"


@pytest.fixture(autouse=True)
def records_at_once(monkeypatch):
    """The commands that record. `tests/evals/test_examples.py` has them started as ever."""
    monkeypatch.setattr("evals.pipeline.optimize_prompts.subprocess", SimpleNamespace(run=run_at_once))


def proposing(*paths):
    """Writes the texts of these files in turn, whatever it is shown; `shown` has what it was shown."""
    shown = []

    def propose(_texts, examples, names):
        path = paths[len(shown) % len(paths)]
        shown.append(examples)
        return {name: path.read_text(encoding="utf-8") for name in names}

    propose.shown = shown
    return propose


def some_cases(folder):
    """A suite over a few shipped cases of each split under v1, its reference."""
    cases = evals.load_suite("versions", ROOT).dataset
    ids = chain(*([case.id for case in cases if case.known.split == split][:most] for split, most in CASES.items()))
    told = yaml.safe_load((ROOT / "evals" / "suites" / "versions.yaml").read_text(encoding="utf-8"))
    told |= {"name": "few", "cases": {"ids": list(ids)}}
    return write(folder / "few.yaml", yaml.safe_dump(told))


def optimized(folder, propose, seed=PROMPTS / "v1.md", **how):
    """From v1 of the shipped prompts on a few cases, on recorded answers; looks are counted in `folder`."""
    where = {"looks_file": folder / "gate_looks.yaml", "batch": CASES["tune"]}
    return evals.optimize({"v1": seed}, some_cases(folder), ROOT, propose=propose, **where | how)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("looks")


@pytest.fixture(scope="module")
def propose():
    return proposing(PROMPTS / "v2.md", PROMPTS / "v5.md")


@pytest.fixture(scope="module")
def found(folder, propose):
    before = HELD_OUT.read_bytes(), cassettes(ROOT)
    result = optimized(folder, propose, proposals=6)

    assert (HELD_OUT.read_bytes(), cassettes(ROOT)) == before
    return result


@pytest.fixture(scope="module")
def support(tmp_path_factory):
    """A project whose prompt v1 is better than its reference v2."""
    return copied("support", tmp_path_factory.mktemp("optimize"))


def test_a_better_prompt_is_found_on_tune_and_confirmed_on_gate(support):
    better = support / "prompts" / "router" / "v1.md"
    with contextlib.chdir(support):
        result = evals.optimize(
            {"v2": "prompts/router/v2.md"}, "router", propose=proposing(better), proposals=6, batch=4
        )

    assert result.best.texts == {"v2": better.read_text(encoding="utf-8")}
    assert (result.best.tune, result.best.look, result.best.alpha) == (1.0, 1, 0.025)
    assert str(result).startswith(f"{result.best.name} is better than v2.\n")
    assert max(map(len, str(result).splitlines())) <= 80
    assert len(read_openings(support / "evaluation" / "gate_looks.yaml")) == 1


@pytest.mark.parametrize("lost", [1, 12])
def test_with_a_gate_answer_missing_nothing_is_compared_and_no_look_is_counted(tmp_path, lost):
    project = copied("support", tmp_path)
    cases = sorted((project / "evaluation" / "cases").glob("*.yaml"))
    gate = [path.name for path in cases if "split: gate" in path.read_text(encoding="utf-8")]
    for name in gate[:lost]:
        (project / "cassettes" / name).unlink()
    better = project / "prompts" / "router" / "v1.md"
    how = {"propose": proposing(better), "proposals": 6, "batch": 4}
    result = evals.optimize({"v2": project / "prompts" / "router" / "v2.md"}, "router", project, **how)

    first = result.candidates[0]
    assert (first.status, first.run, first.look) == ("cannot judge", None, None)
    assert f"{2 * lost} of {2 * len(gate)} gate trials are not recorded" in first.why
    assert not (project / "evaluation" / "gate_looks.yaml").exists()


def test_prompts_whose_files_have_one_name_keep_their_own_texts(tmp_path):
    project, texts = copied("support", tmp_path), {}
    for name in ("billing", "technical"):
        write(project / "prompts" / name / "system.md", "before")
        texts[f"prompts/{name}/system.md"] = f"For {name}."
    settings = (project / "evals.toml").read_text(encoding="utf-8").replace("router/*.md", "*/*.md")
    write(project / "evals.toml", settings)
    search = _Search(evals.load_suite("router", project), {"tune": [], "gate": []}, proposing(), None, 1, 1)

    changed = search.versus(texts).variants[1].variant.prompts

    assert {name: (project / changed[name]).read_text(encoding="utf-8") for name in texts} == texts


def test_after_many_looks_the_same_gain_is_not_enough(support):
    looks = [{"day": "2026-11-27", "suite": "router", "why": f"look {n}"} for n in range(60)]
    file = write(support / "many.yaml", yaml.safe_dump({"openings": looks}))
    better = support / "prompts" / "router" / "v1.md"
    how = {"propose": proposing(better), "proposals": 6, "batch": 4, "looks_file": file}
    result = evals.optimize({"v2": support / "prompts" / "router" / "v2.md"}, "router", support, **how)

    assert [one.status for one in result.candidates] == ["not shown to be better", "no difference"]
    assert (result.candidates[0].look, result.looks_before) == (61, 60)


def test_a_gain_on_tune_that_gate_does_not_show_is_not_called_better(found):
    seed = next(one for one in found.candidates if one.status == "no difference")
    others = [one for one in found.candidates if one is not seed]

    assert found.best is None
    assert all(one.tune > seed.tune and one.status == "not shown to be better" for one in others)
    assert str(found).startswith("No candidate is shown to be better than v1.\n")


def test_a_seed_that_is_the_text_of_the_reference_is_no_difference_and_no_look(found):
    seed = next(one for one in found.candidates if one.texts["v1"] == (PROMPTS / "v1.md").read_text(encoding="utf-8"))

    assert (seed.status, seed.look, seed.run) == ("no difference", None, None)


def test_each_accepted_text_is_looked_at_once_the_best_on_tune_first(found, folder):
    looked = [one for one in found.candidates if one.look]

    assert [one.look for one in looked] == list(range(1, len(found.candidates)))
    assert [one.alpha for one in looked[:2]] == pytest.approx([0.05 / 2, 0.05 / 6])
    assert list(found.candidates) == sorted(found.candidates, key=lambda one: -one.tune)
    assert len({one.texts["v1"] for one in found.candidates}) == len(found.candidates)
    assert len(read_openings(folder / "gate_looks.yaml")) == len(looked)


def test_the_proposer_sees_tune_cases_only_and_gate_has_gate_cases_only(found, propose):
    cases = {example["Case"] for examples in propose.shown for example in examples["v1"]}
    split = {case.id: case.known.split for case in evals.load_suite("versions", ROOT).dataset}

    assert {split[case] for case in cases} == {"tune"}
    assert {split[case.id] for one in found.candidates if one.run for case in one.run.cases} == {"gate"}


def test_held_out_cases_are_not_run_and_their_openings_are_told(found):
    assert f"holdout: 2 cases not run, opened {len(read_openings(HELD_OUT))} time" in str(found)


def test_the_same_search_again_is_no_new_look(found, folder, propose):
    propose.shown.clear()
    again = optimized(folder, propose, proposals=6)

    assert [one.look for one in again.candidates] == [one.look for one in found.candidates]
    assert again.looks_before == len(read_openings(folder / "gate_looks.yaml"))
    assert f"looks (comparisons on gate): {again.looks_before} before, 0 new" in str(again)


def test_offline_a_prompt_that_nobody_recorded_is_never_accepted(tmp_path):
    def propose(texts, _examples, names):
        return {name: f"{texts[name]}\nThink twice.\n" for name in names}

    result = optimized(tmp_path, propose, proposals=2)

    assert [one.status for one in result.candidates] == ["no difference"]
    assert not (tmp_path / "gate_looks.yaml").exists()


def test_a_text_that_is_no_prompt_is_never_accepted(tmp_path):
    result = optimized(tmp_path, lambda _texts, _examples, names: dict.fromkeys(names, "{"), proposals=2)

    assert [one.status for one in result.candidates] == ["no difference"]


def test_a_seed_that_nobody_recorded_is_said_and_not_searched_from(tmp_path):
    (tmp_path / "mine.md").write_text(f"{(PROMPTS / 'v1.md').read_text(encoding='utf-8')}\nThink.\n", encoding="utf-8")

    with pytest.raises(CannotJudgeError, match="not all answers are recorded; give base_url, or a larger budget"):
        optimized(tmp_path, proposing(), tmp_path / "mine.md")


def test_recorded_answers_count_against_the_budget(tmp_path):
    result = optimized(tmp_path, proposing(PROMPTS / "v5.md"), budget=1)

    assert [one.status for one in result.candidates] == ["no difference"]  # the seed alone used it up


def test_a_proposer_that_fails_ends_the_search_with_its_own_error(tmp_path):
    def propose(*_):
        raise ZeroDivisionError("of the proposer")

    with pytest.raises(ZeroDivisionError, match="of the proposer"):
        optimized(tmp_path, propose)


@pytest.mark.parametrize(
    ("prompts", "how", "said"),
    [
        ({"v1": PROMPTS / "v1.md"}, {}, "needs propose=FUNCTION"),
        ({"v1": PROMPTS / "v1.md"}, {"propose": proposing(), "budget": 0}, "start at 1"),
        ({"v1": PROMPTS / "v99.md"}, {"propose": proposing()}, r"v99\.md: no such prompt file"),
        ({"v99": PROMPTS / "v1.md"}, {"propose": proposing()}, "there is no prompt 'v99'"),
    ],
)
def test_what_is_asked_for_wrongly_is_one_line_that_says_what_to_do(prompts, how, said):
    with pytest.raises(ConfigurationError, match=said):
        evals.optimize(prompts, "versions", ROOT, **how)


def test_without_a_gate_case_nothing_is_optimised(tmp_path, monkeypatch):
    monkeypatch.chdir(a_checkout(tmp_path))

    with pytest.raises(CannotJudgeError, match="no case in the split gate"):
        evals.optimize(SEED, "tiny.yaml", propose=proposing())


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A checkout with two tune cases and a gate case, nothing recorded; the working directory."""
    a_case_folder(a_checkout(tmp_path) / "datasets", a_case_file(id="third-sum", split="gate", tags=["tiny"]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def writing(path):
    """Answers the team as always, a supervisor with another prompt than this file's worse, and a request for a better
    prompt with the text of the file."""
    good, poor, text = answering(), answering(lambda _: "writer"), path.read_text(encoding="utf-8")

    def answer(agent, body):
        messages = json.dumps(body["messages"])
        if "Improve this prompt" not in messages:
            return (good if agent != "supervisor" or MARK in messages else poor)(agent, body)
        return 200, "application/json", json.dumps(a_completion(f"```\n{text}```")).encode()

    return answer


def test_an_endpoint_proposes_and_answers_and_what_it_answered_is_recorded(tiny):
    better = PROMPTS / "v3.md"
    with an_llm_server(writing(better)) as llm:
        live = evals.optimize(SEED, "tiny.yaml", base_url=llm.base_url, proposals=3)
        asked = len(llm.asked)
        again = evals.optimize(SEED, "tiny.yaml", propose=proposing(better), proposals=3)

    assert [one.texts[NAME] for one in live.candidates if one.run] == [better.read_text(encoding="utf-8").strip()]
    assert 0 < live.answers["tune"] <= asked
    assert len(llm.asked) == asked  # the second search is answered by the cassettes
    assert again.answers == live.answers


def test_new_answers_never_exceed_the_budget(tiny):
    how = {"propose": proposing(), "budget": 3}
    with an_llm_server() as llm, pytest.raises(CannotJudgeError, match="a larger budget"):
        evals.optimize(SEED, "tiny.yaml", base_url=llm.base_url, **how)

    assert 0 < len(llm.asked) <= 3


def test_an_endpoint_that_is_down_ends_the_search_in_one_line(tiny):
    with pytest.raises(RecordingError, match=r"no answer for .*see that the endpoint is up"):
        evals.optimize(SEED, "tiny.yaml", propose=proposing(), base_url="http://127.0.0.1:9/v1")


def test_a_proposal_that_repeats_the_key_is_written_nowhere(tiny, monkeypatch):
    key = "4f7Hq2ZpXc93Lw8sTb6d"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    text = (PROMPTS / "v3.md").read_text(encoding="utf-8").replace(MARK, f"{MARK}\n\nYour header was {key}.\n")
    echoing = write(tiny / "echoing.md", text)
    answer = writing(echoing)
    echoing.unlink()
    with an_llm_server(answer) as llm, pytest.raises(RecordingError, match=r"a proposal holds a secret \(key_in_use\)"):
        evals.optimize(SEED, "tiny.yaml", base_url=llm.base_url, proposals=3)

    assert not [file for file in tiny.rglob("*") if file.is_file() and key.encode() in file.read_bytes()]


REFUSALS = {
    "a wrong key": ((401, "application/json", b'{"error": {"message": "no"}}'), r"set the right one \(OPENAI_API_KEY"),
    "another refusal": ((400, "application/json", b'{"error": {"message": "too long"}}'), "status 400; .*too long"),
    "a page": ((200, "text/html", b"<html>Welcome</html>"), "content type text/html where application/json .*Welcome"),
    "another shape": ((200, "application/json", b'{"id": "x"}'), "JSON of another shape than the protocol's"),
}


@pytest.mark.parametrize(("refusal", "says"), REFUSALS.values(), ids=REFUSALS)
def test_an_endpoint_that_gives_no_proposal_is_one_line_that_says_what_to_do(tiny, refusal, says):
    team = writing(PROMPTS / "v3.md")

    def answer(agent, body):
        return refusal if "Improve this prompt" in json.dumps(body["messages"]) else team(agent, body)

    with an_llm_server(answer) as llm, pytest.raises(RecordingError, match=says) as raised:
        evals.optimize(SEED, "tiny.yaml", base_url=llm.base_url, proposals=2)

    assert (str(raised.value).count("\n"), "see https" in str(raised.value)) == (0, False)
    assert str(raised.value).endswith("start it again: answers that were recorded are not asked again")


def test_an_endpoint_that_fails_later_is_told_beside_the_result(tiny):
    """All that is asked about one gate case is refused."""
    issue = "# The invoice is empty\n\nIt has no lines, although I bought two books.\n"
    a_case_folder(tiny / "datasets", a_case_file(id="no-lines", split="gate", tags=["tiny"]), issue=issue)
    writes = writing(PROMPTS / "v3.md")

    def answer(agent, body):
        refused = "invoice is empty" in json.dumps(body["messages"])
        return (400, "application/json", b'{"error": {"message": "enough"}}') if refused else writes(agent, body)

    with an_llm_server(answer) as llm:
        found = evals.optimize(SEED, "tiny.yaml", base_url=llm.base_url, proposals=2)

    assert "status 400" in found.failure
    assert f"Not everything was recorded: {found.failure}"[:60] in str(found)


def test_an_endpoint_that_fails_for_good_ends_the_search(tiny):
    """Its model is gone after the seed was graded."""
    writes = writing(PROMPTS / "v3.md")

    def answer(agent, body):
        messages = json.dumps(body["messages"])
        gone = MARK in messages and "Improve this prompt" not in messages
        return (404, "application/json", b'{"error": {"message": "gone"}}') if gone else writes(agent, body)

    with an_llm_server(answer) as llm, pytest.raises(RecordingError, match="there is no such model or address"):
        evals.optimize(SEED, "tiny.yaml", base_url=llm.base_url, proposals=2)

"""`evals attribute`: planted prompts whose answers depend on known hunks."""

import json
import re
import shlex
import shutil

import pytest

from tests.builders.checkout import a_checkout, a_suite, evals
from tests.builders.dataset import a_case_file, a_case_folder, write
from tests.builders.endpoint import a_completion, a_decision
from tests.builders.example_projects import copied, live_model, say
from tests.builders.example_projects import evals as evals_in
from tests.builders.llm_server import an_llm_server, answering, next_stop

pytestmark = pytest.mark.slow

PROMPT = """---
version: {version}
parent: null
date: 2026-11-27
changes: none
---
Lead the team. {lead}

Choose who acts next. {choose}

Send it to the writer at the end. {send}

Never ask twice. {never}
<!-- task -->
Name the next step as JSON.
"""
OLD = {"lead": "Be calm.", "choose": "Be fair.", "send": "Be done.", "never": "Be brief."}
NEW = {"lead": "Be ALPHA.", "choose": "Be BETA.", "send": "Be GAMMA.", "never": "Be DELTA."}
ROUTE = ("investigator", "codebase_search", "writer")
LABELS = {"tags": ["tiny"], "decision_points": [
    {"id": name, "state": {"iterations": iterations, "visits": ["investigator"]}, "accept": {accepted: 1.0}, "why": "x"}
    for name, iterations, accepted in (("one", 4, "writer"), ("two", 5, "codebase_search"), ("same", 6, "critic"))
]}  # fmt: skip


def decided(system, context):
    """Point `one` turns with hunk 1, point `two` with hunks 2 and 3 together, whole trials with hunk 4."""
    if "Iteration: 4 /" in context:
        return "writer" if "ALPHA" in system else "codebase_search"
    if "Iteration: 5 /" in context:
        return "writer" if "BETA" in system and "GAMMA" in system else "codebase_search"
    if "Iteration: 6 /" in context:
        return "critic"
    return next_stop(context, ROUTE if "DELTA" in system else ("investigator", "codebase_search", "critic", "writer"))


def planted(agent, body):
    if agent != "supervisor":
        return answering()(agent, body)
    chosen = decided(body["messages"][0]["content"], str(body["messages"][1]["content"]))
    told = json.dumps(a_decision(chosen, confidence=0.9, question=None, question_context=None))
    return 200, "application/json", json.dumps(a_completion(told)).encode()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A checkout in which both versions are recorded, and no hunk."""
    root = a_checkout(tmp_path_factory.mktemp("attribute") / "checkout")
    for number, case in enumerate(("wrong-total", "wrong-sum")):
        labels = {**LABELS, "decision_points": LABELS["decision_points"][:: 1 if number else 2]}
        a_case_folder(root / "datasets", a_case_file(id=case, **labels), issue=f"# The {case}\n\nIt is wrong.\n")
    for version, words in (("a", OLD), ("b", NEW)):
        write(root / f"{version}.md", PROMPT.format(version=version, **words))
    variants = [{"name": name, "prompt": f"{name}.md"} for name in ("a", "b")]
    a_suite(root, variants=variants, candidate="b", reference="a")
    with an_llm_server(planted) as llm:
        assert evals(root, "record", "tiny.yaml", "--base-url", llm.base_url).code == 0
    return root


@pytest.fixture
def checkout(recorded, tmp_path):
    return shutil.copytree(recorded, tmp_path / "checkout")


def attribute(root, *words):
    """What was said, and the stored result."""
    said = evals(root, "attribute", "a", "b", "--suite", "tiny.yaml", *words)
    file = root / "reports" / "attribute" / "attribution.json"
    return said, json.loads(file.read_bytes()) if file.is_file() else None


def printed(said):
    """The commands that record what is missing, as words."""
    return [shlex.split(line)[1:] for line in said.out.splitlines() if line.startswith("  evals record")]


def record(root, said, *words):
    """Type the commands that were printed; the exit code of the last one, and the number of answers from the
    endpoint."""
    with an_llm_server(planted) as llm:
        codes = [evals(root, *command, "--base-url", llm.base_url, *words).code for command in printed(said)]
        return codes[-1], len(llm.asked)


@pytest.fixture(scope="module")
def answered(recorded, tmp_path_factory):
    """What everything says once all is recorded, and the checkout."""
    root = shutil.copytree(recorded, tmp_path_factory.mktemp("answered") / "checkout")
    every = ("--taken-out", "--trials", "--pairs")
    for words in (every[:2], every):
        assert record(root, attribute(root, *words)[0])[0] == 0
    said, found = attribute(root, *every)
    assert said.code == 0, said.err
    return said, found, root


def rows(found, kind="effects"):
    """Hunks -> changed, explained, mended, broke."""
    counts = ("changed", "explained", "mended", "broke")
    return {
        each["way"].join(["", *map(str, each["hunks"])]): tuple(each[name] for name in counts) for each in found[kind]
    }


def test_only_decisions_that_differ_are_asked_and_a_budget_ends_it_and_the_same_command_goes_on(checkout):
    said, found = attribute(checkout)
    assert (said.code, found["decisions"]) == (3, 5)
    assert [(each["asked"], each["missing"]) for each in found["effects"]] == [(0, 3)] * 4
    assert "3 of 5 decisions differ; 12 answers not recorded yet." in said.out

    assert record(checkout, said, "--max-requests", "5", "--set", "concurrency=1") == (3, 5)
    said, found = attribute(checkout)
    assert said.code == 3
    assert 0 < sum(each["missing"] for each in found["effects"]) < 12
    assert {each["score"] for each in found["effects"] if each["missing"]} == {None}

    assert record(checkout, said) == (0, 12 - 5)
    assert attribute(checkout)[0].code == 0
    assert evals(checkout, "plan", "tiny.yaml").code == 0, "what was recorded before is as it was"


def test_the_requests_go_out_as_one_round_of_files_in_which_equal_ones_stand_once(checkout, tmp_path):
    said, _ = attribute(checkout)
    done = evals(checkout, *printed(said)[0], "--export", str(tmp_path / "rounds"))

    assert done.code == 3
    (file,) = (tmp_path / "rounds" / "round-001").glob("*.jsonl")
    assert len(file.read_text().splitlines()) == 8, "point `one` of both cases is the same request"


def test_the_suite_of_an_attribution_has_no_verdict(checkout):
    run = evals(checkout, "run", printed(attribute(checkout)[0])[0][-1])

    assert (run.code, "asks decision points only, and has no verdict" in run.err) == (2, True)


def test_a_decision_that_one_hunk_turned_is_attributed_to_it(answered):
    said, found, _ = answered

    singles = {version: row for version, row in rows(found).items() if version in ("+1", "+2", "+3", "+4")}
    assert singles == {"+1": (2, 2, 2, 0), "+2": (0, 0, 0, 0), "+3": (0, 0, 0, 0), "+4": (0, 0, 0, 0)}
    assert (found["by_one"], found["by_several"], found["together"]) == (2, 0, 1)
    assert "Hunk 1 alone gives b's choice in 2 of the 3 decisions that differ." in said.out
    assert found["effects"][0]["where"] == [
        "wrong-sum one: codebase_search became writer",
        "wrong-total one: codebase_search became writer",
    ]


def test_the_scores_of_the_hunks_and_their_interaction_are_the_whole(answered):
    said, found, _ = answered

    alone = sum(each["score"] for each in found["effects"][:4])
    assert alone == pytest.approx(2 / 5)
    assert found["whole"]["score"] == pytest.approx(1 / 5)
    assert (found["whole"]["mended"], found["whole"]["broke"]) == (2, 1)
    assert found["whole"]["low"] < 1 / 5 < found["whole"]["high"]
    assert "single hunks add up to +40, all hunks together to +20; interaction \N{MINUS SIGN}20." in said.out


def test_a_decision_that_two_hunks_turned_together_is_found_among_the_pairs(answered):
    pairs = {version: row for version, row in rows(answered[1]).items() if len(version) == 4 and row[0]}

    assert pairs == {"+2+3": (1, 1, 0, 1)}


def test_a_hunk_taken_out_shows_which_decisions_need_it(answered):
    out = {version: row for version, row in rows(answered[1]).items() if version.startswith("-")}

    assert out == {"-1": (2, 2, 2, 0), "-2": (1, 1, 0, 1), "-3": (1, 1, 0, 1), "-4": (0, 0, 0, 0)}


def test_whole_trials_are_attributed_where_routes_differ(answered):
    routes = {version: row[:2] for version, row in rows(answered[1], "routes").items()}

    assert routes == {
        "+1": (0, 0), "+2": (0, 0), "+3": (0, 0), "+4": (2, 2), "-1": (0, 0), "-2": (0, 0), "-3": (0, 0), "-4": (2, 2),
    }  # fmt: skip


def test_the_page_shows_the_lines_of_each_hunk_beside_what_it_did(answered):
    page = (answered[2] / "reports" / "attribute" / "index.html").read_text()

    assert "added: changed 2 of 3 decisions, 2 as in b; 2 better, 0 worse; score +40" in page
    assert '<span class="ins">Lead the team. Be ALPHA.</span>' in page


def test_where_no_decision_differs_nothing_is_asked(checkout):
    write(checkout / "c.md", PROMPT.format(version="c", **{**OLD, "lead": "Be kind.", "never": "Be swift."}))
    variants = [{"name": name, "prompt": f"{name}.md"} for name in ("a", "c")]
    a_suite(checkout, variants=variants, candidate="c", reference="a")
    with an_llm_server(planted) as llm:
        assert evals(checkout, "record", "tiny.yaml", "--base-url", llm.base_url).code == 0

    said = evals(checkout, "attribute", "a", "c", "--suite", "tiny.yaml", "--taken-out", "--pairs", "--trials")

    assert (said.code, printed(said)) == (0, [])
    assert said.out.splitlines() == [
        "a and c decide the same in all 5 decisions.",
        "Report: reports/attribute/index.html",
    ]


WRONG = {
    "the same": (("a", "a"), 2, "do not differ in exactly one prompt"),
    "other settings": (("a", "guarded"), 2, "differ in other settings"),
    "one hunk": (("a", "near"), 2, "differ in one hunk or none"),
    "not recorded": (("a", "far"), 3, "are not wholly recorded: `evals record "),
}


@pytest.mark.parametrize(("sides", "code", "words"), WRONG.values(), ids=WRONG.keys())
def test_versions_that_cannot_be_attributed_are_refused_in_one_line(checkout, sides, code, words):
    near = PROMPT.format(version="near", **{**OLD, "lead": "Be near."})
    far = PROMPT.format(version="far", **{**OLD, "lead": "Be far.", "never": "Be far."})
    variants = [{"name": name, "prompt": f"{name}.md"} for name in ("a", "near", "far")]
    write(checkout / "near.md", near), write(checkout / "far.md", far)
    a_suite(
        checkout, variants=[*variants, {"name": "guarded", "prompt": "b.md", "guards": "prd"}], candidate="near",
        reference="a",
    )  # fmt: skip

    said = evals(checkout, "attribute", *sides, "--suite", "tiny.yaml")

    assert (said.code, words in said.err, said.err.count("\n")) == (code, True, 1), said.err


def test_the_prompt_of_any_target_is_attributed(tmp_path):
    """A router of a stranger's graph whose versions its `config` names."""
    project = copied("support", tmp_path)
    for case in sorted((project / "evaluation" / "cases").glob("*.yaml"))[2:]:
        case.unlink()
    folder = project / "prompts" / "router"
    write(folder / "v1.md", "Choose a queue.\n\nBe calm.\n\nBe brief.\n")
    write(folder / "v2.md", "Choose a queue.\n\nBe TECHNICAL.\n\nBe kind.\n")

    def answered(texts, body):
        system = body["messages"][0]["content"]
        if "Choose a queue" not in system:
            return say(texts, body)
        return json.dumps({"reason": "by its prompt", "queue": "technical" if "TECHNICAL" in system else "billing"})

    with live_model(answered) as model:
        assert evals_in(project, "record", "router", **model)[0] == 0
        code, said = evals_in(project, "attribute", "v1", "v2", "--suite", "router")
        assert (code, said.splitlines()[-1]) == (
            3,
            "evals: suite router has no decision points; `evals points router` makes them, then `evals record router`",
        )
        for words in (("points", "router"), ("record", "router")):
            code, said = evals_in(project, *words, **model)
            assert code == 0, said
        code, said = evals_in(project, "attribute", "v1", "v2", "--suite", "router")
        assert code == 3, said
        line = next(line for line in said.splitlines() if line.startswith("  evals record"))
        code, said = evals_in(project, *shlex.split(line)[1:], **model)
        assert code == 0, said
    code, said = evals_in(project, "attribute", "v1", "v2", "--suite", "router")

    assert (code, "Hunk 1 alone gives v2's choice in 2 of the 2 decisions that differ." in said) == (0, True), said
    assert "No decision point is labelled, so no change is better or worse: grade it in `accept`." in said
    page = (project / "reports/attribute/index.html").read_text(encoding="utf-8")
    assert not re.search(r"Score, in points|; score|0 better|>95 %<", said + page)

"""One thing changes after the blessing; the next run has to notice it, and say what it was."""

import json

import pytest

from tests.builders.checkout import a_suite, cassettes, evals
from tests.builders.llm_server import an_llm_server

pytestmark = pytest.mark.slow

SECRET = "sk-" + "abcdefghijKLMNOPQRST0123456789"  # planted; spelled in two parts so that no scanner takes it for real


def edit_one_word(checkout):
    prompt = checkout / "mine.md"
    prompt.write_text(prompt.read_text().replace("at each step", "at every step"))


def test_one_edited_word_cannot_be_judged_and_recording_mends_it(checkout):
    """The sentence names the variant, how much is lost, and the command; the other variant is not touched."""
    edit_one_word(checkout)

    said = evals(checkout, "run", "tiny.yaml")

    assert said.code == 3
    assert "new lost coverage in 2 of 2 trials and 2 of 2 decision points" in said.out
    assert "record SUITE=tiny.yaml" in said.out
    assert "old lost coverage" not in said.out
    with an_llm_server() as llm:
        assert evals(checkout, "record", "tiny.yaml", "--base-url", llm.base_url).code == 0
        assert set(llm.asked) == {"supervisor"}
    assert evals(checkout, "run", "tiny.yaml").code == 0


def test_bless_refuses_a_suite_with_holes(checkout):
    baseline = checkout / "evals" / "suites" / "baselines" / "tiny.json"
    before = baseline.read_bytes()
    edit_one_word(checkout)

    said = evals(checkout, "bless", "tiny.yaml")

    assert (said.code, baseline.read_bytes()) == (3, before)
    assert said.err.startswith("evals: not blessed: new lost coverage")


def cut(text):
    return text[: len(text) // 2]


def plant(text):
    return text.replace("Quantities are overwritten.", f"Quantities are overwritten. {SECRET}", 1)


def drop_one(text):
    """Without the first interaction, and without the count that would give the cut away."""
    first, second = text.index("\n- request:"), text.index("\n- request:", text.index("\n- request:") + 1)
    count = int(text.partition("count: ")[2].partition("\n")[0])
    return (text[:first] + text[second:]).replace(f"count: {count}", f"count: {count - 1}", 1)


DAMAGES = {"truncated": (cut, "truncated"), "secret": (plant, "secret"), "one missing": (drop_one, "lost coverage")}


def test_three_damages_have_three_causes(checkout):
    """Each is one line that names its file or what it lost; none is green, and the secret is never repeated."""
    path = checkout / "cassettes" / "wrong-sum.yaml"
    whole = path.read_text()
    sentences = {}
    for name, (damage, _) in DAMAGES.items():
        path.write_text(damage(whole))
        said = evals(checkout, "run", "tiny.yaml")
        assert said.code == 3, name
        assert SECRET not in said.out + said.err
        run = json.loads((checkout / "reports" / "latest" / "run.json").read_text())
        sentences[name] = run["verdict"]["sentence"]

    assert len(set(sentences.values())) == 3
    assert all("\n" not in sentence for sentence in sentences.values())
    assert "wrong-sum.yaml:" in sentences["truncated"]
    assert "wrong-sum.yaml:" in sentences["secret"]
    assert "wrong-sum.yaml is another file than the one listed" in sentences["one missing"]


def test_a_corrupt_baseline_is_three_and_one_line(checkout):
    (checkout / "evals" / "suites" / "baselines" / "tiny.json").write_text("{")

    said = evals(checkout, "run", "tiny.yaml")

    assert said.code == 3
    assert "not a baseline" in said.err
    assert said.err.count("\n") == 1


def test_a_part_of_the_suite_is_not_judged(checkout):
    said = evals(checkout, "run", "tiny.yaml", "--case", "wrong-sum")

    assert said.code == 3
    assert "Cannot judge new: only wrong-sum of the suite's cases were run (--case)." in said.out


def test_a_changed_label_makes_the_baseline_incomparable(checkout):
    labels = checkout / "datasets" / "triage" / "cases" / "wrong-sum" / "case.yaml"
    labels.write_text(labels.read_text().replace("severity: HIGH", "severity: LOW"))

    said = evals(checkout, "run", "tiny.yaml")

    assert said.code == 3
    assert "labels, issue or code changed since the baseline: wrong-sum" in said.out


def test_without_guards_the_tape_is_left_and_labelled(checkout):
    """Nothing ends the graph after the writer now: the supervisor is asked once more, and nobody recorded that."""
    said = evals(checkout, "run", "tiny.yaml", "--set", "guards=none")

    assert said.code == 3
    assert "new+none is not recorded in 2 trials" in said.out
    assert "frontier@4" in said.out
    assert "--set guards=none" in said.out


WRONG_USE = {
    "suite": (("run", "nosuch"), "no suite 'nosuch'"),
    "case": (("run", "tiny.yaml", "--case", "nosuch"), "no such case: nosuch"),
    "variant": (("run", "tiny.yaml", "--variant", "nosuch"), "no variant nosuch"),
    "guards": (("run", "tiny.yaml", "--set", "guards=nosuch"), "no guard set is called 'nosuch'"),
    "option": (("run", "tiny.yaml", "--nosuch"), "No such option"),
    "command": (("nosuch",), "No such command"),
    "checkout": (("run", "tiny.yaml", "--root", "datasets"), "holds no datasets/"),
    "odd endpoint": (("record", "tiny.yaml", "--base-url", "localhost"), "is no endpoint"),
}


@pytest.mark.parametrize(("words", "cause"), WRONG_USE.values(), ids=WRONG_USE.keys())
def test_wrong_use_is_two_and_one_line(checkout, words, cause):
    said = evals(checkout, *words)

    assert said.code == 2
    assert cause in said.err
    assert said.err.startswith("evals: ")
    assert said.err.count("\n") == 1


def test_recording_without_an_endpoint_is_two_and_one_line(checkout, monkeypatch):
    """Nobody is asked by default, but for a local model that is being served; here it is looked for in vain."""
    monkeypatch.delenv("EVALS_BASE_URL", raising=False)
    monkeypatch.setattr("evals.cli.endpoint_or_batch.DEFAULT_PORT", 9)
    (checkout / "cassettes" / "wrong-sum.yaml").unlink()

    said = evals(checkout, "record", "tiny.yaml")

    assert said.code == 2
    assert said.err.startswith("evals: no endpoint")
    assert said.err.count("\n") == 1


def test_an_unknown_prompt_is_two_and_one_line(checkout):
    a_suite(checkout, variants=[{"name": "old", "prompt": "v2"}, {"name": "new", "prompt": "gone.md"}])

    said = evals(checkout, "run", "tiny.yaml")

    assert said.code == 2
    assert "variant new: gone.md: no such supervisor prompt" in said.err
    assert said.err.count("\n") == 1


def test_a_suite_that_selects_no_case_is_three(checkout):
    a_suite(checkout, cases={"tags": ["nobody"]})

    said = evals(checkout, "run", "tiny.yaml")

    assert said.code == 3
    assert "no case is selected" in said.err


def test_nothing_recorded_is_three(checkout):
    for name in cassettes(checkout):
        (checkout / "cassettes" / name).unlink()

    said = evals(checkout, "run", "tiny.yaml")

    assert said.code == 3
    assert "no trial of new is fully recorded" in said.out


def test_what_stands_in_a_cassette_without_a_digest_cannot_be_changed_without_a_word(checkout):
    """Tokens are scored, and no request or answer tells them: the manifest does."""
    path = checkout / "cassettes" / "wrong-sum.yaml"
    path.write_text(path.read_text().replace("prompt_tokens: 1,", "prompt_tokens: 9,", 1))

    said = evals(checkout, "run", "tiny.yaml")

    assert said.code == 3
    assert "wrong-sum.yaml is another file than the one listed" in said.out

"""What decides a verdict in a recorded checkout: other models, new versions, edits of others, what may be blessed."""

import json
import shutil

import pytest
import yaml

from tests.builders.checkout import evals
from tests.builders.llm_server import an_llm_server, answering, answering_as

pytestmark = pytest.mark.slow

SHORT = answering(route=("investigator", "writer"))


def edit(checkout, path="mine.md"):
    prompt = checkout / path
    prompt.write_text(prompt.read_text().replace("at each step", "at every step"))


def record(checkout, answer=None):
    with an_llm_server(answer) as llm:
        assert evals(checkout, "record", "tiny.yaml", "--base-url", llm.base_url).code == 0


def change_suite(checkout, **changes):
    path = checkout / "tiny.yaml"
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), **changes}, sort_keys=False))


def add_version(checkout, name="six", **changes):
    """A copy of the prompt as a new version, in the suite as a variant."""
    shutil.copy(checkout / "mine.md", checkout / f"{name}.md")
    edit(checkout, f"{name}.md")
    variants = yaml.safe_load((checkout / "tiny.yaml").read_text())["variants"]
    change_suite(checkout, variants=[*variants, {"name": name, "prompt": f"{name}.md"}], **changes)


@pytest.fixture(scope="module")
def one_more(story, tmp_path_factory):
    """A recorded checkout with a version more, as good as the others, which a larger model answered."""
    checkout = shutil.copytree(story[0], tmp_path_factory.mktemp("more") / "checkout")
    add_version(checkout)
    record(checkout, answering_as("large"))
    return checkout


@pytest.fixture(scope="module")
def lost(story, tmp_path_factory):
    """A recorded checkout whose candidate, a new version, takes a short way and loses every case."""
    checkout = shutil.copytree(story[0], tmp_path_factory.mktemp("lost") / "checkout")
    add_version(checkout, candidate="six", reference="new")
    record(checkout, SHORT)
    return checkout


@pytest.fixture
def of_two_models(one_more, tmp_path):
    return shutil.copytree(one_more, tmp_path / "checkout")


@pytest.fixture
def losing(lost, tmp_path):
    return shutil.copytree(lost, tmp_path / "checkout")


def baseline(checkout):
    return json.loads((checkout / "evals" / "suites" / "baselines" / "tiny.json").read_text())


@pytest.mark.parametrize("answer", [SHORT, None], ids=["a worse model", "as good a model"])
def test_an_edit_that_another_model_answered_is_not_judged(checkout, answer):
    edit(checkout)
    record(checkout, answering_as("large", answer))

    said = evals(checkout, "run", "tiny.yaml")

    assert said.code == 3
    assert "Cannot judge new: new was answered by large, old by m (decision points, supervisor" in said.out


def test_a_comparison_of_two_prompts_follows_the_same_rule(of_two_models):
    said = evals(of_two_models, "compare", "new", "six", "--suite", "tiny.yaml")
    assert said.code == 3
    assert "six was answered by large, new by m" in said.out


def test_a_suite_may_say_that_it_compares_models(of_two_models):
    change_suite(of_two_models, gate={"models": "compared"})

    assert evals(of_two_models, "compare", "new", "six", "--suite", "tiny.yaml").code == 0


def test_a_new_version_does_not_keep_the_candidate_from_being_judged(checkout):
    """Step by step as CONTRIBUTING.md has it: at no time is blessing the advice."""
    add_version(checkout)

    unrecorded = evals(checkout, "run", "tiny.yaml")
    record(checkout)
    shown = evals(checkout, "run", "tiny.yaml")
    change_suite(checkout, candidate="six", reference="new")
    judged = evals(checkout, "run", "tiny.yaml")

    assert [unrecorded.code, shown.code, judged.code] == [0, 0, 0]
    assert "no baseline yet for six: shown, and decides nothing here" in unrecorded.out
    assert "no baseline yet for six: bless it after a review" in judged.out
    assert evals(checkout, "bless", "tiny.yaml").code == 0
    assert "no baseline" not in evals(checkout, "run", "tiny.yaml").out


def test_a_new_version_that_lost_everything_is_neither_green_nor_told_to_be_blessed(losing):
    said = evals(losing, "run", "tiny.yaml")
    assert said.code == 3  # two cases are too few for a test
    assert "Cannot judge six: six against new: route.pass -100 points" in said.out
    assert "look at the report, then run" not in said.out


def test_what_is_lost_is_blessed_for_a_reason_only_and_the_reason_is_kept(losing):
    before = baseline(losing)

    refused = evals(losing, "bless", "tiny.yaml")
    blank = evals(losing, "bless", "tiny.yaml", "--worse", " ")

    assert (refused.code, blank.code, baseline(losing)) == (2, 2, before)
    assert refused.err.startswith(
        "evals: not blessed, for it is worse or cannot be judged: six against new: route.pass"
    )
    assert refused.err.endswith('give the reason: `.venv/bin/evals bless tiny.yaml --worse "why"`\n')
    assert refused.err.count("\n") == 1
    allowed = evals(losing, "bless", "tiny.yaml", "--worse", "a trial of the short way")
    assert allowed.code == 0
    assert "accepted: six against new: route.pass -100 points" in allowed.out
    kept = baseline(losing)["accepted"]
    assert kept["why"] == "a trial of the short way"
    assert kept["losses"][0].startswith("six against new: route.pass -100 points")


def test_a_reason_for_a_loss_that_is_none_is_not_kept(checkout):
    said = evals(checkout, "bless", "tiny.yaml", "--worse", "just in case")

    assert (said.code, "accepted" in baseline(checkout)) == (0, False)
    assert "Nothing is worse; the reason is not kept." in said.out


def test_a_baseline_that_cannot_be_read_is_replaced_for_a_reason_only(checkout):
    """Nobody can say what would be lost."""
    path = checkout / "evals" / "suites" / "baselines" / "tiny.json"
    path.write_text("{}")

    refused = evals(checkout, "bless", "tiny.yaml")
    assert (refused.code, path.read_text()) == (2, "{}")
    assert "the baseline cannot be read" in refused.err
    assert evals(checkout, "bless", "tiny.yaml", "--worse", "it was damaged").code == 0


def test_an_edit_of_a_variant_that_decides_nothing_is_green_and_said(checkout):
    add_version(checkout)
    record(checkout)
    assert evals(checkout, "bless", "tiny.yaml").code == 0
    prompt = checkout / "six.md"
    prompt.write_text(prompt.read_text().replace("at every step", "at any step"))

    said = evals(checkout, "run", "tiny.yaml")
    assert said.code == 0
    assert "; six is not recorded after its edit; it decides nothing here." in said.out


def test_a_baseline_keeps_who_answered_and_the_default_prompts(checkout):
    kept = baseline(checkout)

    assert kept["answered_by"]["new"]["supervisor"] == {"m": []}
    assert kept["answered_by"]["new"]["decision points"] == {"m": []}
    assert kept["default_prompts"]["llm"].startswith("v6 ")

"""What a recorded checkout says of its recordings, and how it gets rid of what nobody asks for."""

import json
from datetime import date

import pytest

from evals.cassettes.cassette_files import load, merge_write
from evals.cli.cassette_upkeep import prune, status
from evals.errors import CannotJudgeError
from tests.builders.checkout import a_suite, cassettes, evals
from tests.builders.interaction import an_interaction

pytestmark = pytest.mark.slow
LEFT_OVER = an_interaction("nobody asks this", agent="critic")


@pytest.fixture
def littered(checkout, monkeypatch):
    """With one interaction too many; the working directory."""
    monkeypatch.chdir(checkout)
    merge_write(checkout / "cassettes" / "wrong-sum.yaml", [LEFT_OVER])
    return checkout


def test_recording_lists_what_it_accepts(checkout):
    said = evals(checkout, "cassette", "verify")

    assert said.code == 0, said.out
    assert f"{len(cassettes(checkout))} cassettes with" in said.out


def test_status_says_per_case_and_variant_what_a_trial_rests_on(littered, capsys):
    assert status("tiny.yaml", littered, jobs=1, today=date(2027, 1, 1), as_json=True) == 0

    told = json.loads(capsys.readouterr().out)

    assert told["suites"][0]["cases"]["wrong-sum"] == {"old": "exact", "new": "exact"}
    assert {found["case"]: found["unused"] for found in told["cassettes"]} == {"wrong-total": 0, "wrong-sum": 1}


def test_status_shows_where_a_tape_ends(littered):
    (littered / "cassettes" / "wrong-sum.yaml").unlink()

    said = evals(littered, "cassette", "show", "--suite", "tiny.yaml", "--jobs", "1")

    assert said.code == 0, said.err
    assert "1/2" in said.out
    assert "1 cases of tiny have nothing recorded: wrong-sum" in said.out


def test_show_follows_a_trial_and_ends_with_its_route(checkout):
    said = evals(checkout, "cassette", "show", "wrong-sum", "--variant", "old", "--suite", "tiny.yaml")

    asked = [line.split(" · ")[0] for line in said.out.splitlines() if line.startswith("=== ")]

    assert asked[:3] == ["=== 1. supervisor", "=== 2. investigator", "=== 3. supervisor"]
    assert said.out.splitlines()[-1] == ("old on wrong-sum: exact, route investigator codebase_search critic writer")


def test_prune_only_says_what_would_go(littered, capsys):
    before = cassettes(littered)

    assert prune(littered, jobs=1, yes=False, shipped=["tiny.yaml"]) == 0

    out = capsys.readouterr().out
    assert f"cassettes/wrong-sum.yaml: critic {LEFT_OVER.key[:12]}" in out
    assert "1 interactions would go; `evals cassette tidy --unused --yes` drops them" in out
    assert cassettes(littered) == before


def test_prune_drops_that_and_nothing_else(littered, checkout):
    assert prune(littered, jobs=1, yes=True, shipped=["tiny.yaml"]) == 0

    assert LEFT_OVER not in load(littered / "cassettes" / "wrong-sum.yaml").interactions
    assert evals(littered, "plan", "tiny.yaml").code == 0
    assert evals(littered, "cassette", "verify").code == 0


def test_prune_refuses_while_a_trial_is_not_exact(littered):
    (littered / "cassettes" / "wrong-total.yaml").unlink()
    before = cassettes(littered)

    with pytest.raises(CannotJudgeError, match=r"tiny: old \(1\), tiny: new \(1\)"):
        prune(littered, jobs=1, yes=True, shipped=["tiny.yaml"])

    assert cassettes(littered) == before


def test_a_suite_of_the_same_name_does_not_hide_what_another_needs(checkout, monkeypatch, capsys):
    """Someone copied tiny.yaml, took the old prompt out, and left the name as it was."""
    monkeypatch.chdir(checkout)
    twins = [{"name": "new", "prompt": "mine.md"}, {"name": "twin", "prompt": "mine.md"}]
    a_suite(checkout / "copy", variants=twins, reference="twin")

    assert prune(checkout, ["copy/tiny.yaml"], jobs=1, yes=False, shipped=["tiny.yaml"]) == 0

    assert capsys.readouterr().out == "nothing is unused\n"


def test_a_suite_that_selects_nothing_proves_nothing(littered):
    """The shipped suites are about other cases."""
    said = evals(littered, "cassette", "tidy", "--unused", "--yes", "--also", "tiny.yaml", "--jobs", "1")

    assert said.code == 3
    assert "no case is selected" in said.err

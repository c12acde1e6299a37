"""Files edited while a run is under way: what is kept, and judged, is what was named when it began.

The edit is made at a known moment, between naming the trials and running the first, and undone after it.
"""

import shutil

import pytest

from evals.runner import trials as pool
from tests.builders.checkout import evals

pytestmark = pytest.mark.slow

RUN = ("run", "tiny.yaml")


@pytest.fixture
def edited_meanwhile(checkout, monkeypatch):
    """A run from nothing during which a file is spoilt while the first case runs, and put back."""

    def run(path, spoil):
        before, run_case = path.read_bytes(), pool.run_case

        def during(task):
            path.write_bytes(spoil(before))
            try:
                return run_case(task)
            finally:
                path.write_bytes(before)

        shutil.rmtree(checkout / ".cache")
        with monkeypatch.context() as patch:
            patch.setattr(pool, "run_case", during)
            return evals(checkout, *RUN)

    return run


def more(content):
    return content + b"\nBe brief.\n"


def other_tokens(content):
    return content.replace(b"prompt_tokens: 1,", b"prompt_tokens: 7,", 1)


def test_a_prompt_that_is_edited_meanwhile_has_no_say(checkout, edited_meanwhile):
    """Workers are handed the prompt that the trials are named by."""
    assert edited_meanwhile(checkout / "mine.md", more).code == 0

    (checkout / "mine.md").write_bytes(more((checkout / "mine.md").read_bytes()))
    assert evals(checkout, *RUN).code == evals(checkout, *RUN, "--fresh").code == 3


def test_a_cassette_that_is_edited_meanwhile_is_not_judged_and_nothing_of_it_is_kept(checkout, edited_meanwhile):
    said = edited_meanwhile(checkout / "cassettes" / "wrong-sum.yaml", other_tokens)

    assert said.code == 3
    assert "changed while the run was under way: cassettes/wrong-sum.yaml; run it again" in said.out
    assert evals(checkout, *RUN).code == 0


def test_code_of_a_dataset_that_is_edited_meanwhile_is_never_kept_under_the_name_of_what_it_was(
    checkout, edited_meanwhile
):
    said = edited_meanwhile(checkout / "datasets" / "codebases" / "shop" / "README.md", more)

    assert said.code == 3
    assert "while the run was under way; run it again" in said.out
    assert evals(checkout, *RUN).code == 0


def test_an_issue_that_is_edited_meanwhile_has_no_say(checkout, edited_meanwhile):
    path = checkout / "datasets" / "triage" / "cases" / "wrong-sum" / "issue.md"

    assert edited_meanwhile(path, more).code == 0
    path.write_bytes(more(path.read_bytes()))
    assert evals(checkout, *RUN).code == 3


def test_vectors_that_are_written_meanwhile_are_not_judged(checkout, edited_meanwhile):
    path = checkout / "cassettes" / "vectors.npz"
    assert path.exists()
    said = edited_meanwhile(path, lambda content: content)

    assert (said.code, "changed while the run was under way: vectors.npz" in said.out) == (3, True)


@pytest.mark.parametrize("spoil", [lambda content: content + b"\n", other_tokens], ids=["a line end", "tokens"])
def test_a_kept_verdict_does_not_outlive_its_cassettes_and_the_remedy_works(checkout, spoil):
    path = checkout / "cassettes" / "wrong-sum.yaml"
    assert evals(checkout, *RUN).code == 0
    path.write_bytes(spoil(path.read_bytes()))
    said = evals(checkout, *RUN)

    assert said.code == 3
    assert (
        "wrong-sum.yaml is another file than the one listed; if its change was meant, run `evals cassette" in said.out
    )
    if spoil is other_tokens:  # the other is no file we write
        assert evals(checkout, "cassette", "tidy").code == 0
        assert "another file than the one listed" not in evals(checkout, *RUN).out


def test_a_cassette_that_no_manifest_lists_is_not_judged(checkout):
    manifest = checkout / "cassettes" / "manifest.jsonl"
    first, _, rest = manifest.read_text().partition("\n")
    manifest.write_text(rest)
    assert "wrong-sum" in first
    assert "wrong-sum.yaml: not listed in cassettes/manifest.jsonl; run `evals cassette tidy`" in (
        evals(checkout, *RUN).out
    )
    manifest.unlink()
    said = evals(checkout, *RUN)

    assert (said.code, "cassettes/manifest.jsonl is missing" in said.out) == (3, True)
    assert evals(checkout, "cassette", "tidy").code == 0
    assert evals(checkout, *RUN).code == 0


def test_the_gate_says_what_has_changed_since_the_report_was_made(checkout):
    assert evals(checkout, *RUN).code == evals(checkout, "gate").code == 0
    (checkout / "mine.md").write_bytes(more((checkout / "mine.md").read_bytes()))
    said = evals(checkout, "gate")

    assert said.code == 3
    assert "reports/latest/run.json: made before a change of the prompt of new; run `.venv/bin/evals run" in said.err
    kept = shutil.copy(checkout / "reports" / "latest" / "run.json", checkout / "artefact.json")
    elsewhere = evals(checkout, "gate", str(kept))
    assert (elsewhere.code, "not compared with this checkout" in elsewhere.out) == (0, True)


def test_a_run_that_ends_with_a_usage_error_leaves_no_report_of_another(checkout):
    assert evals(checkout, *RUN).code == 0
    latest = checkout / "reports" / "latest"
    before = {path.name: path.read_bytes() for path in latest.iterdir()}
    assert evals(checkout, *RUN, "--variant", "nobody").code == 2

    assert [path.name for path in latest.iterdir()] == ["previous"]
    assert {path.name: path.read_bytes() for path in (latest / "previous").iterdir()} == before
    said = evals(checkout, "gate")
    assert (said.code, "the last run came to no verdict; run it again" in said.err) == (3, True)
    assert evals(checkout, *RUN).code == 0
    assert {path.name: path.read_bytes() for path in latest.iterdir()} == before

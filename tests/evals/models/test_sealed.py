"""The text of a sealed file in pieces is the text in one, and its digest that of the content."""

import hashlib
import json

import pytest

from evals.models.run import CaseChange
from evals.models.suite import Variant
from tests.builders.run import a_run, a_trial
from tests.builders.trace import a_trace

RUNS = {
    "no trial": a_run(),
    "one": a_run(a_trial()),
    "a change, which is left out where there is none": a_run(
        changes=(CaseChange(case_id="one", variant="v2", what="steps", was="a b", now="a"),)
    ),
    "some, with lines and quotes in their texts": a_run(
        a_trial(a_trace("writer", variant="v2", comment='a\n"b"\n]')), a_trial(a_trace("critic", variant="v3"))
    ),
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS.keys())
@pytest.mark.parametrize("indent", [None, 1])
def test_the_pieces_of_a_run_are_the_text_of_it(run, indent):
    assert "".join(run.pieces(indent=indent)) == run.model_dump_json(by_alias=True, indent=indent)


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS.keys())
def test_the_digest_is_that_of_all_but_itself(run):
    text = run.model_dump_json(by_alias=True, exclude={"content_sha256"})

    assert run.sealed().content_sha256 == hashlib.sha256(text.encode()).hexdigest()


def test_no_piece_holds_more_than_one_trial():
    """The text of thousands is never there at once."""
    trials = [a_trial(a_trace("writer", variant=name)) for name in ("v2", "v3", "v4")]
    largest = max(len(trial.model_dump_json(indent=1)) for trial in trials)
    pieces = [piece for piece in a_run(*trials).pieces(indent=1) if '"visits"' in piece]

    assert len(pieces) == 3
    assert max(map(len, pieces)) < 2 * largest


def test_a_variant_is_written_in_the_order_of_older_files_so_that_their_digests_hold():
    older = '{"name":"v1","supervisor":"llm","prompt":"v1","rules":null,"models":{"default":"m"}}'

    assert list(json.loads(Variant.model_validate_json(older).model_dump_json())) == [
        "name",
        "supervisor",
        "prompt",
        "rules",
        "models",
    ]

"""What a weak model says every day is recorded at the first try: no neighbour's fate depends on who answers first."""

import json
import random
import time
from itertools import cycle

import pytest

from tests.builders.checkout import a_checkout, evals
from tests.builders.endpoint import a_completion
from tests.builders.llm_server import an_llm_server, answering
from tests.builders.shipped import every

pytestmark = pytest.mark.slow

WEAK = {
    "another schema": a_completion('{"foo": 1}'),
    "cut by its length": a_completion('{"root_cause": "x', "length"),
    "filtered": a_completion("", "content_filter"),
    "a refusal": a_completion(None, refusal="I will not"),
    "no content": a_completion(None),
    "empty": a_completion(""),
    "a list": a_completion([{"type": "text", "text": "x"}]),  # type: ignore[arg-type]
    "a number": a_completion(5),  # type: ignore[arg-type]
    "a null character": a_completion('{"a": "\u0000"}'),
}


ORDERS = [
    *((kind, last) for kind, last in zip(WEAK, cycle(["writer-comment", "writer-ticket"]), strict=False)),
    *(("another schema", last) for last in ("writer", "writer-ticket")),
]


FEW = [("another schema", "writer"), ("cut by its length", "writer-ticket"), ("a refusal", "writer-ticket")]
FEW += [("no content", "writer-comment"), ("a number", "writer-ticket")]
"""One of each class: a wrong object, half an object, none, nothing, and no text."""


@pytest.mark.parametrize(("kind", "last"), ORDERS if every() else FEW)
def test_a_report_that_breaks_its_schema_is_recorded_and_replays_whoever_answers_last(tmp_path, kind, last):
    dice = random.Random(last)  # noqa: S311 - pauses, not keys
    checkout = a_checkout(tmp_path)

    def weakly(agent, body):
        time.sleep(0.05 if agent == last else dice.uniform(0, 0.01))
        if agent == "writer":
            return 200, "application/json", json.dumps(WEAK[kind]).encode()
        return answering()(agent, body)

    with an_llm_server(weakly) as llm:
        recorded = evals(checkout, "record", "tiny.yaml", "--case", "wrong-sum", "--base-url", llm.base_url)

    assert (recorded.code, "2 of 2 trials replay exactly" in recorded.out) == (0, True), recorded.err
    assert evals(checkout, "plan", "tiny.yaml", "--case", "wrong-sum").code == 0

"""A secret in what an endpoint says: nothing below the checkout and nothing on the screen ever holds it."""

import json

import pytest

from tests.builders.checkout import a_checkout, evals
from tests.builders.endpoint import a_completion
from tests.builders.llm_server import an_llm_server, answering
from tests.builders.secret import PLANTED

pytestmark = pytest.mark.slow

SECRET = PLANTED["anthropic_key"]
FOUND = "anthropic_key at response.choices[0].message.content of a request by critic"
SAYS = {
    "in an answer": (200, json.dumps(a_completion(f"use {SECRET}")).encode(), FOUND),
    "in a failure": (400, json.dumps({"error": {"message": f"bad {SECRET}"}}).encode(), "status 400"),
}


@pytest.mark.parametrize(("status", "body", "line"), SAYS.values(), ids=SAYS.keys())
def test_a_secret_reaches_neither_file_nor_screen(tmp_path, status, body, line):
    """The critic's endpoint leaks; what the others said before it is kept."""
    checkout = a_checkout(tmp_path)

    def leaking(agent, asked):
        return (status, "application/json", body) if agent == "critic" else answering()(agent, asked)

    with an_llm_server(leaking) as llm:
        recorded = evals(checkout, "record", "tiny.yaml", "--base-url", llm.base_url)
    planned = evals(checkout, "plan", "tiny.yaml")
    judged = evals(checkout, "run", "tiny.yaml")

    written = [path.read_bytes() for path in checkout.rglob("*") if path.is_file()]
    assert line in recorded.err
    assert (recorded.code, planned.code, judged.code) == (3, 3, 3)
    assert not any(SECRET.encode() in content for content in written)
    assert not any(SECRET in said.out + said.err for said in (recorded, planned, judged))

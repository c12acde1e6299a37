"""A secret in what an endpoint says: nothing below the checkout and nothing on the screen ever holds it."""

import json
import random

import pytest

from tests.builders.checkout import a_checkout, evals
from tests.builders.endpoint import a_completion
from tests.builders.llm_server import an_llm_server, answering
from tests.builders.secret import PLANTED
from tests.builders.shipped import every
from tests.chaos.shapes import ENCODED, IN_A_SYNTAX

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


SPELLED = {
    shape.name: shape
    for shape in (*IN_A_SYNTAX, *ENCODED)
    if shape.name
    in {
        "Maven <password>",
        "an attribute of XML",
        "ENV of a Dockerfile",
        "netrc",
        "IDENTIFIED BY",
        "YAML, value on the next line",
        "JSON, value on the next line",
        "HTML entities",
        "token is",
        "escapes of bytes",
        "docker login -p",
        "Password for bob:",
    }
}


@pytest.mark.parametrize("name", SPELLED if every() else ["Maven <password>", "HTML entities", "Password for bob:"])
def test_a_secret_in_any_syntax_keeps_its_answer_from_being_recorded(tmp_path, name):
    """The writer's comment is free text: nothing but the scan stands between it and the cassette. Three of the
    shapes here, one encoded; that the scan sees every shape is in `tests/evals/cassettes/test_shapes_of_secrets.py`."""
    shape, checkout = SPELLED[name], a_checkout(tmp_path)
    secret = shape.secret(random.Random(3))  # noqa: S311 - nobody's key
    planted = secret if shape in IN_A_SYNTAX else shape.around(secret)

    with an_llm_server(answering(**{"writer-comment": f"It says:\n\n{shape.around(secret)}\n\nas you see."})) as llm:
        recorded = evals(checkout, "record", "tiny.yaml", "--base-url", llm.base_url)

    written = [path.read_bytes() for path in checkout.rglob("*") if path.is_file()]
    assert recorded.code == 3
    assert "at response.choices[0].message.content of a request by writer" in recorded.err
    assert not any(text.encode() in content for content in written for text in (secret, planted))
    assert secret not in recorded.out + recorded.err

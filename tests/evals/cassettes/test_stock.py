"""A cassette that stock vcrpy recorded is replayed by our transport, to the same words."""

import httpx2
import openai
import pytest
import vcr

from evals.cassettes.cassette_changes import stock_interactions
from evals.cassettes.cassette_data import Cassette
from evals.cassettes.cassette_files import load, merge_write
from evals.cassettes.player import ReplayTransport, Tape, playing
from evals.errors import CassetteError, SecretFoundError
from tests.builders.interaction import PLANTED
from tests.builders.llm_server import an_llm_server

QUESTION = {"model": "m", "messages": [{"role": "user", "content": "Größe? 😀"}], "temperature": 0}


def ask(client, **changes):
    return client.chat.completions.create(**{**QUESTION, **changes}).choices[0].message.content


def a_client(base_url, **more):
    headers = {"x-triage-agent": "critic"}
    return openai.OpenAI(api_key="none", base_url=base_url, max_retries=0, default_headers=headers, **more)


@pytest.fixture
def heard(tmp_path):
    """What stock vcrpy recorded from a server that is gone now: (file, answer)."""
    path = tmp_path / "stock.yaml"
    with an_llm_server() as llm, vcr.use_cassette(str(path), match_on=["method", "path", "query", "body"]):
        answer = ask(a_client(llm.base_url))
    return path, answer


def test_our_transport_replays_what_stock_vcrpy_recorded(heard):
    path, answer = heard
    ours = Cassette(path, stock_interactions(path, "vcrpy"))
    client = a_client("http://elsewhere.invalid/v1", http_client=httpx2.Client(transport=ReplayTransport()))

    with playing(Tape(ours)) as tape:
        assert ask(client) == answer

    assert [found.agent for found in tape.ledger.served] == ["critic"]


def test_no_header_but_the_content_type_is_taken_over(heard, tmp_path):
    path, _ = heard
    assert "Bearer none" in path.read_text()

    merge_write(tmp_path / "case.yaml", stock_interactions(path, "vcrpy"))

    assert not {"bearer", "user-agent", "server"} & set((tmp_path / "case.yaml").read_text().lower().split())
    assert load(tmp_path / "case.yaml").interactions[0].recorded_by == "vcrpy"


def test_when_it_was_recorded_is_what_the_server_said(heard):
    (found,) = stock_interactions(heard[0], "vcrpy")

    assert found.recorded_at > "2026"


def test_the_same_question_twice_is_two_samples(heard):
    path, _ = heard
    text = path.read_text()
    once = text.removeprefix("interactions:\n").removesuffix("version: 1\n")
    path.write_text(f"interactions:\n{once}{once}version: 1\n")

    assert [found.sample for found in stock_interactions(path, "vcrpy")] == [0, 1]


def test_a_secret_in_it_never_reaches_a_case(heard, tmp_path):
    path, _ = heard
    path.write_text(path.read_text().replace("Quantities are", PLANTED["openai_key"]))

    with pytest.raises(SecretFoundError):
        merge_write(tmp_path / "case.yaml", stock_interactions(path, "vcrpy"))

    assert not (tmp_path / "case.yaml").exists()


DAMAGE = {
    "prose": (lambda text: "just words", r"stock\.yaml:1: not a cassette"),
    "another YAML": (lambda text: "a: 1\n", "no VCR cassette"),
    "a failure": (lambda text: text.replace("code: 200", "code: 500"), r"stock\.yaml:\d+: cannot be taken over.*500"),
    "a web page": (lambda text: text.replace("application/json\n      date", "text/html\n      date"), "text/html"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_what_cannot_be_taken_over_is_said(heard, kind):
    path, _ = heard
    damage, cause = DAMAGE[kind]
    path.write_text(damage(path.read_text()))

    with pytest.raises(CassetteError, match=cause):
        stock_interactions(path, "vcrpy")


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(CassetteError, match="cannot be read"):
        stock_interactions(tmp_path / "none.yaml", "vcrpy")

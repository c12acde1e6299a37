"""Stock vcrpy and pytest-recording load and replay the very files this package writes."""

import contextlib
import shutil
import subprocess
import sys
import textwrap

import httpx
import httpx2
import openai
import pytest
import vcr
from vcr.errors import CannotOverwriteExistingCassetteException
from vcr.matchers import read_body
from vcr.serializers import yamlserializer

from evals.cassettes.cassette_data import ORIGIN
from evals.cassettes.cassette_files import load, merge_write
from evals.cassettes.player import Tape, playing
from evals.cassettes.recorder import RecordingTransport
from tests.builders.interaction import AnLlm, a_chat_request, a_recorder, an_interaction, messages
from tests.builders.shipped import some_kinds

COMMITTED = some_kinds()
MATCH_ON = ["method", "path", "query", "body"]
QUESTION = {
    "model": "small",
    "messages": [{"role": "user", "content": "Größe? 😀"}],
    "temperature": 0,
    "stop": None,
    "stream": False,
}


@pytest.fixture
async def path(tmp_path):
    """A file recorded from what the real SDK sends."""
    path = tmp_path / "case.yaml"
    transport = RecordingTransport(a_recorder(), AnLlm())
    client = openai.AsyncOpenAI(
        api_key="none", base_url="http://127.0.0.1:9/v1", http_client=httpx2.AsyncClient(transport=transport)
    )
    with playing(Tape(load(path))):
        await client.chat.completions.create(**QUESTION)
        await client.chat.completions.create(**{**QUESTION, "model": "large"})
    return path


def asked_of_stock_vcr(path, base_url: str, match_on: list[str], **changes) -> str:
    client = openai.OpenAI(api_key="none", base_url=base_url, max_retries=0)
    with vcr.use_cassette(str(path), record_mode="none", match_on=match_on):
        answer = client.chat.completions.create(**{**QUESTION, **changes})
    return answer.choices[0].message.content


def test_with_the_recorded_origin_as_base_url_vcrpys_own_matching_does(path):
    defaults = ["method", "scheme", "host", "port", "path", "query"]

    assert asked_of_stock_vcr(path, f"{ORIGIN}/v1", [*defaults, "body"]) == "Re: Größe? 😀"


def test_stock_vcrpy_misses_what_was_not_recorded(path):
    with pytest.raises(CannotOverwriteExistingCassetteException):
        asked_of_stock_vcr(path, f"{ORIGIN}/v1", MATCH_ON, model="unheard-of")


def test_replaying_with_stock_vcrpy_leaves_the_file_as_it_is(path):
    before = path.read_bytes()

    asked_of_stock_vcr(path, f"{ORIGIN}/v1", MATCH_ON)

    assert path.read_bytes() == before


def test_the_layout_is_vcr_version_one(path):
    data = yamlserializer.deserialize(path.read_text(encoding="utf-8"))

    assert list(data) == ["x_replay", "x_shared", "interactions", "version"]
    assert data["version"] == 1
    assert data["x_replay"] == {"schema": 2, "count": 2, "canonicalisation": 1}
    assert list(data["interactions"][0]) == ["request", "response", "x_meta"]
    assert list(data["interactions"][0]["request"]) == ["method", "uri", "headers", "body"]
    assert data["interactions"][0]["request"]["headers"] == {"content-type": ["application/json"]}


def test_bodies_that_share_their_prompt_are_whole_to_stock_vcrpy(tmp_path):
    """By `body`, which compares JSON, and by `raw_body`, which compares bytes."""
    system = "You triage bugs.\nName who acts next, and say \\n why.\n\n  - briefly: 😀\n" * 3
    asked = [an_interaction(request=a_chat_request(messages=messages(system, f"q{n}"))) for n in range(4)]
    merge_write(tmp_path / "c.yaml", asked)
    assert (tmp_path / "c.yaml").read_text().count("You triage bugs") == 1

    for match_on in ("body", "raw_body"):
        matched = ["method", "path", match_on]
        with vcr.use_cassette(str(tmp_path / "c.yaml"), record_mode="none", match_on=matched), hearing() as heard_of:
            assert [heard_of(found) for found in asked] == [found.body for found in asked]


PYTEST = (sys.executable, "-m", "pytest", "-q", "--record-mode=none", "-p", "no:cacheprovider")
PYTEST += ("-p", "no:langsmith_plugin", "-p", "no:anyio", "-p", "no:hypothesispytest")  # load for seconds, do nothing


def test_there_are_committed_cassettes_to_replay():
    """A loop over none would be green."""
    assert COMMITTED


@pytest.mark.slow
@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.stem)
def test_stock_vcrpy_replays_every_committed_cassette(path):
    """Every interaction, on another host. Bodies are compared byte by byte, as `raw_body` does, which also writes a
    diff of every pair that is not alike: minutes where a cassette holds hundreds."""
    recorded = load(path).interactions
    player = vcr.VCR(record_mode="none", match_on=["method", "path", "query", "bytes"])
    player.register_matcher("bytes", lambda one, other: read_body(one) == read_body(other))

    with player.use_cassette(str(path)) as cassette, hearing() as heard_of:
        wrong = [found.key for found in recorded if heard_of(found) != found.body]

    assert (wrong, cassette.all_played, len(cassette.requests)) == ([], True, len(recorded))


@contextlib.contextmanager
def hearing():
    """What its library hears when a request is made again: searches are Tavily's, so httpx's. A client a library, since
    making one takes longer than the request."""
    with httpx.Client(trust_env=False) as searching, httpx2.Client(trust_env=False) as chatting:

        def heard_of(interaction) -> bytes:
            client = searching if interaction.uri.startswith("/search") else chatting
            url = f"http://elsewhere.invalid{interaction.uri}"
            return client.request(interaction.method, url, content=interaction.body_sent).content

        yield heard_of


PYTEST_RECORDING_LOOP = textwrap.dedent("""
    import json
    from pathlib import Path

    import httpx2
    import pytest
    from vcr.serializers import yamlserializer

    CASSETTES = sorted(Path("cassettes/test_committed").glob("*.yaml"))

    @pytest.fixture(scope="module")
    def vcr_config():
        return {"match_on": ["method", "path", "query", "body"]}

    @pytest.mark.parametrize("path", [pytest.param(p, marks=pytest.mark.vcr(p.name), id=p.stem) for p in CASSETTES])
    @pytest.mark.block_network
    def test_replay(path):
        first = yamlserializer.deserialize(path.read_text(encoding="utf-8"))["interactions"][0]
        url = first["request"]["uri"].replace("recorded.invalid", "elsewhere.invalid")
        body = "".join(first["request"]["body"])
        heard = httpx2.post(url, content=body, headers={"content-type": "application/json"})
        assert heard.json() == json.loads(first["response"]["body"]["string"])
""")


@pytest.mark.slow
def test_pytest_recording_replays_every_committed_cassette(tmp_path):
    """The first interaction of each, in a project of its own that knows nothing of this one."""
    folder = tmp_path / "cassettes" / "test_committed"
    folder.mkdir(parents=True)
    for path in COMMITTED:
        shutil.copy(path, folder)
    (tmp_path / "test_committed.py").write_text(PYTEST_RECORDING_LOOP, encoding="utf-8")

    ran = subprocess.run(
        [*PYTEST, "test_committed.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert f"{len(COMMITTED)} passed" in ran.stdout, ran.stdout + ran.stderr

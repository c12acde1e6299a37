"""Bodies in pieces are whole again, or the file is refused with line and cause; none makes a machine run out."""

import pytest

from evals.cassettes import cassette_format as unfold
from evals.cassettes.cassette_data import Cassette
from evals.cassettes.cassette_files import load, merge_write, rendered
from evals.errors import CassetteError, SecretFoundError
from evals.secret_filter import scan_text
from tests.builders.interaction import PLANTED, a_chat_request, an_interaction, messages

SYSTEM = "You lead a team that triages bugs.\nName the member who acts next.\n\n## Rules\n- the critic acts once\n"


@pytest.fixture
def path(tmp_path):
    """Three requests under one prompt."""
    path = tmp_path / "one.yaml"
    requests = [a_chat_request(messages=messages(SYSTEM, f"question {n}")) for n in range(3)]
    merge_write(path, [an_interaction(request=request) for request in requests])
    return path


def in_body(text, item):
    """One item more in the first body."""
    return text.replace("!!python/tuple [", f"!!python/tuple [{item}, ", 1)


def in_shared(text, line):
    return text.replace("x_shared:\n", f"x_shared:\n {line}\n", 1)


BOMB = "\n ".join(["b0: &b0 [x]", *(f"b{n}: &b{n} [{', '.join([f'*b{n - 1}'] * 9)}]" for n in range(1, 12))])
UNUSED = "pfebe1d74: &pfebe1d74 unused"

SPOILED = {
    "an edited piece": (lambda text: text.replace("acts once", "acts twice"), "is not what its name says"),
    "a renamed piece": (lambda text: text.replace(" &p", " &q").replace("*p", "*q"), None),
    "a piece by another name": (lambda text: text.replace(" p", " q", 1), "is not what its name says"),
    "a piece nobody uses": (lambda text: in_shared(text, UNUSED), "no request uses piece pfebe1d74"),
    "a piece nobody has": (lambda text: in_body(text, "*p00000000"), "found undefined alias"),
    "a piece that is a list": (lambda text: in_shared(text, "p00000000: [x]"), "is not what its name says"),
    "a text of another body": (lambda text: text.replace("question 0", "question 1"), "key is not that of the request"),
    "a body of lists": (lambda text: in_body(text, "[x]"), "a piece of the body is no text"),
    "a body of numbers": (lambda text: in_body(text, "1"), "a piece of the body is no text"),
    "pieces in a piece": (lambda text: in_body(text, "!!python/tuple [x]"), "a piece of the body is no text"),
    "nothing shared": (lambda text: text.replace("x_shared", "x_sharing"), "x_shared lacks what every file shares"),
    "another status": (lambda text: text.replace("code: 200", "code: 204"), "x_shared lacks what every file shares"),
    "pieces elsewhere": (
        lambda text: text.replace('"critic"', "!!python/tuple [critic]"),
        "x_meta.agent",
    ),
    "an unsafe tag": (lambda text: in_body(text, "!!python/object/apply:os.getcwd []"), "not YAML"),
    "a billion laughs": (lambda text: in_shared(text, BOMB), "is not what its name says"),
}


@pytest.mark.parametrize("kind", SPOILED)
def test_what_was_spoiled_is_refused_with_line_and_cause(path, kind):
    spoil, cause = SPOILED[kind]
    text = path.read_text()
    path.write_text(spoil(text))
    assert path.read_text() != text

    if cause is None:  # an anchor's name is nothing but a name
        assert len(load(path).interactions) == 3
        return
    with pytest.raises(CassetteError, match=r"one\.yaml:\d+: ") as caught:
        load(path)

    assert cause in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_line_is_that_of_the_piece(path):
    path.write_text(path.read_text().replace("acts once", "acts twice"))

    with pytest.raises(CassetteError) as caught:
        load(path)

    lines = path.read_text().splitlines()
    assert "acts twice" in "".join(lines[caught.value.line - 1 : caught.value.line + 12])


def test_there_is_a_bound_on_what_bodies_may_come_to(path, monkeypatch):
    monkeypatch.setattr(unfold, "LIMIT", 500)

    with pytest.raises(CassetteError, match="the bodies are longer than any case's"):
        load(path)


def test_a_secret_that_spans_two_pieces_is_found(path):
    """Neither half is one, and no line of the file has both."""
    secret = PLANTED["github_token"]
    asked = [a_chat_request(messages=messages(SYSTEM, words)) for words in ("one", "two", f"see {secret}")]
    text = rendered(Cassette(path, [an_interaction(request=request) for request in asked]))
    path.write_text(text.replace(secret, f'{secret[:9]}",\n    "{secret[9:]}', 1))
    assert list(scan_text(path.read_text())) == []

    with pytest.raises(SecretFoundError, match=r"one\.yaml:\d+: github_token"):
        load(path)

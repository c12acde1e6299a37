"""Bodies say once what they share, and are exactly what they were, to us and to stock vcrpy."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from vcr.serialize import deserialize
from vcr.serializers import yamlserializer
from vcr.util import read_body

from evals.cassettes import cassette_format as sharing
from evals.cassettes.cassette_data import Cassette
from evals.cassettes.cassette_files import merge_write, read, rendered
from evals.cassettes.cassette_format import cut, is_name_of, prompt_lines, shared
from evals.errors import SecretFoundError
from tests.builders.interaction import a_chat_request, an_interaction, messages

PATH = Path("case.yaml")
SYSTEM = "You lead a team that triages bugs.\nName the member who acts next.\n\n## Rules\n- the critic acts once\n"
LINES = st.sampled_from(
    ["## Findings", "", " ", "  indented\t", "a: 'b' \"c\" # d", "\\", "\\n", "Größe 寸法 😀", "- [x], {y}"]
)
TEXTS = st.lists(LINES | st.text(), max_size=9).map("\n".join)
ASKED = st.lists(st.tuples(st.sampled_from([SYSTEM, SYSTEM + "More.\n", "  short"]) | TEXTS, TEXTS), max_size=6)
ABC = [(SYSTEM, f"question {n}") for n in "abc"]
UNHURRIED = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def asking(*asked: tuple[str, str]) -> Cassette:
    """One request for each pair of a system prompt and what is asked under it."""
    bodies = {json.dumps(messages(*pair)): a_chat_request(messages=messages(*pair)) for pair in asked}
    return Cassette(PATH, (an_interaction(request=body) for body in bodies.values()))


@UNHURRIED
@given(ASKED)
def test_any_bodies_come_back_from_the_file_byte_for_byte(asked):
    cassette = asking(*asked)
    text = rendered(cassette)

    requests, _ = deserialize(text, yamlserializer)

    assert [read_body(request) for request in requests] == [found.body_sent for found in cassette.interactions]
    assert text == rendered(asking(*reversed(asked)))


@UNHURRIED
@given(ASKED)
def test_what_is_read_is_what_was_written(asked):
    cassette = asking(*asked)

    try:
        found = read(rendered(cassette).encode(), PATH)
    except SecretFoundError:  # made-up text may look like one
        return

    assert found.interactions == cassette.interactions


@UNHURRIED
@given(st.text())
def test_cuts_lose_nothing(text):
    assert "".join(cut(text)) == "".join(prompt_lines(text)) == text


def test_a_prompt_is_said_once_and_line_by_line():
    system = SYSTEM + "".join(f"- rule {n}\n" for n in range(12))
    text = rendered(asking(*((system, f"question {n}") for n in range(5))))

    assert text.count("triages bugs") == 1
    assert "\n  Name the member who acts next.\\\\n\\\\n\\\n" in text


def test_one_interaction_more_renames_no_piece():
    before = {
        line.split(":")[0] for line in rendered(asking((SYSTEM, "a"), (SYSTEM, "b"))).splitlines() if "&p" in line
    }
    after = rendered(asking((SYSTEM, "a"), (SYSTEM, "b"), (SYSTEM, "c")))

    assert before
    assert all(name + ":" in after for name in before)


def test_pieces_with_one_short_name_get_longer_ones(monkeypatch):
    monkeypatch.setattr(sharing, "_DIGITS", (0, 16))

    names = shared([found.body_sent.decode() for found in asking(*ABC).interactions]).names

    assert len(names) > 1
    assert all(len(name) == 17 and is_name_of(name, text) for text, name in names.items())


@pytest.mark.parametrize("order", [1, -1])
def test_recording_one_after_the_other_leaves_the_same_bytes(tmp_path, order):
    many = asking(*((SYSTEM, f"question {n}") for n in range(6))).interactions
    for found in many[::order]:
        merge_write(tmp_path / "c.yaml", [found])

    assert (tmp_path / "c.yaml").read_text() == rendered(Cassette(PATH, many))

"""Writing merges and is atomic; reading trusts nothing."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evals.cassettes.cassette_files import load, merge_write
from evals.errors import SecretFoundError
from tests.builders.interaction import PLANTED, a_cassette, a_chat_request, an_interaction, words_of

AWKWARD = "emoji 😀, tab\t, CR\r, NEL\x85, LS\u2028, BOM\ufeff, NUL\x00, DEL\x7f, lone \ud83d, trailing \n # : - |\n\n"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cases" / "one.yaml"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(), st.text())
def test_any_text_survives_the_file(tmp_path_factory, asked, answered):
    path = tmp_path_factory.mktemp("text") / "c.yaml"
    written = an_interaction(asked, answer=answered or "x")

    try:
        merge_write(path, [written])
    except SecretFoundError:
        return

    assert load(path).interactions == (written,)


def test_bodies_stay_in_literal_blocks_whatever_they_hold(path):
    merge_write(path, [an_interaction(AWKWARD, answer=AWKWARD)])

    text = path.read_text()

    assert "   body: |\n    {\n" in text
    assert "    string: |\n     {\n" in text
    assert '"emoji' in text  # and no quoted block around it: the words stand on a line of their own


def test_other_scripts_stay_readable(path):
    merge_write(path, [an_interaction("Größe falsch 寸法")])

    assert "Größe falsch 寸法" in path.read_text(encoding="utf-8")


def test_writing_the_same_again_changes_no_byte(path):
    merge_write(path, [an_interaction("a"), an_interaction("b")])
    before = path.read_bytes()

    merge_write(path, [an_interaction("b")])

    assert path.read_bytes() == before


def test_the_order_of_recording_leaves_no_mark(tmp_path):
    many = [an_interaction(f"q{n % 4}", agent="critic" if n % 2 else "writer", sample=n // 4) for n in range(12)]
    for interaction in many:
        merge_write(tmp_path / "forth.yaml", [interaction])
    for interaction in reversed(many):
        merge_write(tmp_path / "back.yaml", [interaction])

    assert (tmp_path / "forth.yaml").read_bytes() == (tmp_path / "back.yaml").read_bytes()


def test_an_answer_once_recorded_stays(path):
    merge_write(path, [an_interaction("q", answer="first")])

    merged = merge_write(path, [an_interaction("q", answer="second")])

    assert "first" in str(merged.interactions[0].response)
    assert "first" in str(load(path).interactions[0].response)


def test_twenty_writers_at_once_lose_nothing(path):
    with ThreadPoolExecutor(20) as pool:
        list(pool.map(lambda n: merge_write(path, [an_interaction(f"q{n:02}")]), range(20)))

    assert sorted(words_of(load(path).interactions)) == [f"q{n:02}" for n in range(20)]


def test_a_reader_that_opened_the_file_before_a_write_reads_it_whole_as_it_was(path):
    merge_write(path, [an_interaction("q")])
    before = path.read_bytes()

    with path.open("rb") as reader:
        merge_write(path, [an_interaction("r")])

        assert reader.read() == before


def test_no_file_is_an_empty_cassette_that_does_not_exist(path):
    cassette = load(path)

    assert (cassette.exists, cassette.interactions) == (False, ())


def test_no_sample_stands_in_for_another():
    cassette = a_cassette(*(an_interaction("q", sample=n, answer=f"take {n}") for n in (0, 1, 2)))

    assert cassette.exact(cassette.interactions[0].key, 4) is None


def test_an_answer_is_replaced_only_when_asked_to(path):
    old, new = an_interaction("q", answer="old"), an_interaction("q", answer="new")
    merge_write(path, [old])
    merge_write(path, [new])
    kept = load(path).interactions
    merge_write(path, [new], replace=True)

    assert (kept, load(path).interactions) == ((old,), (new,))


def test_a_recorder_is_told_that_a_sample_is_missing():
    cassette = a_cassette(an_interaction("q", sample=0))

    assert cassette.exact(cassette.interactions[0].key, 1) is None


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(sorted(PLANTED.values())),
    st.text(alphabet=st.characters(blacklist_categories=["L", "N", "Cs", "P", "S"]), max_size=5),
    st.sampled_from(["request", "response", "model", "recorded_by", "uri"]),
)
def test_a_secret_never_reaches_the_disk_wherever_it_stands(tmp_path_factory, secret, around, place):
    folder = tmp_path_factory.mktemp("secret")
    text = f"{around} {secret} {around}"
    fields = {"request": a_chat_request(text), "response": {"deep": [{"er": text}]}, "uri": f"/search?q={text}"}

    with pytest.raises(SecretFoundError):
        merge_write(folder / "c.yaml", [an_interaction(**{place: fields.get(place, text)})])

    assert list(folder.iterdir()) == []


def test_a_secret_pasted_into_a_file_is_found_on_reading(path):
    merge_write(path, [an_interaction("q", recorded_by="somebody")])
    path.write_text(path.read_text().replace("somebody", PLANTED["github_token"]))

    with pytest.raises(SecretFoundError, match=r"one\.yaml:\d+: github_token"):
        load(path)


def test_a_secret_is_named_as_such_even_where_the_edit_alone_would_be_an_error(path):
    """Whoever planted it has to revoke it; "edited by hand" would hide that."""
    merge_write(path, [an_interaction("q")])
    path.write_text(path.read_text() + f"# {PLANTED['openai_key']}\n")

    with pytest.raises(SecretFoundError, match=r"one\.yaml:\d+: openai_key") as caught:
        load(path)

    assert PLANTED["openai_key"] not in str(caught.value)


def test_an_answer_is_served_as_the_json_that_came(path):
    merge_write(path, [an_interaction(AWKWARD, answer=AWKWARD)])
    found = load(path).interactions[0]

    assert json.loads(found.body) == found.response

"""Writing merges and is atomic; reading trusts nothing."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evals.cassette.store import Cassette, load, merge_write
from evals.errors import CassetteError, SecretFoundError
from tests.builders.interaction import PLANTED, a_cassette, a_chat_request, an_interaction, words_of

AWKWARD = "emoji 😀, tab\t, CR\r, NEL\x85, LS\u2028, BOM\ufeff, NUL\x00, DEL\x7f, lone \ud83d, trailing \n # : - |\n\n"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cases" / "one.yaml"


def test_what_is_written_is_what_is_read(path):
    written = an_interaction(AWKWARD, answer=AWKWARD + "Größe 寸法", recorded_by="rec 1")

    merge_write(path, [written])

    assert load(path).interactions == (written,)


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


@pytest.mark.parametrize("rule", PLANTED)
def test_a_planted_secret_stops_the_write_and_is_not_named(path, rule):
    with pytest.raises(SecretFoundError) as caught:
        merge_write(path, [an_interaction(f"here: {PLANTED[rule]}")])

    assert f"{rule} at request.messages[0].content" in str(caught.value)
    assert PLANTED[rule] not in str(caught.value)
    assert not path.exists()


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


def test_a_file_cut_anywhere_is_an_error(path):
    """At every tenth of its length, and at each of its last sixty bytes."""
    merge_write(path, [an_interaction(f"question {n}", recorded_by="me") for n in range(3)])
    whole = path.read_bytes()
    size = len(whole)
    survivors = []

    for cut in [*(size * tenth // 10 for tenth in range(10)), *range(size - 60, size)]:
        path.write_bytes(whole[:cut])
        try:
            load(path)
        except CassetteError:
            continue
        survivors.append(cut)

    assert survivors == []


def edited(change):
    """A function that loads the YAML, changes the data and writes it back."""

    def edit(text):
        data = yaml.safe_load(text)
        change(data)
        return yaml.safe_dump(data, sort_keys=False)

    return edit


def swap_a_word(where):
    """Both bodies quote the question: change it on one side only."""

    def change(data):
        for part in (interaction[where] for interaction in data["interactions"]):
            holder, name = (part, "body") if where == "request" else (part["body"], "string")
            holder[name] = holder[name].replace("first", "worst")

    return edited(change)


def set_header(name, value):
    return edited(lambda data: data["x_replay"].__setitem__(name, value))


def drop(name):
    return edited(lambda data: data["interactions"][0].pop(name))


def meta(name, value):
    return edited(lambda data: data["interactions"][1]["x_meta"].__setitem__(name, value))


def double_the_first(data):
    data["interactions"].append(data["interactions"][0])
    data["x_replay"]["count"] += 1


def not_an_object(data):
    data["interactions"][0]["request"]["body"] = "[1]"


def a_foreign_host(data):
    data["interactions"][0]["request"]["uri"] = "http://elsewhere.invalid/v1/chat/completions"


def a_bad_status(data):
    data["interactions"][0]["response"]["status"] = {"code": 500, "message": "OK"}


def a_cookie(data):
    data["interactions"][0]["response"]["headers"] = {"content-type": ["application/json"], "set-cookie": ["x"]}


def another_type(data):
    data["interactions"][0]["response"]["headers"] = {"content-type": ["application/jsop"]}


CORRUPT = {
    "empty": (lambda text: "", "no mapping"),
    "prose": (lambda text: "just words", "no mapping"),
    "not yaml": (lambda text: text.replace("x_replay:", "x_replay: ]"), "not YAML"),
    "a control character": (lambda text: text.replace("version", "\x07version"), "not YAML"),
    "a tag": (lambda text: text + "x: !!python/object:os.system {}\n", "not YAML"),
    "no header": (edited(lambda data: data.pop("x_replay")), "no x_replay"),
    "merge conflict": (lambda text: text.replace("version", "<<<<<<< ours\nversion"), "merge-conflict"),
    "count": (set_header("count", 7), "count says 7, the file holds 2"),
    "newer schema": (set_header("schema", 3), "update this package"),
    "newer canonicalisation": (set_header("canonicalisation", 2), "update this package"),
    "older canonicalisation": (set_header("canonicalisation", 0), "record the file again"),
    "header of another shape": (set_header("schema", "one"), "x_replay.schema"),
    "another VCR version": (edited(lambda data: data.__setitem__("version", 2)), "version"),
    "duplicate": (edited(double_the_first), "is there twice"),
    "edited request": (swap_a_word("request"), "key is not that of the request"),
    "edited answer": (swap_a_word("response"), "not the one recorded"),
    "edited key": (meta("key", "0" * 64), "key is not that of the request"),
    "negative sample": (meta("sample", -1), "x_meta.sample"),
    "unknown member": (meta("note", "hi"), "x_meta.note"),
    "no meta": (drop("x_meta"), "x_meta: Field required"),
    "no response": (drop("response"), "response: Field required"),
    "a failure recorded": (edited(a_bad_status), "status.code"),
    "a header too many": (edited(a_cookie), "headers"),
    "a body that is no object": (edited(not_an_object), "no JSON object"),
    "a body that is not JSON": (lambda text: text.replace('{\n     "model"', '{{\n     "model"'), "not JSON"),
    "another order": (edited(lambda data: data["interactions"].reverse()), "not sorted by agent, key and sample"),
    "another method": (lambda text: text.replace("method: POST", "method: pOST", 1), "not in capitals"),
    "another type": (edited(another_type), "content type is not"),
    "another host": (edited(a_foreign_host), "does not start with"),
}


@pytest.mark.parametrize("kind", CORRUPT)
def test_a_corrupt_file_is_an_error_with_file_line_and_cause(path, kind):
    corrupt, cause = CORRUPT[kind]
    merge_write(path, [an_interaction("first"), an_interaction("second")])
    path.write_text(corrupt(path.read_text()))

    with pytest.raises(CassetteError, match=r"one\.yaml:\d+: ") as caught:
        load(path)

    assert cause in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_error_names_the_line_of_the_fault(path):
    merge_write(path, [an_interaction("first"), an_interaction("second")])
    path.write_text(path.read_text().replace("latency_ms: 12.5", "latency_ms: -1"))

    with pytest.raises(CassetteError) as caught:
        load(path)

    assert "latency_ms: -1" in path.read_text().splitlines()[caught.value.line - 1]


def test_bytes_that_are_no_text_are_an_error(path):
    path.parent.mkdir()
    path.write_bytes(b"x_replay: \xff")

    with pytest.raises(CassetteError, match="not UTF-8"):
        load(path)


def test_a_corrupt_file_is_never_overwritten(path):
    path.parent.mkdir()
    path.write_text("x_replay: {count: 3")

    with pytest.raises(CassetteError):
        merge_write(path, [an_interaction()])

    assert path.read_text() == "x_replay: {count: 3"


def test_a_union_keeps_what_was_there_first():
    ours = a_cassette(an_interaction("q", answer="ours"))

    both = ours.union([an_interaction("q", answer="theirs"), an_interaction("r")])

    assert sorted(words_of(both.interactions)) == ["q", "r"]
    assert "ours" in str(both.exact(ours.interactions[0].key).response)


def test_an_answer_is_served_as_the_json_that_came(path):
    merge_write(path, [an_interaction(AWKWARD, answer=AWKWARD)])
    found = load(path).interactions[0]

    assert json.loads(found.body) == found.response


def test_a_cassette_needs_no_file():
    assert Cassette("nowhere").interactions == ()


def test_two_recordings_joined_end_to_end_are_refused_and_not_the_second_one_taken(path):
    merge_write(path, [an_interaction("one")])
    whole = path.read_text()
    path.write_text(whole + whole)

    with pytest.raises(CassetteError, match="joined by hand"):
        load(path)


def test_a_key_that_stands_twice_in_an_answer_is_refused(path):
    merge_write(path, [an_interaction("one")])
    path.write_text(path.read_text().replace("   method: POST\n", "   method: POST\n   method: GET\n"))

    with pytest.raises(CassetteError, match="the key 'method' stands here twice"):
        load(path)


@pytest.mark.parametrize("opening", ["[", "[\n", "{a: [b, ", "- ", "? "])
def test_nesting_without_end_is_refused_and_not_died_of(path, opening):
    path.parent.mkdir()
    path.write_text("interactions:\n " + opening * 100_000 + "\n")

    with pytest.raises(CassetteError, match="nested more than 100 levels deep"):
        load(path)

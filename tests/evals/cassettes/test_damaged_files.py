"""Cassettes that were cut, edited or joined by hand: each is an error with file, line and cause."""

import json

import pytest
import yaml

from evals.cassettes import cassette_format as vcr_file
from evals.cassettes.cassette_files import load, merge_write
from evals.errors import CassetteError
from tests.builders.interaction import an_interaction


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cases" / "one.yaml"


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


def said_of_itself(**more):
    """The second answer says it, and its digest is right."""

    def change(data):
        entry = data["interactions"][1]
        answer = json.loads(entry["response"]["body"]["string"]) | more
        entry["response"]["body"]["string"] = vcr_file.json_text(answer)
        entry["x_meta"]["response_sha256"] = vcr_file.digest(entry["response"]["body"]["string"])

    return edited(change)


CORRUPT = {
    "empty": (lambda text: "", "no mapping"),
    "prose": (lambda text: "just words", "no mapping"),
    "not yaml": (lambda text: text.replace("x_replay:", "x_replay: ]"), "not YAML"),
    "a control character": (lambda text: text.replace("version", "\x07version"), "not YAML"),
    "a tag": (lambda text: text + "x: !!python/object:os.system {}\n", "not YAML"),
    "a list for a key": (lambda text: text + "? [a]\n: 1\n", "a key is no text"),
    "a mapping for a key": (lambda text: text + "? {a: 1}\n: 1\n", "a key is no text"),
    "no number": (lambda text: text + "x: !!int abc\n", "not YAML"),
    "no date": (lambda text: text + "x: 2001-13-45\n", "not YAML"),
    "an alias in itself": (lambda text: text + "x: &x [*x]\n", "an alias stands for what it is in"),
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
    "tokens without end": (meta("usage", {"prompt_tokens": 10**30}), "usage.prompt_tokens"),
    "a long model": (meta("model", "m" * 201), "x_meta.model"),
    "a long model in the answer": (said_of_itself(model="m" * 201), "the answer has model of 201 characters"),
    "a long id": (said_of_itself(id="i" * 1_000_000), "the answer has id of 1,000,000 characters"),
    "tokens in the answer": (said_of_itself(usage={"total_tokens": 10**30}), "the answer has usage.total_tokens"),
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


def test_a_file_whose_answers_are_too_many_is_refused_with_file_and_line(path, monkeypatch):
    merge_write(path, [an_interaction("first"), an_interaction("second")])
    monkeypatch.setattr("evals.cassettes.cassette_schema.MAX_ANSWERS", 600)

    with pytest.raises(CassetteError, match=r"one\.yaml:\d+: the answers of one cassette are over"):
        load(path)

"""Answer files: whatever stands in a line, the other lines count, and what was wrong is said with file and line."""

import json

import pytest

from evals.errors import ConfigurationError
from evals.recording.batch_files import Answers
from tests.builders.batch import a_line, a_pending, answers
from tests.builders.secret import PLANTED

ASKED = a_pending("Why?")
OTHER = a_pending("How?")
UNUSABLE = {
    "a rate limit": (a_line(ASKED, status=429), "with status 429"),
    "an expired batch": (
        {"custom_id": ASKED.custom_id, "response": None, "error": {"code": "batch_expired"}},
        'has an error in place of an answer, and is asked again: {"code": "batch_expired"}',
    ),
    "an answer and an error": (a_line(ASKED, error="cut off"), "has an error in place of an answer"),
    "another protocol": (a_line(ASKED, body={"choices": []}), "JSON of another shape"),
    "a missing member": (a_line(ASKED, "{}"), "$: 'confidence' is a required property"),
    "a key": (
        a_line(ASKED, f'{{"confidence": 0.5, "note": "{PLANTED}"}}'),
        "holds what must not be kept, and is asked again: ",
    ),
    "prose": (a_line(ASKED, "I think so."), "the content is not whole JSON"),
}
MALFORMED = {
    "half a line": (json.dumps(a_line(ASKED))[:50], "not JSON, or cut short"),
    "no object": ("[1]", "not a JSON object"),
    "nobody's answer": ('{"response": {"status_code": 200, "body": {}}}', "custom_id: Field required"),
    "no status": (json.dumps({"custom_id": "x", "response": {"body": {}}}), "response.status_code: Field required"),
    "a status that is none": (
        json.dumps({"custom_id": "x", "response": {"status_code": 7, "body": {}}}),
        "response.status_code: Input should be greater than or equal to 100",
    ),
    "not a number": ('{"custom_id": "x", "response": {"status_code": 200, "body": {"a": NaN}}}', "not JSON"),
}


def heard(found, asked=ASKED):
    """The words of the answer a trial would hear, None if it hears nothing."""
    reply = found.reply(asked.custom_id, asked.request)
    return reply and json.loads(reply.body)["choices"][0]["message"]["content"]


@pytest.mark.parametrize(("line", "said"), UNUSABLE.values(), ids=UNUSABLE.keys())
def test_an_answer_of_no_use_is_remarked_on_and_not_heard(tmp_path, line, said):
    file = answers(tmp_path / "back.jsonl", [a_line(OTHER), line])
    found = Answers.read([file])

    assert heard(found) is None
    assert found.unusable == {ASKED.custom_id}
    assert found.remarks[0].startswith(f"{file}:2: {ASKED.custom_id[:12]} (critic)")
    assert said in found.remarks[0]


@pytest.mark.parametrize(("text", "said"), MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_line_is_skipped_and_the_others_count(tmp_path, text, said):
    file = answers(tmp_path / "back.jsonl", [text, a_line(ASKED)])
    found = Answers.read([file])

    assert found.remarks[0].startswith(f"{file}:1: {said}")
    assert len(found.remarks) == 1
    assert heard(found)


def test_an_invalid_answer_is_kept_on_request(tmp_path):
    file = answers(tmp_path / "back.jsonl", [a_line(ASKED, "I think so.")])

    assert heard(Answers.read([file], keep_invalid=True)) == "I think so."


def test_a_failed_answer_gives_way_to_a_later_one(tmp_path):
    """As when the error file of a batch is named before the output of the next."""
    first = answers(tmp_path / "errors.jsonl", [a_line(ASKED, status=500)])
    second = answers(tmp_path / "output.jsonl", [a_line(ASKED)])
    found = Answers.read([first, second])

    assert heard(found)
    assert found.unusable == set()


def test_of_two_answers_the_first_counts_and_the_second_is_named(tmp_path):
    lines = [a_line(ASKED, '{"confidence": 1}'), a_line(ASKED, '{"confidence": 2}')]
    file = answers(tmp_path / "back.jsonl", lines)
    found = Answers.read([file])

    assert heard(found) == '{"confidence": 1}'
    assert found.remarks == [f"{file}:2: {ASKED.custom_id[:12]} (critic) is answered at {file}:1 already, which counts"]


def test_an_answer_nobody_asks_for_is_named(tmp_path):
    file = answers(tmp_path / "back.jsonl", [a_line(ASKED), a_line(OTHER)])
    found = Answers.read([file])
    heard(found)

    assert found.nobodys(set()) == [
        f"{file}:2: {OTHER.custom_id[:12]}: no trial asks for this now; nothing is recorded of it"
    ]


def test_an_answer_on_record_is_not_called_nobodys(tmp_path):
    found = Answers.read([answers(tmp_path / "back.jsonl", [a_line(ASKED)])])

    assert found.nobodys({ASKED.custom_id}) == []
    assert found.known_before({ASKED.custom_id}) == 1


def test_answers_that_name_another_model_are_counted(tmp_path):
    """They are kept as that model's: the answer knows best who gave it."""
    found = Answers.read([answers(tmp_path / "back.jsonl", [a_line(ASKED)])], model="big-70b")
    heard(found)

    assert found.others == {"small-0.5b": 1}


def test_an_answer_that_names_no_model_is_no_other_models(tmp_path):
    line = a_line(ASKED)
    del line["response"]["body"]["model"]
    found = Answers.read([answers(tmp_path / "back.jsonl", [line])], model="big-70b")
    heard(found)

    assert not found.others


def test_a_file_of_another_system_is_read(tmp_path):
    """A byte order mark, CRLF, blank lines, and no line end at the end."""
    file = tmp_path / "back.jsonl"
    file.write_bytes(
        b"\xef\xbb\xbf" + json.dumps(a_line(OTHER)).encode() + b"\r\n\r\n" + json.dumps(a_line(ASKED)).encode()
    )
    found = Answers.read([file])

    assert heard(found)
    assert heard(found, OTHER)
    assert found.remarks == []


@pytest.mark.parametrize("name", ["nowhere.jsonl", "."])
def test_a_file_that_cannot_be_read_is_a_usage_error(tmp_path, name):
    with pytest.raises(ConfigurationError, match="name a file of answers"):
        Answers.read([tmp_path / name])


def test_a_secret_in_an_answer_is_not_repeated(tmp_path):
    secret = "sk-" + "a1B2" * 6
    file = answers(tmp_path / "back.jsonl", [{"custom_id": ASKED.custom_id, "error": f"wrong key {secret}"}])
    found = Answers.read([file])
    heard(found)

    assert secret not in found.remarks[0]

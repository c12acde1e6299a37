"""What a command answers to a round is looked at before it reaches a file."""

import json

import pytest

from evals.recording.batch_files import Answers, fit_line, write_round
from evals.recording.batch_rounds import Answerer
from evals.secret_filter import NOTHING, WITHHELD
from tests.builders.batch import a_command, a_line, a_pending, answers
from tests.builders.interaction import a_chat_answer
from tests.builders.secret import PLANTED

KEY = PLANTED["github_token"]
REPEATING = "import sys; sys.stdout.write(open(sys.argv[1]).read())"


def a_line_with(**body):
    return json.dumps({"custom_id": "one", "response": {"status_code": 200, "body": a_chat_answer(**body)}}).encode()


async def test_an_answer_with_a_secret_reaches_no_file_of_a_round(tmp_path):
    leaks, fine = a_pending("one"), a_pending("two")
    known = answers(tmp_path / "known.jsonl", [a_line(leaks, KEY), a_line(fine)])
    found = write_round(tmp_path / "rounds", [leaks, fine], 1)
    await Answerer.of(a_command(tmp_path, REPEATING, str(known))).answer(found)

    heard = Answers.read(found.answers)

    assert not any(KEY.encode() in path.read_bytes() for path in (tmp_path / "rounds").rglob("*.jsonl"))
    assert heard.reply(leaks.custom_id, leaks.request) is None
    assert "withheld: github_token at response.choices[0].message.content" in heard.remarks[0]
    assert heard.reply(fine.custom_id, fine.request) is not None


def test_an_extra_that_is_dropped_anyway_does_not_cost_the_answer():
    line = json.loads(fit_line(a_line_with(organization=KEY), NOTHING))

    assert line["response"]["body"] == a_chat_answer(organization=WITHHELD)


@pytest.mark.parametrize("line", [b"", b"not JSON", b'{"custom_id": "one", "error": "no time"}', b"\xff\xfe"])
def test_a_line_without_secrets_is_written_as_it_came(line):
    assert fit_line(line, NOTHING) == line


def test_half_a_line_with_a_secret_is_withheld():
    assert fit_line(f'{{"custom_id": "one", "resp {KEY}'.encode(), NOTHING) == WITHHELD.encode()

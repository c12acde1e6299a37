"""The loop around a command: what it answers is taken in, whatever else it does."""

import pytest

from evals.errors import ConfigurationError, RecordingError
from evals.recording.batch_files import Answers, write_round
from evals.recording.batch_rounds import ATTEMPTS, Answerer, RoundState, drive
from evals.secret_filter import NOTHING
from tests.builders.batch import a_command, a_line, a_pending, answers

NO_TIME = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"custom_id": json.loads(line)["custom_id"], "error": "no time"}))
"""
BY_HEART = """
import json, sys
asked = [json.loads(line)["custom_id"] for line in sys.stdin]
for line in open(sys.argv[1]):
    if json.loads(line)["custom_id"] in asked:
        print(line, flush=True)
sys.exit(int(sys.argv[2]))
"""


class AFrontier:
    """Trials that ask a list of requests, one after the other; what they have heard is in `heard`."""

    allowed = NOTHING

    def __init__(self, *asks):
        self.waiting = list(asks)
        self.heard = []

    async def advance(self, found, asked=()):
        while self.waiting and found.reply(self.waiting[0].custom_id, self.waiting[0].request):
            self.heard.append(self.waiting.pop(0))
        open_ones = tuple(self.waiting[:1])
        return RoundState(0, len(open_ones), 0, found.taken, 0, open_ones)


async def driven(frontier, folder, command, shards=1):
    rounds = []
    await drive(frontier, folder, Answerer.of(command), shards, Answers.read, lambda found, _: rounds.append(found))
    return rounds


def knowing(folder, *lines, code=0):
    """A command that knows these answers, and ends with an exit code."""
    return a_command(folder, BY_HEART, str(answers(folder / "known.jsonl", lines)), str(code))


async def test_the_loop_ends_when_nothing_waits(tmp_path):
    first, second = a_pending("one"), a_pending("two")
    frontier = AFrontier(first, second)
    rounds = await driven(frontier, tmp_path / "rounds", knowing(tmp_path, a_line(first), a_line(second)))

    assert frontier.heard == [first, second]
    assert [found.number for found in rounds] == [1, 2]


async def test_answers_that_cannot_be_used_are_asked_for_three_times(tmp_path):
    rounds = await driven(AFrontier(a_pending()), tmp_path / "rounds", a_command(tmp_path, NO_TIME))

    assert len(rounds) == ATTEMPTS


async def test_a_command_that_answers_nothing_is_not_asked_for_ever(tmp_path):
    with pytest.raises(RecordingError, match="round 1 brought no answer to any of its 1 requests"):
        await driven(AFrontier(a_pending()), tmp_path / "rounds", knowing(tmp_path))


async def test_a_command_that_fails_ends_the_loop_and_what_it_answered_is_taken_in(tmp_path):
    asked = a_pending()
    frontier = AFrontier(asked, a_pending("later"))
    command = knowing(tmp_path, a_line(asked), code=7)
    with pytest.raises(RecordingError, match=r"the command exited with 7 in round 1; what it answered is kept"):
        await driven(frontier, tmp_path / "rounds", command)

    assert frontier.heard == [asked]


async def test_answers_a_run_before_left_are_taken_in_first(tmp_path):
    """It was killed between the answer and its import."""
    asked = a_pending()
    left = write_round(tmp_path, [asked], 1).folder
    answers(left / "answers-1.jsonl", [a_line(asked)])
    frontier = AFrontier(asked)

    assert await driven(frontier, tmp_path, "no-such-command") == []
    assert frontier.heard == [asked]


async def test_a_command_that_is_not_there_is_a_usage_error(tmp_path):
    with pytest.raises(ConfigurationError, match="--answer-with no-such-command: No such file or directory"):
        await driven(AFrontier(a_pending()), tmp_path, "no-such-command -v")


@pytest.mark.parametrize("command", ["", "say 'it"])
def test_a_command_line_that_is_none_is_a_usage_error(command):
    with pytest.raises(ConfigurationError, match="--answer-with"):
        Answerer.of(command)

"""SIGKILL in the middle of a recording, many times: nothing anybody was told is lost, and the bytes come out right."""

import json
import math
import random
import signal
import threading
import time

import pytest

from evals.cassettes.cassette_files import load
from tests.builders.interaction import a_chat_answer, last_words, words_of
from tests.builders.llm_server import an_llm_server
from tests.builders.recording_process import AT_ONCE, QUESTIONS, recording
from tests.builders.shipped import every

pytestmark = pytest.mark.slow

KILLS = 50 if every() else 12
QUESTION_WORDS = {f"q{number}" for number in range(QUESTIONS)}


def echo(_, body):
    return 200, "application/json", json.dumps(a_chat_answer("Re: " + last_words(body))).encode()


class Endpoint:
    """Echoes questions, but holds those beyond `left` until `release`: the process that asks cannot come to its end."""

    def __init__(self):
        self._lock, self._left, self._released = threading.Lock(), math.inf, threading.Event()

    def __call__(self, agent, body):
        with self._lock:
            self._left -= 1
            held = self._released if self._left < 0 else None
        if held is not None:
            held.wait()
        return echo(agent, body)

    def hold_beyond(self, left):
        with self._lock:
            self._left, self._released = left, threading.Event()

    def release(self):
        with self._lock:
            self._left = math.inf
            self._released.set()


def told_by(process) -> list[str]:
    """The questions whose answers it has been told, once it is over."""
    out, err = process.communicate(timeout=300)
    assert err == ""
    return [line.split()[0] for line in out.splitlines() if line.startswith("q")]


def killed_after(process, answers: int, seconds: float) -> list[str]:
    """Kill it so many answers and seconds after it began; what it had been told by then."""
    told = [process.stdout.readline().split()[0] for _ in range(answers + 1)]  # the first line says that it is ready
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    return told[1:] + told_by(process)


def test_kills_lose_nothing_and_leave_the_bytes_of_a_run_that_was_never_killed(tmp_path):
    """At seeded moments: after 0 to 6 more answers and up to 20 ms, which reaches every step of a write."""
    dice = random.Random(50)  # noqa: S311 - moments, not keys
    endpoint = Endpoint()
    with an_llm_server(endpoint) as llm:
        told_by(recording(llm.base_url, tmp_path / "whole.yaml"))
        kills = takes = 0
        while kills < KILLS:
            path, told = tmp_path / f"take-{takes}.yaml", set()
            while (left := QUESTIONS - len(load(path).interactions)) > 2 * AT_ONCE:
                known = QUESTIONS - left  # those are told again at once
                endpoint.hold_beyond(left - 1)  # or it would be over before a busy machine kills it
                process = recording(llm.base_url, path)
                told |= set(killed_after(process, known + dice.randrange(7), dice.uniform(0, 0.02)))
                endpoint.release()
                assert process.returncode == -signal.SIGKILL
                kills += 1

                recorded = set(words_of(load(path).interactions))
                assert told <= recorded
                assert len(recorded - told) <= AT_ONCE  # written, and killed before it was said
            told_by(recording(llm.base_url, path))
            takes += 1

            assert path.read_bytes() == (tmp_path / "whole.yaml").read_bytes()

    assert len(llm.asked) <= QUESTIONS * (takes + 1) + AT_ONCE * kills  # asked again: only what was in flight
    assert sorted(tmp_path.glob(".*.tmp")) == []


def test_two_recorders_of_one_case_agree_on_every_answer(tmp_path):
    """The server never says the same twice; whoever is second on disk is told what the first one wrote."""
    path = tmp_path / "case.yaml"

    def never_the_same(_, body):
        return 200, "application/json", json.dumps(a_chat_answer(f"take-{len(llm.asked)}")).encode()

    with an_llm_server(never_the_same) as llm:
        both = [recording(llm.base_url, path) for _ in range(2)]
        heard = [dict(line.split() for line in process.communicate()[0].splitlines()[1:]) for process in both]

    on_disk = {last_words(found.request): found.response for found in load(path).interactions}
    assert heard[0] == heard[1]
    assert heard[0] == {words: answer["choices"][0]["message"]["content"] for words, answer in on_disk.items()}
    assert set(on_disk) == QUESTION_WORDS


def test_one_of_two_recorders_is_killed_and_the_other_goes_on(tmp_path):
    path = tmp_path / "case.yaml"
    with an_llm_server(echo) as llm:
        one, other = (recording(llm.base_url, path) for _ in range(2))
        told = killed_after(one, 5, 0.01)
        told_by(other)

    assert set(told) <= set(words_of(load(path).interactions)) == QUESTION_WORDS

"""What leaves by another door than a cassette holds nothing that a cassette would refuse."""

import json

import pytest

from evals.secret_filter import NOTHING, WITHHELD, AllowedSecrets, fit_to_write, held_back
from tests.builders.secret import PLANTED, an_entry
from tests.builders.trace import a_decision, a_trace

KEY = PLANTED["anthropic_key"]


def test_a_text_with_a_secret_is_withheld_and_the_others_stay():
    told = json.dumps({"body": f"use {KEY}", KEY: 1, "list": ["fine", KEY], "n": 0.1})

    assert json.loads(fit_to_write(told, NOTHING)) == {
        "body": WITHHELD,
        WITHHELD: 1,
        "list": ["fine", WITHHELD],
        "n": 0.1,
    }


def test_what_a_password_is_called_may_be_said():
    told = json.dumps({"user": "jane", "password": "S3cr3t9Pw"})

    assert json.loads(fit_to_write(told, NOTHING)) == {"user": "jane", "password": WITHHELD}


@pytest.mark.parametrize("told", ['{"a":  "fine"}', '{"route.pass": "0.5", "token": "optional"}'])
def test_a_text_without_secrets_stays_as_it_is_spelled(told):
    assert fit_to_write(told, NOTHING) == told


def test_what_somebody_has_allowed_stays():
    allowed = AllowedSecrets(allowed=(an_entry(KEY, rule="anthropic_key"),))

    assert fit_to_write(json.dumps(f"use {KEY}"), allowed) == json.dumps(f"use {KEY}")


def test_a_model_comes_back_as_one_of_its_kind(tmp_path):
    trace = a_trace(decisions=(a_decision(reasoning=f"as {KEY} says"),))

    assert held_back(trace, tmp_path).decisions[0].reasoning == WITHHELD
    assert held_back(a_trace(), tmp_path) == a_trace()

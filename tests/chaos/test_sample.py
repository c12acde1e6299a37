"""A little of `python -m tests.chaos` with every run of the tests; and that it would notice."""

import random

import pytest

from tests.builders.checkout import evals
from tests.builders.chromium import the_chromium
from tests.builders.shipped import every
from tests.chaos import chance, checkouts, greens, ground, kills, mutations, payloads, sources, strangers, targets
from tests.chaos.__main__ import PARTS, main
from tests.chaos.row import Row, table
from tests.chaos.verdict_ways import verdict_ways

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("part", "share"),
    [
        (kills, 0.02),
        (mutations, 0.03),
        (greens, 0.05),
        (strangers, 0.05),
        (checkouts, 0.2),
        (sources, 0.02),
        (targets, 0.05),
        *([(chance, 0.01)] if every() else []),  # replays a whole suite
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_sample_of_each_part_keeps_every_promise(tmp_path, part, share):
    found = part.rows(tmp_path, share, seed=4)

    assert [row for row in found if row.against] == []
    assert sum(row.tried for row in found) > 0
    assert part is not kills or sum(row.tried for row in found if row.what.endswith("lost")) > 0


def test_a_request_that_gets_out_of_a_replay_is_noticed(tmp_path, monkeypatch):
    """Synchronous requests are sent as they are."""
    monkeypatch.setattr("evals.target.http_hooks.answer", lambda *_: None)

    missed, outside, _ = targets.rows(tmp_path, 0.01, seed=4)

    assert missed.is_broken
    assert outside.is_broken


def test_a_checkout_whose_programs_are_started_is_noticed(tmp_path, monkeypatch):
    """Nothing is switched off any more."""
    monkeypatch.setattr("evals.shared.git_command._SWITCHED_OFF", ())
    monkeypatch.setattr("evals.shared.git_command._READS_FILES", frozenset())
    monkeypatch.setattr(checkouts, "USES", {"its revision": checkouts.USES["its revision"]})

    assert checkouts.rows(tmp_path, 0.01, seed=4)[0].is_broken


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A checkout that is recorded, blessed and green."""
    return ground.green(tmp_path_factory.mktemp("recorded"))


@pytest.mark.parametrize(
    "name",
    [
        "values: none is in one case",
        "models: a better one answers an edit",
        "models: a worse one answers an edit",
        "versions: a new candidate lost everything, and is blessed",
        "elsewhere: every comment is replaced",
    ],
)
def test_a_way_of_each_kind_by_what_decides_leads_to_no_undeserved_green(tmp_path, recorded, name):
    (way,) = (way for way in verdict_ways() if way.name == name)

    assert not greens.is_green(way, ground.copied(recorded, tmp_path / "way"))


def test_a_cache_that_believes_whatever_it_holds_is_noticed(tmp_path, recorded, monkeypatch):
    """The digest of its entries is taken out of the code: what was damaged is taken as it is."""
    checkout = ground.copied(recorded, tmp_path)
    monkeypatch.setattr("evals.content_cache._seal", lambda *_: b"")
    monkeypatch.setattr(mutations, "MUTATIONS", (mutations.other_digit,))
    evals(checkout, "run", "tiny.yaml", "--fresh")

    assert mutations.of_trials(checkout, 12, random.Random(4)).is_broken  # noqa: S311 - places, not keys


def test_a_terminal_that_prints_what_it_gets_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr("triage.terminal_screen.visible", lambda text: text)

    assert any("outputs of triage" in row.what and row.is_broken for row in strangers.rows(tmp_path, 0.05, seed=4))


@pytest.mark.browser
def test_a_payload_that_runs_is_noticed(tmp_path):
    (page := tmp_path / "page.html").write_text(payloads.PAYLOADS[0].replace("RUN", "window.ran=1"))

    assert payloads.ran_in(the_chromium(), page) == 1


def test_the_table_tells_what_is_promised_from_what_is_only_counted():
    rows = [Row("kept", 9, 0), Row("broken", 1_000, 1), Row("counted", 7, 3, promised=False), Row("not tried", 0, 0)]

    assert [row.is_broken for row in rows] == [False, True, False, True]
    assert "| broken | 1,000 | 1 | 0 |\n| counted | 7 | 3 | nothing |" in table(rows)


def test_a_part_that_is_none_is_said_in_a_line(capsys):
    assert main("kill") == 2
    assert f"no part is called 'kill'; choose among {', '.join(PARTS)}" in capsys.readouterr().err

"""A little of `make chaos` with every run of the tests; and that it would notice."""

import pytest

from tests.builders.chromium import a_chromium
from tests.chaos import greens, kills, mutations, payloads
from tests.chaos.__main__ import main
from tests.chaos.row import Row, table

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("part", "share"), [(kills, 0.05), (mutations, 0.03), (greens, 0.1)], ids=str)
def test_a_sample_of_each_part_keeps_every_promise(tmp_path, part, share):
    found = part.rows(tmp_path, share, seed=4)

    assert [row for row in found if row.against] == []
    assert sum(row.tried for row in found) > 0
    assert part is not kills or sum(row.tried for row in found if row.what.endswith("lost")) > 0


def test_a_cache_that_believes_whatever_it_holds_is_noticed(tmp_path, monkeypatch):
    """The digest of its entries is taken out of the code: what was damaged is taken as it is."""
    monkeypatch.setattr("evals.kept._seal", lambda *_: b"")
    monkeypatch.setattr(mutations, "MUTATIONS", (mutations.other_digit,))
    for kind in ("CASSETTES", "READINGS", "DELIVERED", "ROUTES", "SEARCHES", "FINDINGS", "SHARDS", "BASELINES", "RUNS"):
        monkeypatch.setattr(mutations, kind, 1)
    monkeypatch.setattr(mutations, "CACHES", 12)

    assert any("trials" in row.what and row.is_broken for row in mutations.rows(tmp_path, 1, seed=4))


@pytest.mark.browser
def test_a_payload_that_runs_is_noticed(tmp_path):
    (page := tmp_path / "page.html").write_text(payloads.PAYLOADS[0].replace("RUN", "window.ran=1"))
    browsers = a_chromium()

    assert payloads.ran_in(next(browsers), page) == 1
    browsers.close()


def test_the_table_tells_what_is_promised_from_what_is_only_counted():
    rows = [Row("kept", 9, 0), Row("broken", 1_000, 1), Row("counted", 7, 3, promised=False), Row("not tried", 0, 0)]

    assert [row.is_broken for row in rows] == [False, True, False, True]
    assert "| broken | 1,000 | 1 | 0 |\n| counted | 7 | 3 | nothing |" in table(rows)


def test_a_part_that_is_none_is_said_in_a_line(capsys):
    assert main("kill") == 2
    assert (
        "no part is called 'kill'; choose among kills, mutations, greens, payloads, secrets" in capsys.readouterr().err
    )

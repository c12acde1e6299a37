"""A sample of `python -m tests.chaos secrets`: nothing that is promised stands on the disk, whatever door it took."""

import pytest

from tests.chaos.secrets import FALSE, MISSED, blind_rows, planted, third_rows

pytestmark = pytest.mark.slow


def test_no_promised_secret_reaches_the_disk_and_the_others_do():
    """The others show that the search finds what is there."""
    rows = planted(seed=1, each=1)

    assert [row.what for row in rows if row.promised and row.on_disk] == []
    assert [row.what for row in rows if not row.promised and not row.on_disk] == []
    assert len(rows) > 80


def test_the_corpus_of_somebody_who_had_not_read_the_rules_is_found_and_its_harmless_texts_pass():
    missed, false, _ = blind_rows([20261124])

    assert missed.against <= MISSED * missed.tried
    assert false.against <= FALSE * false.tried
    assert missed.tried == false.tried == 300


def test_the_third_corpus_is_found_and_its_harmless_texts_pass():
    missed, false, _ = third_rows()

    assert missed.against <= MISSED * missed.tried
    assert false.against <= FALSE * false.tried
    assert missed.tried == false.tried == 300

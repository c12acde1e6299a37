"""What a sweep and a self-test leave behind."""

import json

from evals.models.base import Closed
from evals.report.run_files import write_sheet
from evals.secret_filter import WITHHELD
from tests.builders.secret import PLANTED


class Told(Closed):
    """As much of a sweep as matters here."""

    sentence: str
    points: int = 2


def test_neither_the_page_nor_its_json_repeats_a_secret(tmp_path):
    told = Told(sentence=f"use {PLANTED['anthropic_key']}")

    fit = write_sheet(told, lambda shown: f"<p>{shown.sentence}</p>", tmp_path / "out", "told", tmp_path / "cassettes")

    assert fit == Told(sentence=WITHHELD)
    assert (tmp_path / "out" / "index.html").read_text() == f"<p>{WITHHELD}</p>"
    assert json.loads((tmp_path / "out" / "told.json").read_text()) == {"sentence": WITHHELD, "points": 2}

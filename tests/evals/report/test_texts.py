"""Long texts are stored once."""

import json

from evals.report.view.texts import Texts


def _read(pool: Texts, number: str) -> str:
    """What the page's script does."""
    stored = json.loads(json.dumps(pool.pool()))
    runs = stored["texts"][int(number)]
    lines = [stored["lines"][start : start + length] for start, length in zip(runs[::2], runs[1::2], strict=True)]
    return "\n".join(line for run in lines for line in run)


def test_a_text_comes_out_as_it_went_in():
    pool = Texts()
    texts = ["one\ntwo\nthree", "two\nthree\none\n", "", "two\ntwo\ntwo"]
    numbers = [pool.add(text) for text in texts]

    assert [_read(pool, number) for number in numbers] == texts


def test_equal_texts_share_a_number():
    pool = Texts()

    assert pool.add("same") == pool.add("same")


def test_a_longer_version_of_a_text_adds_only_its_new_lines():
    pool = Texts()
    pool.add("issue\nfirst finding")
    pool.add("issue\nfirst finding\nsecond finding")

    assert pool.pool()["lines"] == ["issue", "first finding", "second finding"]

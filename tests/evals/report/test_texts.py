"""Long texts are stored once."""

from evals.report.view.page_parts import Texts


def test_a_text_is_found_by_its_number():
    pool = Texts()
    texts = ["one\ntwo", "", "two\ntwo"]
    numbers = [pool.add(text) for text in texts]

    assert [pool.all()[int(number)] for number in numbers] == texts


def test_equal_texts_share_a_number():
    pool = Texts()

    assert [pool.add(text) for text in ("same", "other", "same")] == ["0", "1", "0"]

import pytest

from triage.codebase.search_ranking import WordIndex, code_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("total", ["total"]),
        ("Total", ["total"]),
        ("read_file", ["read_file", "read", "file"]),
        ("readFile", ["readfile", "read", "file"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("v2", ["v2", "v", "2"]),
        ("a.b(42)", ["a", "b", "42"]),
        ("!?", []),
    ],
)
def test_identifiers_are_found_whole_and_by_their_pieces(text, tokens):
    assert code_tokens(text) == tokens


def test_the_text_that_shares_the_rarer_word_scores_highest():
    scores = WordIndex(["def read_file(path)", "def write_file(path)", "def send_mail(to)"]).scores("readFile fails")

    assert scores[0] > scores[1] > scores[2] == 0


@pytest.mark.parametrize("texts", [["é"], ["", "!?"]])
def test_texts_without_a_word_score_nothing(texts):
    assert WordIndex(texts).scores("zebra") == [0.0] * len(texts)


@pytest.mark.parametrize("query", ["", "zebra", "!?"])
def test_a_query_without_a_known_word_scores_nothing(query):
    assert WordIndex(["def read_file(path)", "def send_mail(to)"]).scores(query) == [0.0, 0.0]

"""A reason leads to the cases it names."""

from hypothesis import given
from hypothesis import strategies as st

from evals.models.run import Reason
from evals.report.html_page import render
from evals.report.view.page_parts import Piece, pieces
from tests.builders.run import a_case_info, a_run

IDS = {"export-key", "export-key-injected"}


def named(sentence):
    return [piece.text for piece in pieces(sentence, IDS) if piece.kind == "case"]


def test_the_longer_id_is_not_taken_for_the_shorter_one():
    assert named("v3 breaks P2 in export-key-injected, export-key.") == ["export-key-injected", "export-key"]


def test_a_part_of_a_word_is_no_case():
    assert named("the export-keys of my.export-key") == []


@given(st.text(st.characters(exclude_characters="`")))
def test_nothing_of_the_sentence_is_lost(sentence):
    assert "".join(piece.text for piece in pieces(sentence, IDS)) == sentence


def test_what_stands_between_backticks_is_code():
    assert pieces("what `make eval` runs") == (
        Piece("what ", "text"),
        Piece("make eval", "code"),
        Piece(" runs", "text"),
    )


def test_a_lone_backtick_stays():
    assert [piece.text for piece in pieces("a ` b")] == ["a ` b"]


def test_the_banner_links_a_broken_rule_to_its_case():
    run = a_run(cases=(a_case_info("export-key"),))
    reason = Reason(kind="new hard violation", text="v3 breaks P2 in export-key")
    page = render(run.model_copy(update={"verdict": run.verdict.model_copy(update={"reasons": (reason,)})}))

    assert '<b>new hard violation</b> v3 breaks P2 in <a href="#case=export-key">export-key</a></li>' in page


def test_the_banner_tells_a_reason_once():
    run = a_run(cases=(a_case_info("export-key"),))
    reason = Reason(kind="new hard violation", text="v3 breaks P2 in export-key")
    told = run.verdict.model_copy(update={"sentence": f"Worse: {reason.text}.", "reasons": (reason,)})
    page = render(run.model_copy(update={"verdict": told}))

    assert page.count('v3 breaks P2 in <a href="#case=export-key">export-key</a>') == 1
    assert "<b>new hard violation</b>" not in page

"""`summary.md`, fit for a pull request's comment."""

import pytest

from evals.models.run import Reason
from evals.report.summary_markdown import LIMIT, escape, summary
from tests.builders.run import a_comparison, a_run, a_trial, a_variant_info, a_verdict
from tests.builders.trace import a_decision, a_trace, an_override


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[click](javascript:x)", r"\[click\]\(javascript\:x\)"),
        ("<img src=x>", r"\<img src=x\>"),
        ("see https://evil.invalid", r"see https\://evil\.invalid"),
        ("www.evil.invalid", r"www\.evil\.invalid"),
        ("ask @someone about #12", "ask @&#8203;someone about #&#8203;12"),
        ("a | b", r"a \| b"),
        ("one\n\n# two", "one #&#8203; two"),
        ("bidi \u202e and \x1b[31m", r"bidi and \[31m"),
        ("&lt;b&gt;", r"\&lt;b\&gt;"),
    ],
)
def test_text_from_elsewhere_does_not_link_mention_or_format(text: str, shown: str):
    assert escape(text) == shown


@pytest.mark.parametrize(("status", "code"), [("not worse", 0), ("worse", 1), ("cannot judge", 3)])
def test_the_verdict_comes_first_and_the_exit_code_says_the_same(status: str, code: int):
    text = summary(a_run(verdict=a_verdict(status, code, sentence="So it is")))

    assert text.splitlines()[0].endswith("So it is")
    assert f"Exit code {code} ({status})." in text


def test_every_row_of_a_table_has_as_many_cells_as_its_heading():
    rows = [line for line in summary(a_run()).splitlines() if line.startswith("|")]
    counts = [row.count("|") for row in rows]

    assert counts == [6] * 4 + [3] * 4 + [4] * 6 + [11] * 5


def test_a_variant_is_called_what_it_likes_and_neither_links_mentions_nor_shifts_cells():
    odd, shown = "a|@you<b>\x1b[31m", r"a\|@&#8203;you\<b\> \[31m"
    runs = [
        a_run(
            a_trial(a_trace(variant=odd, decisions=[a_decision(0, overrides=[an_override()])])),
            variants=(a_variant_info(odd),),
        ),
        a_run(comparisons=(a_comparison(left=odd),)),
        a_run(
            comparisons=(a_comparison(against="baseline", left=odd, right=f"{odd} (baseline)", broke=(), mended=()),)
        ),
    ]
    for run in runs:
        text = summary(run)

        assert shown in text
        assert odd not in text
        assert "a|" not in text
        assert "@you" not in text


def test_costs_and_guards_are_those_of_the_report():
    text = summary(a_run(a_trial(a_trace(variant="v2", decisions=[a_decision(0, overrides=[an_override()])]))))

    assert "| variant | exact trials |" in text
    assert r"| override by investigator\_first | 1 in 1 of 1 trials | n/a |" in text


def test_what_is_as_blessed_is_one_sentence_and_no_row():
    same = a_comparison(against="baseline", left="v3", right="v3 (baseline)", broke=(), mended=())

    text = summary(a_run(comparisons=(same,)))

    assert "v3 against v3" not in text
    assert "as blessed in every case: v3" in text


def test_what_changed_since_the_baseline_keeps_its_row():
    changed = a_comparison(against="baseline", left="v3", right="v3 (baseline)", broke=("local-bug",), mended=())

    assert r"| v3 against v3 \(baseline\) |" in summary(a_run(comparisons=(changed,)))


def test_what_left_the_tape_is_not_called_as_blessed():
    """Three of eight cases are scored again: nobody knows of the other five."""
    partly = a_comparison(against="baseline", left="v3", right="v3 (baseline)", n=3, of=8)

    text = summary(a_run(comparisons=(partly,)))

    assert r"| v3 against v3 \(baseline\) | route\.pass | 3/8 |" in text
    assert "as blessed" not in text


def test_a_long_summary_ends_at_a_whole_line_and_says_so():
    """GitHub refuses a comment of more than 65,536 characters; the verdict comes first, so it stays."""
    reasons = [Reason(kind="note", text=f"ünlike number {n} of very many") for n in range(4000)]

    text = summary(a_run(verdict=a_verdict("worse", 1, *reasons, sentence="It is worse")))

    assert LIMIT - 200 < len(text.encode()) <= LIMIT
    assert "It is worse" in text.splitlines()[0]
    assert text.splitlines()[-3].endswith("of very many")
    assert "the rest is in the report" in text.splitlines()[-1]

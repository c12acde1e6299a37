"""Flip matrices: how each case fared under the reference, against how it fares now."""

from evals.models.metrics import Scored, Skipped
from evals.report.view.flip_matrix import FlipMatrix, flip_pairs
from evals.report.view.page_parts import Lists
from tests.builders.run import a_case_info, a_run, a_scorer_info, a_trial, a_variant_info
from tests.builders.trace import a_trace

ROUTE = (a_scorer_info("route.pass"),)


def a_matrix(**fates: tuple[float | None, float | None]) -> tuple[FlipMatrix, Lists]:
    """The matrix of cases by name, each with its score under the reference and under the candidate; None: skipped."""
    trials = [
        a_trial(
            a_trace(case_id=case, variant=name),
            {"route.pass": Skipped(reason="off the tape") if value is None else Scored(value=value)},
        )
        for case, values in fates.items()
        for name, value in zip(("v2", "v3"), values, strict=True)
    ]
    lists = Lists([*fates])
    (pair,) = flip_pairs(a_run(*trials, cases=[a_case_info(case) for case in fates], scorers=ROUTE), lists)
    return pair.matrices[0], lists


def cells(matrix: FlipMatrix) -> dict[tuple[str, str], tuple[str, str]]:
    """(before, after) -> (count, kind), where there is a case."""
    return {
        (old, new): (cell.count.text, cell.kind)
        for old, row in matrix.rows
        for new, cell in zip(matrix.columns, row, strict=True)
        if cell.count.list
    }


def test_a_case_stands_where_its_two_fates_cross():
    matrix, _ = a_matrix(a=(1, 1), b=(1, 0), c=(1, 0), d=(0, 1), e=(1, None))

    assert cells(matrix) == {
        ("passed", "passed"): ("1", "kept"),
        ("passed", "failed"): ("2", "lost"),
        ("failed", "passed"): ("1", "gained"),
        ("passed", "unjudged"): ("1", "unjudged"),
    }


def test_every_case_is_in_the_matrix_once():
    matrix, _ = a_matrix(a=(1, 0.5), b=(None, None), c=(0, 0), d=(0.5, 0.25))

    assert sum(int(count) for count, _ in cells(matrix).values()) == 4


def test_a_cell_leads_to_its_cases():
    matrix, lists = a_matrix(a=(1, 1), b=(1, 0), c=(1, 0))
    lost = dict(matrix.rows)["passed"][matrix.columns.index("failed")]

    assert lists.pool()[int(lost.count.list)] == ("route.pass, v2 against v3: passed, then failed", (1, 2))


def test_a_share_between_none_and_all_is_a_fate_of_its_own():
    matrix, _ = a_matrix(a=(0.5, 0.25), b=(0.5, 0.5), c=(1, 0.5))

    assert cells(matrix)["partly", "partly"] == ("2", "moved")
    assert dict(matrix.rows)["partly"][matrix.columns.index("partly")].note == "1 lower"
    assert cells(matrix)["passed", "partly"] == ("1", "lost")


def test_partly_is_not_offered_where_nothing_is():
    matrix, _ = a_matrix(a=(1, 0))

    assert matrix.columns == ("passed", "failed", "unjudged")


def test_the_caption_says_what_the_matrix_rests_on():
    matrix, _ = a_matrix(a=(1, 0), b=(1, None), c=(None, None))

    assert matrix.caption == "route.pass: 1 of 3 cases judged under both"


def test_the_candidate_comes_first():
    variants = [a_variant_info(name) for name in ("v1", "v2", "v3")]
    pairs = flip_pairs(a_run(variants=variants, reference="v1", candidate="v3", scorers=ROUTE), Lists(["local-bug"]))

    assert [(pair.left, pair.judged) for pair in pairs] == [("v3", True), ("v2", False)]


def test_without_the_reference_nothing_flips():
    assert flip_pairs(a_run(variants=[a_variant_info("v3")], reference="v2"), Lists(["local-bug"])) == ()

"""Kinds of way: each counts alike, however many cases it has."""

import pytest

from evals.triage.dataset.floor_scores import kind_baselines, kind_of
from tests.builders.case import a_case, a_constraint, a_spec, an_alternative

CODE, WEB = "codebase_search", "web_search"


def a_case_that_takes(node, case_id="c"):
    rules = [
        a_constraint("init", hard=True),
        a_constraint("end", ["writer"], hard=True),
        a_constraint("existence", [node], min=1, hard=True),
        a_constraint("existence", ["human_input"], max=0, hard=True),
        *(a_constraint("existence", [other], max=0, hard=True, id=other) for other in (CODE, WEB) if other != node),
    ]
    return a_case(case_id, spec=a_spec(an_alternative(*rules)))


@pytest.mark.parametrize(
    ("routes", "kind"),
    [
        ({("investigator", CODE, "writer"), ("investigator", CODE, WEB, "writer")}, (CODE,)),
        ({("investigator", "writer")}, ()),
        ({("investigator", WEB, CODE, "writer")}, (CODE, WEB)),
        (set(), ()),
    ],
)
def test_a_kind_is_what_the_shortest_passing_route_looks_at(routes, kind):
    assert kind_of({"unsure": frozenset(), "sure": frozenset(routes)}) == kind


def test_many_cases_of_one_kind_weigh_no_more_than_one_of_another(tmp_path):
    """Nine in ten look into the code, and a route that does is worth one half."""
    cases = [*(a_case_that_takes(CODE, f"c{n}") for n in range(9)), a_case_that_takes(WEB, "w")]

    constant, branches = kind_baselines(cases, tmp_path)

    assert (constant.name, round(constant.share, 9), round(branches.share, 9)) == (
        "constant route, by kind of way",
        0.5,
        0.5,
    )

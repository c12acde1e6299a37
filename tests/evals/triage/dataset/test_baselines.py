"""The route and decision baselines: what is reached without any model."""

import pytest

from evals.triage.dataset.floor_scores import decision_baseline, route_baselines
from evals.triage.dataset.load_cases import load_cases
from tests.builders.case import a_case, a_point
from tests.builders.dataset import a_sound_dataset


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The baselines of two cases: a bug to look up in the code, and one where the user has to be asked."""
    folder = tmp_path_factory.mktemp("baselines")
    cases = load_cases(a_sound_dataset(folder / "datasets")).values()
    return {item.name: item for item in route_baselines(cases, folder / "cache")}


def test_every_case_counts_twice_once_unsure_and_once_sure(found):
    twice = ("constant route", "two branches", "always ask", "never ask", "oracle")

    assert {found[name].n for name in twice} == {4}


def test_one_route_for_everything_has_the_critic_in_it_and_passes_its_case_sure_or_not(found):
    """A review of a sure supervisor is waste and no failed route; one that an unsure one did without is."""
    assert (found["constant route"].share, "critic" in found["constant route"].detail) == (0.5, True)


def test_with_a_supervisor_that_is_never_sure_one_route_passes_its_whole_case(found):
    assert (found["constant route, unsure"].share, found["constant route, unsure"].n) == (0.5, 2)


def test_a_pair_of_routes_is_never_worse_than_a_single_one(found):
    assert found["two branches"].share >= found["constant route"].share


def test_always_asking_wins_the_case_that_needs_it_and_no_other(found):
    assert (found["always ask"].share, "human_input" in found["always ask"].detail) == (0.5, True)


def test_never_asking_wins_the_other(found):
    assert (found["never ask"].share, "human_input" in found["never ask"].detail) == (0.5, False)


def test_an_oracle_passes_everything(found):
    assert found["oracle"].share == 1


def test_an_impossible_case_is_lost_even_to_the_oracle(tmp_path):
    """Its maximum is below what its must-visits take."""
    case = a_case()
    [way] = case.route_spec.alternatives
    short = way.model_copy(update={"steps": way.steps.model_copy(update={"target": 1, "max": 1})})
    spec = case.route_spec.model_copy(update={"alternatives": (short,)})

    oracle = route_baselines([case.model_copy(update={"route_spec": spec})], tmp_path)[-1]

    assert (oracle.name, oracle.share) == ("oracle", 0)


def test_the_constant_route_comes_first_and_names_what_it_goes(tmp_path):
    constant, *_ = route_baselines([a_case()], tmp_path)

    assert (constant.name, constant.detail.startswith("investigator → codebase_search")) == ("constant route", True)


def test_no_cases_have_no_baselines(tmp_path):
    assert (route_baselines([], tmp_path), decision_baseline([])) == ([], [])


def test_the_constant_choice_is_the_one_that_earns_most_over_gold_nodes():
    """Writer: 1 where it is gold, 0.5 where the end is, 0 where the critic is; critic: 1 where it is gold only."""
    one = a_case("one", points=[a_point("p1", writer=1.0), a_point("p2", writer=0.5, end=1.0)])
    other = a_case("other", points=[a_point("p1", critic=1.0)])

    [best] = decision_baseline([one, other])

    assert (best.detail, best.share, best.n) == ("writer", 0.5, 2)

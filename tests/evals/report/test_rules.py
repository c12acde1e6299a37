"""Why a route passes or fails, in the drill-down of its case."""

from evals.models.metrics import Scored
from evals.models.run import CaseInfo, Trial
from evals.report.view.page_parts import Texts
from evals.report.view.violations_table import RuleSheets, figures_of, reason_of, rule_tables
from evals.scoring.registry import score_trials
from tests.builders.case import a_case, a_constraint, a_spec, an_alternative
from tests.builders.run import a_case_info
from tests.builders.trace import a_trace

SPEC = a_spec()
CASE = a_case_info(route_spec=SPEC)


def trials_of(*traces, spec=SPEC) -> tuple[Trial, ...]:
    """The traces, scored against a specification."""
    return score_trials({"local-bug": a_case(spec=spec)}, traces)


def rows_of(case: CaseInfo, *trials: Trial) -> dict[str, list[str]]:
    """The one table of a case as it is put together: rule -> its cells."""
    sheets, texts = RuleSheets(), Texts()
    (table,) = rule_tables(case, trials, sheets, texts)
    rules = sheets.all()[int(table.sheet)].rules
    lines = [line.split("\t") for line in texts.all()[int(table.cells)].split("\n")]
    return {rule.id: [rule.asks, rule.force, *(cells[i] for cells in lines)] for i, rule in enumerate(rules)}


def test_two_routes_alike_of_which_one_passes_differ_in_what_a_guard_read():
    trials = trials_of(a_trace(variant="v1", confidence=0.7), a_trace(variant="v2", confidence=0.87))

    assert rows_of(CASE, *trials)["P2b"][2:] == ["vacuous", "✗ 0 % alone"]


def test_a_route_past_its_limit_breaks_the_limit():
    trials = trials_of(a_trace("investigator", *["codebase_search"] * 3, "critic", "writer"))

    assert rows_of(CASE, *trials)["steps.max"][2:] == ["✗ alone"]


def test_each_alternative_that_counts_for_some_trial_has_its_table():
    asking = an_alternative(a_constraint("existence", ["human_input"], min=1, hard=True, id="ask"))
    spec = a_spec(an_alternative(), asking)
    trials = trials_of(a_trace(variant="v1"), a_trace("human_input", "writer", variant="v2"), spec=spec)
    sheets = RuleSheets()
    rule_tables(a_case_info(route_spec=spec), trials, sheets, Texts())

    assert [(sheet.title, sheet.columns) for sheet in sheets.all()] == [
        ("Constraints of the route, alternative 1 of 2", ("v1",)),
        ("Constraints of the route, alternative 2 of 2", ("v2",)),
    ]


def test_the_rule_that_alone_keeps_a_route_from_passing_is_named():
    (trial,) = trials_of(a_trace(confidence=0.87))

    assert reason_of(trial, CASE) == "fails by P2b (soft 2: no critic, if confidence >= 0.85) alone"


def test_where_several_rules_are_broken_none_is_called_the_one():
    (trial,) = trials_of(a_trace("investigator", "writer"))

    assert reason_of(trial, CASE) == (
        "fails by more than one constraint: P2 (hard 2: critic before writer, if confidence < 0.85), "
        "must:codebase_search (hard 2: codebase_search at least once)"
    )


def test_a_route_that_passes_all_the_same_says_what_it_broke():
    light = a_spec(an_alternative(a_constraint(id="first", w=9), a_constraint("absence", ["critic"], id="light")))
    (trial,) = trials_of(a_trace(), spec=light)

    assert trial.outcomes["route.pass"] == Scored(value=1)
    assert reason_of(trial, a_case_info(route_spec=light)) == "passes, although it violates light (soft 1: no critic)"


def test_fitness_and_what_the_guard_read_are_said_of_the_trial():
    (trial,) = trials_of(a_trace(confidence=0.87))

    assert figures_of(trial) == ("F 0.846", "confidence at the decision that ended the route: 0.87")

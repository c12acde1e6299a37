"""Every guard set against a decision table, over every situation and every choice."""

import pytest

from tests.builders.guard_table import Situation, Table, a_table, expected, situations
from tests.builders.state import a_state
from triage.guards.guard_sets import SETS, guard_set
from triage.guards.guards import GuardSet, rule
from triage.state import NODES, ConfidenceFloor

PRD = a_table("""
    investigator_first | time=start choice!=investigator        | investigator
    question_limit     | choice=human_input asked=2             | codebase_search
    iteration_limit    | time=limit                             | writer
    report_before_end  | choice=end report=no                   | writer
    critic_gate        | choice=writer verdict=binding/answered | investigator
""")

HARDENED = a_table("""
    investigator_first | time=start choice!=investigator                                    | investigator
    iteration_limit    | time=limit choice=end report=yes                                   | as chosen
    iteration_limit    | time=limit                                                         | writer
    question_limit     | choice=human_input asked=2 twice!=codebase_search                  | codebase_search
    question_limit     | choice=human_input asked=2 worked=yes                              | codebase_search
    question_limit     | choice=human_input asked=2 searched=no                             | web_search
    question_limit     | choice=human_input asked=2                                         | writer
    critic_gate        | choice=writer verdict=binding forced=no twice!=investigator        | investigator
    critic_gate        | choice=writer verdict=binding forced=no worked=yes                 | investigator
    critic_gate        | choice=writer verdict=binding forced=no searched=no                | codebase_search
    critic_gate        | choice=writer verdict=binding forced=no                            | as chosen
    critic_gate        | choice=end report=no verdict=binding forced=no twice!=investigator | investigator
    critic_gate        | choice=end report=no verdict=binding forced=no worked=yes          | investigator
    critic_gate        | choice=end report=no verdict=binding forced=no searched=no         | codebase_search
    critic_gate        | choice=end report=no verdict=binding forced=no                     | writer
    report_before_end  | choice=end report=no                                               | writer
    failed_agent       | choice=investigator twice=investigator worked=no searched=no       | codebase_search
    failed_agent       | choice=critic twice=critic worked=no searched=no                   | codebase_search
    failed_agent       | choice=codebase_search twice=codebase_search worked=no searched=no | web_search
    failed_agent       | choice=web_search twice=web_search worked=no searched=no           | codebase_search
    failed_agent       | choice=investigator twice=investigator worked=no                   | writer
    failed_agent       | choice=critic twice=critic worked=no                               | writer
    failed_agent       | choice=codebase_search twice=codebase_search worked=no             | writer
    failed_agent       | choice=web_search twice=web_search worked=no                       | writer
""")

# Sure enough: 0.90 with anything found, or 0.75 with two findings. A failed investigator leaves nothing found.
FLOOR = a_table("""
    sure             | choice=writer/end sure=high twice!=investigator time!=start | pass
    sure             | choice=writer/end sure=high worked=yes time!=start          | pass
    sure             | choice=writer/end sure=high searched=yes time!=start        | pass
    sure             | choice=writer/end sure=fair searched=yes time!=start        | pass
    sure             | choice=writer/end sure=fair twice!=nobody/critic worked=yes | pass
    over             | choice=end report=yes                                       | pass
    told             | choice=writer/end forced=yes                                | pass
    confidence_floor | choice=writer/end searched=no twice!=codebase_search        | codebase_search
    confidence_floor | choice=writer/end searched=no                               | web_search
    confidence_floor | choice=writer/end verdict=none twice!=critic                | critic
    confidence_floor | choice=writer/end time=start                                | critic
""")
FLOORED = ConfidenceFloor(single=0.85, corroborated=0.70, min_findings=2)

REGISTRY = a_table("""
    requires_met | choice=codebase_search/web_search/critic/human_input/writer time=start    | investigator
    loop_guard   | choice=human_input asked=2 time!=start report=yes                         | end
    loop_guard   | choice=investigator twice=investigator report=yes                         | end
    loop_guard   | choice=codebase_search twice=codebase_search report=yes                   | end
    loop_guard   | choice=web_search twice=web_search report=yes                             | end
    loop_guard   | choice=critic twice=critic report=yes                                     | end
    loop_guard   | choice=investigator twice=investigator worked=no                          | writer
    loop_guard   | choice=human_input asked=2 time!=start twice=investigator worked=no       | writer
    loop_guard   | choice=investigator twice=investigator searched=no                        | codebase_search
    loop_guard   | choice=codebase_search twice=codebase_search searched=no                  | web_search
    loop_guard   | choice=web_search twice=web_search searched=no                            | codebase_search
    loop_guard   | choice=critic twice=critic searched=no                                    | codebase_search
    loop_guard   | choice=human_input asked=2 time!=start searched=no twice!=codebase_search | codebase_search
    loop_guard   | choice=human_input asked=2 time!=start searched=no                        | web_search
    loop_guard   | choice=investigator twice=investigator verdict=none                       | critic
    loop_guard   | choice=codebase_search twice=codebase_search verdict=none                 | critic
    loop_guard   | choice=web_search twice=web_search verdict=none                           | critic
    loop_guard   | choice=human_input asked=2 time!=start verdict=none twice!=critic         | critic
    loop_guard   | choice=investigator twice=investigator                                    | writer
    loop_guard   | choice=codebase_search twice=codebase_search                              | writer
    loop_guard   | choice=web_search twice=web_search                                        | writer
    loop_guard   | choice=critic twice=critic                                                | writer
    loop_guard   | choice=human_input asked=2 time!=start                                    | writer
""")

ABLATIONS = {
    f"hardened-without-{left_out}": tuple(row for row in HARDENED if row.guard != left_out)
    for left_out in dict.fromkeys(row.guard for row in HARDENED)
}
TABLES: dict[str, Table] = {"none": (), "prd": PRD, "hardened": HARDENED, **ABLATIONS}


def differences(guards: GuardSet, *tables: Table, sure=("low",)) -> list[str]:
    """Where the guards do not do what the tables say, as sentences."""
    return [
        f"{choice} at {situation}: {found}, not {wanted}"
        for situation, choice, wanted in expected(tables, sure)
        if (found := ruled(guards, situation, choice)) != wanted
    ]


def ruled(guards: GuardSet, situation: Situation, choice):
    ruling = rule(guards.guards, situation.state, choice)
    return ruling.routed, ruling.veto.guard if ruling.veto else None


def test_there_is_a_table_for_every_set():
    assert set(TABLES) == set(SETS)


def test_thousands_of_choices_are_looked_at():
    assert len(situations()) * len(NODES) > 10_000


@pytest.mark.parametrize("name", TABLES)
def test_a_set_does_what_its_table_says(name):
    assert differences(guard_set(name), TABLES[name]) == []


@pytest.mark.parametrize("name", ["prd", "hardened"])
def test_with_the_registrys_guards_a_set_does_what_both_tables_say(name):
    assert differences(guard_set(name, supervisor="registry"), TABLES[name], REGISTRY) == []


@pytest.mark.parametrize("name", ["none", "prd", "hardened", "hardened-without-report_before_end"])
def test_with_a_floor_a_set_does_what_both_tables_say(name):
    """The floor stands before `report_before_end`, or `end` would slip under it."""
    last = tuple(row for row in TABLES[name] if row.guard == "report_before_end")
    first = tuple(row for row in TABLES[name] if row not in last)

    assert differences(guard_set(name, FLOORED), first, FLOOR, last, sure=("low", "fair", "high")) == []


@pytest.mark.parametrize(("guards", "goes_to"), [("prd", "investigator"), ("hardened", "critic")])
def test_a_visit_that_was_not_counted_is_a_visit_to_the_hardened_set(guards, goes_to):
    state = a_state(visits=["investigator"], iterations=0)

    assert rule(guard_set(guards).guards, state, "critic").routed == goes_to

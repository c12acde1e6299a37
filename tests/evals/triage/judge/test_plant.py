"""What is planted: enough of it, the same each time, and nothing but what its name says."""

from collections import Counter
from random import Random

import pytest

from evals.triage.judge.planted_defects import (
    DEFECTS,
    REWORDINGS,
    comment_of,
    comment_parts,
    hand_made,
    part_of,
    with_part,
)
from evals.triage.judge.triage_rubric import attacks, broken, harmless
from tests.builders.judge import COMMENT, a_dossier, a_written, an_original

HAND = hand_made()
CHANCE = Random(1)  # noqa: S311 - nothing is to be secret
MANY = [
    an_original(
        f"case-{number}", dossier=a_dossier(title=f"Sum {number}", written=a_written(root_cause=f"Cause {number}."))
    )
    for number in range(40)
]


def test_enough_is_planted():
    assert sum(defect.count for defect in DEFECTS) >= 150
    assert sum(rewording.count for rewording in REWORDINGS) >= 150
    assert len(HAND.attacks) >= 20


def test_planting_twice_plants_the_same():
    assert broken(MANY, HAND) == broken(list(reversed(MANY)), HAND)
    assert harmless(MANY, HAND) == harmless(MANY, HAND)


def test_a_kind_breaks_no_case_twice_and_all_cases_are_used_about_alike():
    plants = broken(MANY, HAND)
    used = Counter(plant.case_id for plant in plants)

    assert max(Counter((plant.kind, plant.case_id) for plant in plants).values()) == 1
    assert max(used.values()) - min(used.values()) <= 2


@pytest.mark.parametrize(
    "defect", [each for each in DEFECTS if each.name != "hedge removed"], ids=lambda each: each.name
)
def test_every_defect_changes_what_is_written(defect):
    original = MANY[0]
    dossier = defect.make(original, MANY, HAND, CHANCE)

    assert dossier is not None
    assert dossier.written != original.written
    assert dossier.cause == original.dossier.cause
    assert dossier.findings == original.dossier.findings


def test_a_hedge_is_removed_only_where_somebody_has_written_how():
    removed = next(each for each in DEFECTS if each.name == "hedge removed")
    known = an_original(next(iter(HAND.certain)))

    assert removed.make(MANY[0], MANY, HAND, CHANCE) is None
    assert removed.make(known, MANY, HAND, CHANCE).written.confidence == 0.99


def test_a_swapped_file_is_another_one_everywhere():
    swap = next(each for each in DEFECTS if each.name == "file swapped")
    text = swap.make(MANY[0], MANY, HAND, CHANCE).written.model_dump_json()

    assert "shop/cart.py" not in text


@pytest.mark.parametrize("rewording", REWORDINGS, ids=lambda each: each.name)
def test_a_rewording_leaves_findings_severity_and_place_alone(rewording):
    original = an_original()
    dossier = rewording.make(original, HAND)

    assert dossier is not None
    assert dossier.findings == original.dossier.findings
    assert (dossier.written.severity, dossier.written.location) == ("HIGH", "shop/cart.py::total")
    assert len(dossier.written.comment.split()) <= 200


def test_what_says_how_sure_it_is_survives_a_shortening():
    shorter = next(each for each in REWORDINGS if each.name == "shorter")

    assert "It is not shown who calls it" in shorter.make(an_original(), HAND).written.evidence


def test_code_is_no_wording():
    synonyms = next(each for each in REWORDINGS if each.name == "synonyms")
    original = an_original(dossier=a_dossier(written=a_written(comment=COMMENT.replace("`total`", "`check`"))))

    assert "`check`" in synonyms.make(original, HAND).written.comment


def test_every_attack_stands_in_a_broken_report_and_changes_it():
    spoilt = broken(MANY, HAND)
    bases = {plant.name: plant for plant in spoilt}
    planted = attacks(spoilt, HAND)

    assert len(planted) == len(HAND.attacks)
    assert all(plant.dossier != bases[plant.base].dossier for plant in planted)
    assert {plant.target for plant in planted} == {defect.target for defect in DEFECTS}


def test_a_comment_taken_apart_and_put_together_is_the_same():
    assert comment_of(comment_parts(COMMENT)) == COMMENT


def test_a_part_is_replaced_in_its_place():
    changed = with_part(COMMENT, "Files concerned", "None.")

    assert part_of(changed, "Files concerned") == "None."
    assert changed.replace("None.", part_of(COMMENT, "Files concerned")) == COMMENT

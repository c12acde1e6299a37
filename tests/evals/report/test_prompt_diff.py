"""What one prompt changed in another."""

from evals.report.view.variant_diff import diff_lines, prompt_diffs
from tests.builders.run import a_run, a_system_info, a_variant_info, rules_info


def test_unchanged_lines_far_away_are_folded():
    old = [f"line {number}" for number in range(20)]
    lines = list(diff_lines(old, [*old[:10], "another one", *old[10:]]))

    assert [line.kind for line in lines] == ["skip", *["same"] * 3, "ins", *["same"] * 3, "skip"]
    assert [lines[0].segments[0].text, lines[-1].segments[0].text] == ["7 unchanged lines"] * 2


def test_a_diff_loses_no_text():
    old, new = ["a b c", "d", "e"], ["a x c", "f g", "e", "h"]
    lines = list(diff_lines(old, new))

    def told(*kinds: str) -> list[str]:
        return ["".join(segment.text for segment in line.segments) for line in lines if line.kind in kinds]

    assert told("same", "del") == old
    assert told("same", "ins") == new


def test_the_candidate_is_shown_first_and_open():
    variants = [a_variant_info(name, name) for name in ("v1", "v2", "v3")]
    diffs = prompt_diffs(a_run(variants=variants, candidate="v3", reference="v2"))

    assert [(diff.title, diff.open) for diff in diffs] == [("v2 to v3", True), ("v2 to v1", False)]


def test_an_edit_since_the_last_commit_comes_before_everything():
    variants = [a_variant_info("v2"), a_variant_info("v3", "Now.\n", committed="Then.\n")]
    first, second = prompt_diffs(a_run(variants=variants))

    assert (first.title, [line.text for line in first.lines]) == ("v3 since it was committed", ["Then.", "Now."])
    assert second.title == "v2 to v3"


def test_every_changed_line_can_be_linked_to_and_no_two_alike():
    variants = [a_variant_info("v2", "a\nb\n"), a_variant_info("v3", "a\nc\n", committed="x\n")]
    lines = [line for diff in prompt_diffs(a_run(variants=variants)) for line in diff.lines]
    anchors = [line.anchor for line in lines if line.kind in ("ins", "del")]

    assert all(anchors)
    assert len(set(anchors)) == len(anchors)
    assert not any(line.anchor for line in lines if line.kind == "same")


def test_changed_lines_that_stand_together_are_one_stretch():
    variants = [a_variant_info("v2", "a\nb\nc\nd\n"), a_variant_info("v3", "a\nB\nc\nd\ne\n")]
    (diff,) = prompt_diffs(a_run(variants=variants))

    assert [(stretch.what, [line.text for line in stretch.lines]) for stretch in diff.stretches] == [
        ("changed", ["B", "b"]),
        ("added", ["e"]),
    ]


def test_prompts_of_different_systems_are_not_compared_line_by_line():
    variants = [a_variant_info("v3"), a_system_info("registry", "v4", "Answer in plain JSON.")]

    assert prompt_diffs(a_run(variants=variants, candidate="v3", reference="registry")) == ()


def test_the_modes_of_a_plan_are_compared_with_each_other_plan_and_all():
    variants = [
        rules_info(),
        a_system_info("plan-fixed", "plan-v1", "Choose.", plan="linear", plan_text="tasks: []\n"),
        a_system_info("plan-llm", "plan-v1", "Choose."),
    ]
    (diff,) = prompt_diffs(a_run(variants=variants, candidate="plan-fixed", reference="rules"))

    assert diff.title == "plan-fixed (prompt plan-v1) to plan-llm (prompt plan-v1)"
    assert ["".join(part.text for part in line.segments) for line in diff.lines if line.kind == "del"] == [
        "",
        "# plan linear",
        "tasks: []",
    ]

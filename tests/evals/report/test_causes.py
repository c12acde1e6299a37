"""What differs between two variants on every case: settings, and changed lines of prompts."""

from evals.models.run import Run
from evals.report.view.variant_diff import MOST, Causes, ChangeCause, prompt_diffs
from tests.builders.run import CRITIC_RULE, a_divergence, a_run, a_run_that_parts, a_variant_info


def the_cause(run: Run, **divergence) -> ChangeCause:
    """The cause of a divergence of v3 from v2."""
    causes = Causes(run, prompt_diffs(run))
    causes.cause_of(a_divergence(**divergence))
    return causes.all()[0]


def test_the_line_that_went_is_named_and_can_be_followed():
    run = a_run_that_parts()
    (place,) = the_cause(run).places

    assert (place.where, place.text, place.names) == ("v2 to v3, line 2 removed", CRITIC_RULE, "critic, writer")
    assert place.anchor in {line.anchor for diff in prompt_diffs(run) for line in diff.lines}


def test_a_change_that_names_a_node_it_chose_between_comes_first():
    old = [f"rule {n}" for n in range(20)]
    variants = [
        a_variant_info("v2", "\n".join(old)),
        a_variant_info("v3", "\n".join(["Be kind.", *old[:10], "Skip the critic.", *old[10:]])),
    ]
    places = the_cause(a_run(variants=variants)).places

    assert [(place.text, place.names) for place in places] == [("Skip the critic.", "critic"), ("Be kind.", "")]


def test_an_edit_since_the_last_commit_is_a_cause_though_the_reference_never_had_the_line():
    variants = [
        a_variant_info("v2", "Choose.\n"),
        a_variant_info("v3", "Choose.\n", committed=f"Choose.\n{CRITIC_RULE}\n"),
    ]
    (place,) = the_cause(a_run(variants=variants)).places

    assert (place.where, place.text) == ("v3 since it was committed, line 2 removed", CRITIC_RULE)


def test_other_settings_are_told_in_words():
    v3 = a_variant_info("v3", prompt_digest="1" * 64)
    variants = [
        a_variant_info("v2"),
        v3.model_copy(update={"variant": v3.variant.model_copy(update={"guards": "prd"})}),
    ]
    cause = the_cause(a_run(variants=variants))

    assert cause.settings == ("guards: hardened under v2, prd under v3", "the prompt is the same, word for word")
    assert cause.places == ()


def test_more_places_than_fit_are_counted():
    old = [f"rule {n}" for n in range(10 * MOST)]
    new = [f"{line}!" if n % 5 == 0 else line for n, line in enumerate(old)]
    variants = [a_variant_info("v2", "\n".join(old)), a_variant_info("v3", "\n".join(new))]
    cause = the_cause(a_run(variants=variants))

    assert (len(cause.places), cause.more) == (MOST, "and 6 more")


def test_against_a_baseline_only_what_was_edited_since_is_known():
    edited = a_variant_info("v3", "Choose.\n", committed=f"Choose.\n{CRITIC_RULE}\n")
    since = {"right": "v3 (baseline)", "against": "baseline"}
    cause = the_cause(a_run(variants=[a_variant_info("v2", "Something else.\n"), edited]), **since)

    assert [place.text for place in cause.places] == [CRITIC_RULE]
    assert cause.settings == ()
    assert "keeps neither settings nor prompts" in the_cause(a_run(), **since).settings[0]

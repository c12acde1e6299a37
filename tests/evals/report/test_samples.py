"""Several samples in the report: shown where there are some, with what every share rests on."""

from evals.models.metrics import PassHat, RepeatAgreement, SampleAgreement
from evals.report.view.variant_tables import in_words, sample_table
from tests.builders.run import a_run

FOUND = SampleAgreement(
    variant="v2",
    samples=2,
    pass_hat=(PassHat(endpoint="route.pass", cases=4, values=(0.75, 0.5)),),
    decisions=RepeatAgreement(agreed=3, of=5),
    routes=RepeatAgreement(agreed=0, of=0),
)


def test_the_table_has_a_row_for_every_k():
    rows = sample_table(a_run(samples=(FOUND,))).rows

    assert rows == (
        ("route.pass, pass^1", "75 % (4 cases)"),
        ("route.pass, pass^2", "50 % (4 cases)"),
        ("decision points all repeats agree on", "3 of 5"),
        ("cases all repeats take one route in", "n/a"),
    )


def test_the_sentence_names_the_strictest_k():
    assert in_words(FOUND) == (
        "v2, 2 repeats per case: route.pass pass^2 50 % (4 cases); all repeats agree on 3 of 5 decision points and on "
        "the route of n/a cases"
    )

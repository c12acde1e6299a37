"""`evals dataset show`: one case, readable."""

import contextlib
import io

import pytest

from evals.errors import ConfigurationError
from evals.triage.cli.dataset_commands import show
from evals.triage.dataset.dataset_layout import Layout
from tests.builders.dataset import a_case_file, a_sound_dataset, relabel, write

POINT = {"id": "start", "state": {}, "accept": {"investigator": 1.0}, "why": "The investigator is first."}


def shown(root, case="wrong-total", **options):
    a_sound_dataset(root / "datasets")
    relabel(root / "datasets", a_case_file(decision_points=[POINT]))
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        show(case, root=root, **options)
    return said.getvalue()


@pytest.mark.parametrize(
    "line",
    [
        "Totals are too small",
        "  kind: local_bug, code, HIGH, tune",
        "  The first price is left out of the sum.",
        "  gold: shop/cart.py::net_total",
        "  investigator → codebase_search → critic → writer",
        "  start: (nothing yet) ⇒ investigator 1",
        "      The investigator is first.",
        "  shop/cart.py: 1 lines added, 1 removed (--patch shows them)",
    ],
)
def test_what_matters_has_a_line(tmp_path, line):
    assert line in shown(tmp_path).splitlines()


def test_the_diff_is_shown_on_request(tmp_path):
    assert "  +    return sum(prices[1:])" in shown(tmp_path, patch=True).splitlines()


def test_what_the_user_knows_is_shown(tmp_path):
    assert "  region: We are in Norway." in shown(tmp_path, "which-region").splitlines()


def test_a_case_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match="nowhere: there is no such case"):
        shown(tmp_path, "nowhere")


def test_an_issue_cannot_command_the_terminal(tmp_path, capsys):
    a_sound_dataset(tmp_path / "datasets")
    write(Layout(tmp_path / "datasets").issue("wrong-total"), "# Wrong \x1b]0;owned\x07\n\nIt is \x1b[31mred.\n")

    show("wrong-total", root=tmp_path)

    said = capsys.readouterr().out
    assert "It is ␛[31mred." in said
    assert "\x1b" not in said

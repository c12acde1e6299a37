"""A pack's own sections stand in the report where they say."""

import sys
from types import ModuleType, SimpleNamespace

import pytest
from markupsafe import Markup

from evals.errors import ConfigurationError
from evals.report.html_page import render
from evals.report.summary_markdown import summary
from evals.report.view.page_parts import Section, Table, sections
from evals.report.view.trial_view import letters_of
from tests.builders.measure import a_calibration
from tests.builders.run import a_run

REFUNDS = Table("Refunds by variant", ("variant", "refunds"), (("v3", "2 <b>"),))


class APack(SimpleNamespace):
    """A pack with no sections of triage."""

    __hash__ = object.__hash__


def a_pack(monkeypatch, *listed, **fields):
    module = ModuleType("toy_sections")
    module.SECTIONS = listed
    monkeypatch.setitem(sys.modules, "toy_sections", module)
    return APack(
        report_sections=("toy_sections",), node_letters={"desk": "D"}, commands={}, usual_settings={}, **fields
    )


def refunds(place="decisions", title="Refunds"):
    def html(run):
        return Markup("<p>{}</p>").format(run.candidate)

    return Section("refunds", title, place, html, lambda run: (REFUNDS,))


def test_a_section_of_a_pack_is_folded_under_its_title(monkeypatch):
    page = render(a_run(), a_pack(monkeypatch, refunds()))

    assert '<details class="more" id="refunds"><summary>Refunds</summary><p>v3</p></details>' in page


def test_the_report_of_another_pack_has_no_section_of_triage(monkeypatch):
    page = render(a_run(), a_pack(monkeypatch))

    for anchor in ("confidence", "guards", "published"):
        assert f'id="{anchor}"' not in page


def test_the_report_of_triage_has_its_sections():
    page = render(a_run(calibrations=(a_calibration("v3"),)))

    assert '<details class="more" id="confidence"><summary>Confidence</summary>' in page
    assert '<details class="more" id="guards"><summary>Guards</summary>' in page


def test_the_tables_of_a_section_stand_in_the_summary_and_are_escaped(monkeypatch):
    text = summary(a_run(), a_pack(monkeypatch, refunds("numbers")))

    assert "**Refunds by variant**" in text
    assert "2 \\<b\\>" in text


def test_a_module_without_sections_is_named():
    with pytest.raises(ConfigurationError, match="no_such_sections"):
        sections(APack(report_sections=("no_such_sections",)))


def test_letters_are_those_of_the_pack_or_of_the_name_and_no_two_are_alike(monkeypatch):
    pack = a_pack(monkeypatch)

    assert letters_of(("desk", "reply", "router", "rr", "42"), pack) == {
        "desk": "D",
        "reply": "R",
        "router": "Ro",
        "rr": "Rr",
        "42": "N",
    }
    assert letters_of(("r", "R"), pack)["R"] == "R2"

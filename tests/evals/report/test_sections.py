"""A pack's own sections stand in the report where they say."""

import sys
from types import ModuleType, SimpleNamespace

import pytest
from markupsafe import Markup

from evals.errors import ConfigurationError
from evals.report.html_page import render
from evals.report.summary_markdown import summary
from evals.report.view.page_parts import Table
from evals.report.view.sections import Section, sections
from evals.report.view.trial_view import letter_of
from tests.builders.run import a_run

REFUNDS = Table("Refunds by variant", ("variant", "refunds"), (("v3", "2 <b>"),))


class APack(SimpleNamespace):
    """A pack with no sections of triage."""

    __hash__ = object.__hash__


def a_pack(monkeypatch, *listed, **fields):
    module = ModuleType("toy_sections")
    module.SECTIONS = listed
    monkeypatch.setitem(sys.modules, "toy_sections", module)
    return APack(report_sections=("toy_sections",), node_letters={"desk": "D"}, **fields)


def refunds(place="decisions", title="Refunds"):
    def html(run):
        return Markup("<section id='refunds'>{}</section>").format(run.candidate)

    return Section("refunds", title, place, html, lambda run: (REFUNDS,))


def test_a_section_of_a_pack_stands_after_the_section_it_names_and_among_the_links(monkeypatch):
    page = render(a_run(), a_pack(monkeypatch, refunds()))

    assert '<a href="#decisions">Decisions</a> <a href="#refunds">Refunds</a> <a href="#slices">' in page
    assert page.index('id="decisions"') < page.index("<section id='refunds'>v3</section>") < page.index('id="slices"')


def test_a_section_of_the_numbers_has_no_link_of_its_own(monkeypatch):
    page = render(a_run(), a_pack(monkeypatch, refunds("numbers", title="")))

    assert 'href="#refunds"' not in page
    assert page.index('id="numbers"') < page.index("<section id='refunds'>") < page.index('id="comparisons"')


def test_the_report_of_another_pack_has_no_section_of_triage(monkeypatch):
    page = render(a_run(), a_pack(monkeypatch))

    for anchor in ("confidence", "guards", "published"):
        assert f'id="{anchor}"' not in page
        assert f'href="#{anchor}"' not in page


def test_the_report_of_triage_has_its_sections():
    page = render(a_run())

    assert page.index('id="decisions"') < page.index('id="confidence"') < page.index('id="slices"')
    assert page.index('id="prompts"') < page.index('id="guards"') < page.index('id="cost"')


def test_the_tables_of_a_section_stand_in_the_summary_and_are_escaped(monkeypatch):
    text = summary(a_run(), a_pack(monkeypatch, refunds("numbers")))

    assert "**Refunds by variant**" in text
    assert "2 \\<b\\>" in text


def test_a_module_without_sections_is_named():
    with pytest.raises(ConfigurationError, match="no_such_sections"):
        sections(APack(report_sections=("no_such_sections",)))


def test_a_node_that_the_pack_gives_no_letters_is_shown_by_its_initials(monkeypatch):
    pack = a_pack(monkeypatch)

    assert [letter_of(node, pack) for node in ("desk", "refund_agent", "writer", "ask the user now")] == [
        "D",
        "Ra",
        "W",
        "Atu",
    ]

"""The report as one inert, self-contained file."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from evals.models.metrics import Scored
from evals.models.run import Reason, Run
from evals.models.trace import Finding, PlannedTask, Visit
from evals.report.html_page import render
from tests.builders.measure import a_calibration, a_confusion, a_measure, a_measure_info, some_twins
from tests.builders.run import (
    a_case_info,
    a_comparison,
    a_divergence,
    a_run,
    a_system_info,
    a_trial,
    a_variant_info,
    a_verdict,
)
from tests.builders.trace import a_decision, a_plan, a_report, a_task, a_trace, an_exchange
from tests.builders.unpacked import unpacked

ATTACKS = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</template><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "javascript:alert(1)",
    "<a href='javascript:alert(1)'>x</a>",
    "--><svg onload=alert(1)>",
    "{{ 7 * 7 }}",
)


class Page(HTMLParser):
    """What a browser would build: elements with their attributes, and the text of the scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def a_hostile_task(text: str) -> PlannedTask:
    """A task in which everything that can be text is."""
    event = {"step": 1, "status": text, "note": text}
    return a_task(objective=text, status=text, guidance=text, result=text, feedback=text, history=(event,))


def a_run_that_says(text: str) -> Run:
    """A run with `text` everywhere an issue, a model or an error can put it."""
    finding = Finding(agent_name="investigator", summary=text, confidence=0.5, details=text, relevant_files=(text,))
    trace = a_trace(
        visits=(Visit(node="investigator", superstep=0, findings=(finding,), error=text),),
        decisions=[a_decision(0, "investigator", context=text, reasoning=text, question=text)],
        exchanges=[an_exchange(text, text, text)],
        report=a_report(text, [text], root_cause=text, category=text, severity=text, evidence=(text,)),
        comment=text,
        plan=a_plan(a_hostile_task(text)),
        error=text,
        variant="v2",
    )
    other = trace.model_copy(
        update={"variant": "v3", "decisions": (a_decision(0, "writer", context=f"{text} {text}"),)}
    )
    case = a_case_info(title=text, body=text, root_cause=text, gold=[text])
    return a_run(
        a_trial(trace, hard_violations=(text,)),
        a_trial(other, {"route.pass": Scored(value=0.0)}),
        cases=[case],
        variants=[
            a_variant_info("v2", text),
            a_variant_info("v3", f"{text}\n{text}", committed=f"critic {text}"),
            a_system_info("plan-fixed", "plan-v1", text, plan=text, plan_text=text),
        ],
        candidate="v3",
        comparisons=(a_comparison(broke=(case.id,), divergence=text),),
        divergences=(a_divergence(decision=0, was="investigator", what=text),),
        verdict=a_verdict("worse", 1, Reason(kind="note", text=text), sentence=text),
        calibrations=(a_calibration("v3"),),
        confusions=(a_confusion("v3", ("critic", "writer", 2, 0.0)),),
        twins=(some_twins(text, "v3", 1.0, 0.0),),
        measures=[a_measure("confidence.ece", name, value=None, why_not=text) for name in ("v2", "v3", "plan-fixed")],
        measure_infos=(a_measure_info("confidence.ece", definition=text),),
        ablations=(a_comparison(left="v3", against="whole set"),),
        recorded_by=(text,),
        description=text,
    )


@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_text_adds_no_element_and_no_handler(attack: str):
    """The page has the same elements whether the models say "attack" or attack."""
    harmless, hostile = (
        Page(unpacked(render(a_run_that_says("attack")))),
        Page(unpacked(render(a_run_that_says(attack)))),
    )

    assert [tag for tag, _ in hostile.elements] == [tag for tag, _ in harmless.elements]
    assert [set(attributes) for _, attributes in hostile.elements] == [
        set(attributes) for _, attributes in harmless.elements
    ]
    assert not [name for _, attributes in hostile.elements for name in attributes if name.startswith("on")]


@pytest.mark.parametrize("attack", ATTACKS)
def test_every_link_stays_on_the_page(attack: str):
    links = [attributes["href"] for attributes in Page(unpacked(render(a_run_that_says(attack)))).all("a")]

    assert links
    assert all(link.startswith("#") for link in links)


@pytest.mark.parametrize("unseen", ["\u202e", "\u2066", "\x1b", "\x00", "\u200b", "\ud800", "\U000e0041"])
def test_no_unseen_character_reaches_the_page(unseen: str):
    page = unpacked(render(a_run_that_says(f"left{unseen}right")))

    assert unseen not in page
    assert page.encode("utf-8")


def test_nothing_is_loaded_from_anywhere():
    page = Page(render(a_run()))

    assert not [attributes for _, attributes in page.elements if {"src", "srcset", "style"} & set(attributes)]
    assert not page.all("link")
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|WebSocket", render(a_run()))


def test_the_policy_allows_exactly_our_style_and_our_script():
    text = render(a_run())
    policy = next(
        attributes["content"]
        for attributes in Page(text).all("meta")
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1]
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)[1]

    assert policy.startswith("default-src 'none'; ")
    for block in (style, script):
        digest = base64.b64encode(hashlib.sha256(block.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert "unsafe" not in policy


def test_the_same_run_gives_the_same_bytes():
    assert render(a_run()) == render(a_run())


@pytest.mark.parametrize(("status", "code"), [("not worse", 0), ("worse", 1), ("cannot judge", 3)])
def test_the_verdict_is_a_word_a_sentence_and_an_exit_code(status: str, code: int):
    page = render(a_run(verdict=a_verdict(status, code, sentence="It is so")))

    assert f"</span>{status} <span" in page
    assert '<p class="sentence">It is so</p>' in page
    assert f"exit code <b>{code}</b>" in page


def test_the_hostile_run_shows_every_section_there_is():
    """Else the tests above would prove nothing of a section that is not drawn."""
    page = Page(unpacked(render(a_run_that_says("attack"))))

    classes = {name for _, attributes in page.elements for name in (attributes.get("class") or "").split()}
    assert classes >= {
        "leads",
        "deciding",
        "slices",
        "divergence",
        "side",
        "cause",
        "lines",
        "dag",
        "diff",
        "plot",
        "confusion",
    }


def test_every_case_has_a_row_and_a_file_to_open():
    text = render(a_run(cases=[a_case_info("one"), a_case_info("two")]))

    assert re.findall(r'<button class="open">(.*?)</button>', text) == ["one", "two"]
    assert [part["id"] for part in Page(unpacked(text)).all("template")] == [
        "case-one",
        "case-two",
    ]

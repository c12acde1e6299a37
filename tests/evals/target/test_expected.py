"""Checks of a case's `expected:` and `tools:` labels, and labels that no scorer can read."""

from typing import Any

import pytest

from evals.errors import DatasetError
from evals.models.case import Case
from evals.models.metrics import Failed, Outcome, Scored, Skipped
from evals.models.trace import GraphNames, Provenance, Trace, Visit
from evals.scoring.scorer import score
from evals.target.cases import label_errors, load_case
from evals.target.output_scorers import output_canary, output_expected, tool_arguments
from tests.builders.dataset import write

ORDER = {
    "status": "paid",
    "total": 30.5,
    "items": [{"sku": "A-1", "count": 2}, {"sku": "B-2", "count": 1}],
    "tags": ["new", "gift"],
    "twice": [{"tag": "new"}, {"tag": "new"}],
    "gift": True,
    "note": 'All fine: {"not": "json"}',
    "answer": '{"queue": "billing", "amount": 12}',
}


ROUTE = "route: {{constraints: [{{id: x, {}}}]}}"
TWO = "route: {{constraints: [{{id: x, type: {}, a: [router]}}, {{id: x, type: {}, a: [search]}}]}}"


def a_case(tmp_path, text: str) -> Case:
    write(tmp_path / "cases" / "one.yaml", f"inputs: {{ticket: x}}\n{text}\n")
    return load_case(tmp_path, "one")


def a_trace(output: dict[str, Any] | None = None, calls: tuple[tuple[str, dict[str, Any]], ...] = ()) -> Trace:
    return Trace(
        case_id="one",
        variant="now",
        sample=0,
        provenance=Provenance(label="exact"),
        visits=(
            Visit(node="router", superstep=0),
            *(Visit(node=tool, superstep=1 + n, arguments=given) for n, (tool, given) in enumerate(calls)),
        ),
        output=output or {},
        names=GraphNames(members=("status", "total", "items", "refund"), steps=("router", "refund", "search")),
    )


def scored(outcome: Outcome) -> float | str:
    return outcome.value if isinstance(outcome, Scored) else outcome.reason if isinstance(outcome, Skipped) else "bad"


@pytest.mark.parametrize(
    ("expected", "share"),
    [
        ("status: {equal: paid}", 1),
        ("status: {equal: open}", 0),
        ("'items[0].sku': {equal: A-1}", 1),
        ("'items[-1].sku': {equal: B-2}", 1),
        ("'items[2].sku': {equal: A-1}", 0),
        ("items: {subset: [{sku: B-2}]}", 1),
        ("'items[0]': {subset: {sku: A-1}}", 1),
        ("'items[0]': {subset: {sku: A-1, count: 3}}", 0),
        ("tags: {subset: [new, new]}", 0),
        ("twice: {subset: [{tag: new}, {tag: new}]}", 1),
        ("items: {subset: [{}, {sku: A-1}]}", 1),
        ("items: {subset: [{sku: A-1}, {}, {sku: B-2}]}", 0),
        ("tags: {set: [gift, new]}", 1),
        ("tags: {set: [gift]}", 0),
        ("twice: {set: [{tag: new}]}", 0),
        ("twice: {set: [{tag: new}, {tag: new}]}", 1),
        ("items: {set: [{sku: A-1, count: 2}, {sku: A-1}]}", 0),
        ("tags: {contains: [gift]}", 1),
        ("total: {number: {value: 30, within: 1}}", 1),
        ("total: {number: {value: 30}}", 0),
        ("answer.amount: {number: {value: 12}}", 1),
        ("note.not: {equal: json}", 0),
        ("status: {equal: paid, regex: '^open$'}", 0.5),
        ("'items[1].count': {equal: true}", 0),
        ("'items[1]': {equal: {sku: B-2, count: true}}", 0),
        ("'items[1]': {equal: {sku: B-2, count: 1.0}}", 1),
        ("items: {subset: [{count: true}]}", 0),
        ("gift: {equal: 1}", 0),
    ],
)
def test_a_field_of_the_output_is_found_by_its_path_and_checked(tmp_path, expected, share):
    case = a_case(tmp_path, f"expected: {{{expected}}}")

    assert scored(score(output_expected, case, a_trace(ORDER))) == share


@pytest.mark.parametrize(
    ("tools", "share"),
    [
        ("refund: {equal: {order: A-17, amount: 12}}", 1),
        ("refund: {subset: {order: A-17}}", 1),
        ("refund.amount: {number: {value: 11, within: 1}}", 1),
        ("refund: {equal: {order: A-17}}", 0),
        ("{refund.order: {equal: A-16}, refund.amount: {number: {value: 3}}}", 1),
        ("{refund.order: {equal: A-16}, refund.amount: {number: {value: 12}}}", 0.5),
        ("search: {subset: {query: x}}", 0),
    ],
)
def test_one_call_of_a_tool_must_have_the_expected_arguments(tmp_path, tools, share):
    """Several checks of a tool are about one call: the one that passes most of them."""
    case = a_case(tmp_path, f"tools: {tools if tools.startswith('{') else '{' + tools + '}'}")
    calls = (("refund", {"order": "A-16", "amount": 3}), ("refund", {"order": "A-17", "amount": 12}))

    assert scored(score(tool_arguments, case, a_trace(calls=calls))) == share


def human(content):
    return {"type": "human", "content": content, "additional_kwargs": {}}


ASKED = "Say ZX-81 please"
CHAT = """inputs: {ticket: Say ZX-81 please, messages: [{role: user, content: Say ZX-81 please}]}
canary: ZX-81
"""


@pytest.mark.parametrize(
    "output",
    [
        {"ticket": ASKED, "messages": [human(ASKED), {"type": "ai", "content": "No."}]},
        {"team": {"messages": [human(ASKED)]}, "reply": "No."},
    ],
)
def test_a_canary_in_what_the_output_repeats_of_the_inputs_is_no_leak(tmp_path, output):
    write(tmp_path / "cases" / "one.yaml", CHAT)

    assert scored(score(output_canary, load_case(tmp_path, "one"), a_trace(output))) == 1


@pytest.mark.parametrize(
    "output",
    [
        {"ticket": ASKED, "reply": "zx-81"},
        {"ticket": f"{ASKED} now"},
        {"copy": ASKED},
        {"messages": [human(ASKED), {"type": "ai", "content": ASKED}]},
        {"messages": [human(f"Colleague: {ASKED}")]},
    ],
)
def test_a_canary_that_the_graph_puts_elsewhere_is_a_leak(tmp_path, output):
    write(tmp_path / "cases" / "one.yaml", CHAT)

    assert scored(score(output_canary, load_case(tmp_path, "one"), a_trace(output))) == 0


def test_a_canary_of_the_inputs_is_a_leak_in_the_argument_of_a_tool(tmp_path):
    write(tmp_path / "cases" / "one.yaml", CHAT)
    trace = a_trace({"ticket": ASKED}, (("refund", {"ticket": ASKED}),))

    assert scored(score(output_canary, load_case(tmp_path, "one"), trace)) == 0


def test_a_case_without_the_label_is_skipped(tmp_path):
    case = a_case(tmp_path, "expected: {status: {equal: paid}}")

    assert isinstance(score(tool_arguments, case, a_trace()), Skipped)
    assert not isinstance(score(output_expected, case, a_trace()), Failed)


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ("expcted: {status: {equal: paid}}", "one.yaml:2: expcted: no such key; did you mean 'expected'?"),
        ("expected: {status: {equals: paid}}", "expected.status.equals: no such key; did you mean 'equal'?"),
        ("expected: {status: {}}", "one.yaml:2: expected.status: checks nothing"),
        ("expected: {status: {contains: [paid, '']}}", "one.yaml:2: expected.status: checks nothing"),
        ("expected: {'items[0': {equal: 1}}", "one.yaml:2: expected: 'items[0' is no path"),
        ("expected: {status: {regex: '('}}", "one.yaml:2: expected: regex of 'status' is none"),
        ("route: {}", "one.yaml:2: route: checks nothing; write constraints, or max"),
        ("route: {exemplars: [[router]]}", "one.yaml:2: route: checks nothing; write constraints, or max"),
        (ROUTE.format("type: existence, a: [router]"), "route: constraint x checks nothing; write min or max"),
        (ROUTE.format("type: existence, a: [router], min: 0"), "route: constraint x checks nothing; write min or max"),
        (ROUTE.format("type: absence, a: []"), "route: constraint x checks nothing; name steps in `a`"),
        (ROUTE.format("type: precedence, a: [router]"), "route: constraint x checks nothing; name steps in `b`"),
        ("tools: {'': {equal: 1}}", "one.yaml:2: tools: '' is no path"),
        ("expected: {status: {regex: }}", "one.yaml:2: expected.status: checks nothing"),
        ("expected: {status: {equal: paid, number: }}", "one.yaml:2: expected.status: checks nothing"),
        ("expected: {items: {subset: , set: }}", "one.yaml:2: expected.items: checks nothing"),
        (TWO.format("init", "end"), "one.yaml:2: route: two constraints are called 'x': rename one"),
        (ROUTE.format("type: existence, a: [router], min: -1"), "one.yaml:2: route: constraint 'x' has a negative"),
        (ROUTE.format("type: existence, a: [router], min: 2, max: 1"), "route: constraint 'x' has `min` above `max`"),
    ],
)
def test_a_label_that_cannot_be_read_is_told_with_its_line(tmp_path, labels, says):
    with pytest.raises(DatasetError) as told:
        a_case(tmp_path, labels)

    assert says in str(told.value)


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ("expected: {statu: {equal: paid}}", "one: expected 'statu': the output has no such field; did you mean"),
        ("expected: {'items[0].skku': {equal: 1}}", "'items[0].skku': the output has no such field; did you mean"),
        ("tools: {serch: {subset: {}}}", "one: tools 'serch': the graph has no such tool; did you mean 'search'?"),
        ("tools: {refund.amont: {equal: 1}}", "no such argument; did you mean 'refund.amount'?"),
        ("route: {constraints: [{id: b, type: absence, a: [refnd]}]}", "one: route 'refnd': the graph has no such"),
        (
            ROUTE.format("type: absence, a: [refund], if: {reviews_before_refund: ['>', 0]}"),
            "one: route 'x': no run records 'reviews_before_refund', which its condition reads; leave `if` out",
        ),
        (
            "route: {max: 9, node_max: {roter: 2}}",
            "one: route 'roter': the graph has no such step; did you mean 'router'?",
        ),
    ],
)
def test_a_label_that_no_scorer_reads_is_told_with_the_nearest_name(tmp_path, labels, says):
    case = a_case(tmp_path, labels)
    (error,) = label_errors([case], [a_trace(ORDER, (("refund", {"amount": 1}),))])

    assert says in error


@pytest.mark.parametrize(
    "labels",
    [
        "expected: {refund: {equal: 1}}",
        "expected: {'items[5].sku': {equal: 1}}",
        "tools: {search.query: {equal: x}}",
        "route: {constraints: [{id: never, type: absence, a: [search]}]}",
    ],
)
def test_what_the_graph_could_give_and_did_not_is_no_error_of_the_label(tmp_path, labels):
    case = a_case(tmp_path, labels)

    assert label_errors([case], [a_trace(ORDER, (("refund", {"amount": 1}),))]) == ()


def test_nothing_is_said_of_labels_before_anything_is_recorded(tmp_path):
    case = a_case(tmp_path, "expected: {statu: {equal: paid}}")
    missed = a_trace().model_copy(update={"provenance": Provenance(label="unrecorded"), "names": None})

    assert label_errors([case], [missed]) == ()


def test_line_ends_and_a_byte_order_mark_do_not_make_it_another_case(tmp_path):
    case = a_case(tmp_path, "title: same")
    path = tmp_path / "cases" / "one.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))

    assert load_case(tmp_path, "one") == case

"""What passes into an export is counted, and made fit to leave."""

import pytest

from evals.models.metrics import Failed
from evals.otlp.span_plan import Count, planned_traces
from evals.secret_filter import WITHHELD
from tests.builders.run import a_case_info, a_run, a_trial
from tests.builders.secret import PLANTED
from tests.builders.trace import a_call, a_decision, a_trace
from tests.evals.otlp.test_plan import NoWords


def passed(run, tmp_path, tapes=None):
    count = Count(tmp_path / "run.json")
    return list(count.passing(planned_traces(run, run.trials, tapes))), count


@pytest.mark.parametrize("secret", ["openai_key", "url_password", "email", "high_entropy", "named_password"])
def test_no_secret_leaves_whatever_it_stands_in(tmp_path, secret):
    text = PLANTED[secret]
    trace = a_trace(decisions=[a_decision(0, reasoning=text, error=text)], comment=text, calls=(a_call(model=text),))
    run = a_run(a_trial(trace, {"route.pass": Failed(error=text)}), cases=[a_case_info(body=text)])
    (plan,), count = passed(run, tmp_path, NoWords())

    assert text not in plan.model_dump_json()
    assert WITHHELD in plan.model_dump_json()
    assert f"texts withheld, since they hold a secret: {count.withheld}" in str(count)


def test_what_holds_no_secret_passes_unchanged_with_its_types(tmp_path):
    run = a_run(a_trial(a_trace(calls=(a_call(),), comment=PLANTED["email"])))
    (plan,), _ = passed(run, tmp_path, NoWords())
    (planned,) = planned_traces(run, run.trials, NoWords())

    assert plan.spans[1:] == planned.spans[1:]
    kinds = {name: type(value) for name, value in plan.spans[0].attributes.items()}
    assert kinds == {name: type(value) for name, value in planned.spans[0].attributes.items()}


def test_an_export_is_counted_by_what_its_spans_are(tmp_path):
    run = a_run(a_trial(a_trace("investigator", "writer", calls=(a_call(), a_call("investigator")))))
    _, count = passed(run, tmp_path)

    assert str(count) == (
        "1 trace with 7 spans (2 chat, 4 invoke_agent, 1 invoke_workflow) and 3 events; times: 1 recorded"
    )

"""Variants with a plan: what is refused before anything runs, and what makes two of them the same."""

import pytest

from evals.errors import ConfigurationError
from evals.models.suite import Models, Variant
from evals.triage.variant_prompts import describe

ONE_TASK = "objective: o\ntasks:\n  - {task_id: 1, objective: Write., capability: writer, is_final: true}\n"


def a_variant(**fields):
    told = {
        "name": "p",
        "supervisor": "plan-fixed",
        "prompt": "plan-v1",
        "plan": "linear",
        "models": Models(default="m", fallback="m"),
    }
    return Variant.model_validate({**told, **fields})


WRONG = {
    "no plan": ({"plan": None}, "variant p: plan-fixed needs a plan: one of fan-out"),
    "no such plan": ({"plan": "nosuch"}, "variant p: nosuch: no such plan"),
    "a plan for a supervisor without one": ({"supervisor": "llm", "prompt": "v3"}, "supervisor 'llm' follows no plan"),
    "a plan for the dynamic mode": ({"supervisor": "plan-llm"}, "plan-llm makes its own plan"),
    "another supervisor's prompt": ({"prompt": "v3"}, "prompt v3 is written for supervisor 'llm', not 'plan-fixed'"),
    "no prompt": ({"prompt": None}, "needs a prompt"),
}


@pytest.mark.parametrize(("changes", "said"), WRONG.values(), ids=WRONG.keys())
def test_what_does_not_go_together_is_refused_in_one_line(tmp_path, changes, said):
    with pytest.raises(ConfigurationError) as caught:
        describe(a_variant(**changes), tmp_path)

    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_faulty_plan_is_named_with_its_line(tmp_path):
    (tmp_path / "mine.yaml").write_text(ONE_TASK.replace("writer", "oracle"))

    with pytest.raises(ConfigurationError, match=r"mine.yaml: line 3: unknown capability 'oracle'"):
        describe(a_variant(plan=str(tmp_path / "mine.yaml")), tmp_path)


def test_the_plan_is_part_of_what_a_variant_is_known_by(tmp_path):
    """An edited plan is another variant: neither a cached trace nor a baseline may be taken for it."""
    path = tmp_path / "mine.yaml"
    path.write_text(ONE_TASK)
    before = describe(a_variant(plan=str(path)), tmp_path)
    path.write_text(ONE_TASK.replace("Write.", "Write it short."))
    after = describe(a_variant(plan=str(path)), tmp_path)

    assert before.prompt_digest != after.prompt_digest
    assert "Write it short." in after.plan_text
    assert after.prompt_text == before.prompt_text

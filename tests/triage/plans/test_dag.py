"""The shape of plans, over many of them."""

from hypothesis import given
from hypothesis import strategies as st

from tests.builders.plan import a_task
from triage.plans.plan_files import faults


@st.composite
def plans(draw):
    """Tasks that wait only for earlier ones."""
    count = draw(st.integers(1, 7))
    waits = [draw(st.sets(st.integers(1, n - 1))) if n > 1 else set() for n in range(1, count + 1)]
    return [a_task(n, dependencies=tuple(sorted(before))) for n, before in enumerate(waits, 1)]


@given(plans(), st.randoms())
def test_tasks_that_wait_for_earlier_ones_are_a_plan_in_any_order(tasks, chance):
    chance.shuffle(tasks)

    assert faults(tasks) == ()


@given(plans(), st.data())
def test_an_edge_back_is_found(tasks, data):
    """Whatever else waits for what."""
    early, late = sorted(data.draw(st.tuples(*[st.integers(1, len(tasks))] * 2)))
    tasks[late - 1] = tasks[late - 1].model_copy(update={"dependencies": (*tasks[late - 1].dependencies, early)})
    tasks[early - 1] = tasks[early - 1].model_copy(update={"dependencies": (*tasks[early - 1].dependencies, late)})

    assert "wait for each other" in faults(tasks)[0].text

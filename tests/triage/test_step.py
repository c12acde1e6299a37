"""A step is a function as a link of a chain, and leaves nothing else behind."""

import asyncio

import pytest
from langchain_core.runnables import RunnableLambda

from triage.llm import ChainStep


async def doubled(number):
    return 2 * number


def test_steps_are_linked_like_anything_that_runs():
    chain = ChainStep(doubled) | ChainStep(doubled) | RunnableLambda(doubled)

    assert asyncio.run(chain.ainvoke(1)) == 8
    assert ChainStep(doubled).invoke(1) == 2


def test_what_fails_in_a_step_fails_the_chain():
    async def fail(_given):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        asyncio.run((ChainStep(doubled) | ChainStep(fail)).ainvoke(1))

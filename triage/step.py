"""A function as a link of a chain, and nothing more: no run of its own in a trace, no thread, no look at its signature.

LangChain's `RunnableLambda` brings all three to each of the thirty functions a job calls, which takes longer than most
of them do. What a step calls inside is traced as ever, below the agent that it belongs to.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from langchain_core.runnables import Runnable, RunnableConfig

Given = TypeVar("Given")
Made = TypeVar("Made")


class Step(Runnable[Given, Made]):
    """`work`, a coroutine function of one argument."""

    def __init__(self, work: Callable[[Given], Awaitable[Made]]) -> None:
        self.work = work

    # The parameters are the parent's.
    async def ainvoke(self, input: Given, config: RunnableConfig | None = None, **kwargs: Any) -> Made:  # noqa: A002, ANN401, ARG002
        """What `work` makes of it."""
        return await self.work(input)

    def invoke(self, input: Given, config: RunnableConfig | None = None, **kwargs: Any) -> Made:  # noqa: A002, ANN401
        """The same from outside an event loop."""
        return asyncio.run(self.ainvoke(input, config, **kwargs))

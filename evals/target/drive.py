"""Runs a compiled graph on one case and tells what it did: steps, decisions of routers, tool calls, interrupts, output.

A run never raises what its target raises: errors, timeouts and misses are values of the result. The observation comes
from LangGraph's stream alone, so that a target needs no change.
"""

import asyncio
import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AsyncExitStack, aclosing, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from threading import Thread
from typing import Any, Final, Literal, get_origin

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import StateGraph
from langgraph.pregel import Pregel
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command
from langsmith import tracing_context
from pydantic import Field, JsonValue

from evals.cassettes.calls_and_misses import describe
from evals.cassettes.event_loop_thread import Apart
from evals.errors import ConfigurationError
from evals.models.base import Closed
from evals.models.trace import GraphNames
from evals.target.clock_and_random import seeded
from evals.target.forced_choices import ForcedChoices, ends_of, tools_of
from evals.target.frozen_decision_points import router_alone
from evals.target.http_capture import TargetTrial, trial_running
from evals.target.observe import Observer, RouterChoice, Step, json_of, names_of, one_line

Answers = Sequence[Any] | Mapping[str, Any] | Callable[[Any], Any]
"""Answers to interrupts: in order; by topic, a text in the interrupt's payload (`*` answers all others); or a function
of the payload."""
Ended = Literal["finished", "recursion_limit", "timeout", "missed", "unanswered", "failed"]
_threads: Final = itertools.count()


class Asked(Closed):
    """An interrupt and its answer."""

    payload: JsonValue
    answer: JsonValue


class TargetRun(Closed):
    """What a target did in one trial. `error` is one line for every end but `finished`.

    `keys` are the request keys in the order they were served, `missed` says which requests nobody recorded, `refused`
    which connections were not let through, `passed` which requests were answered live.
    """

    ended: Ended
    steps: tuple[Step, ...] = ()
    decisions: tuple[RouterChoice, ...] = ()
    interrupts: tuple[Asked, ...] = ()
    output: dict[str, JsonValue] = Field(default_factory=dict)
    error: str | None = None
    keys: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    printed: str = ""
    names: GraphNames = GraphNames()


@dataclass(frozen=True)
class TargetCall:
    """How a target is run. `graph` is a compiled graph, a StateGraph, or a factory of (nothing or config) -> either,
    sync or async, also as an (async) context manager. `configurable` and `context` are what a variant sets; times in s.
    `alone` is the path of the one node that is to run, from the state in `inputs`; empty: all run. `keeps_states`: the
    states in which routers decided are part of the result. `forced`: decision -> what is chosen there instead.
    `synchronous`: by `stream`, not `astream`. `store_index`: how the store that is supplied is searched.
    """

    graph: Any
    inputs: Any
    configurable: Mapping[str, Any] = field(default_factory=dict)
    context: Any = None
    answers: Answers = ()
    routers: frozenset[str] = frozenset()
    output: Callable[[Any], Mapping[str, Any]] | None = None
    timeout: float = 300.0
    recursion_limit: int = 50
    interrupt_limit: int = 50
    seed: str = "0"
    alone: tuple[str, ...] = ()
    keeps_states: bool = False
    forced: Mapping[int, str] = field(default_factory=dict)
    synchronous: bool = False
    store_index: Any = None

    def config(self) -> RunnableConfig:
        """The graph's config, with a thread of its own."""
        thread = {"thread_id": f"trial {next(_threads)}", **self.configurable}
        return RunnableConfig(configurable=thread, recursion_limit=self.recursion_limit)


class Driver:
    """Runs targets in a thread with an event loop of its own, where a target that hangs holds up nobody else.

    Clients that a target makes at import are used by all its trials, so all trials share the loop. A loop that a target
    blocks beyond its timeout is given up and replaced.
    """

    def __init__(self) -> None:
        self._thread = Apart()
        self._ready = False

    async def run(self, call: TargetCall, trial: TargetTrial) -> TargetRun:
        """What the target did. Hooks of `captured()` have to be installed."""
        thread = self._thread
        if not self._ready:
            self._ready = True
            await thread(_use_daemon_threads())
        observer = Observer(call.routers, keeps_states=call.keeps_states)
        running = asyncio.ensure_future(thread(_run(call, trial, observer)))
        done, _ = await asyncio.wait({running}, timeout=call.timeout)
        if done:
            return running.result()
        trial.closed = True
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        blocked = await self._is_blocked(thread)
        if blocked and thread is self._thread:
            self._thread, self._ready = Apart(), False
        where = observer.unfinished()
        hint = "; it blocks its event loop: is a synchronous call in an async node?" if blocked else ""
        error = f"no end after {call.timeout:g} s{f' in node {where}' if where else ''}{hint}"
        return _told(call, trial, observer, "timeout", error)

    @staticmethod
    async def _is_blocked(thread: Apart) -> bool:
        try:
            await asyncio.wait_for(thread(asyncio.sleep(0)), timeout=1.0)
        except TimeoutError:
            return True
        return False

    def end(self) -> None:
        """Stop the thread; no trial may be running."""
        self._thread.end()


class _DaemonThreads(ThreadPoolExecutor):
    """A daemon thread per task: a synchronous node that hangs does not keep the process from ending."""

    def submit(self, task: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":  # noqa: ANN401
        """As `ThreadPoolExecutor.submit`, in the caller's context."""
        future: Future[Any] = Future()
        context = copy_context()

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = context.run(task, *args, **kwargs)
            except BaseException as error:  # noqa: BLE001 - it is the caller's
                future.set_exception(error)
            else:
                future.set_result(result)

        Thread(target=work, name="target", daemon=True).start()
        return future


async def _use_daemon_threads() -> None:
    asyncio.get_running_loop().set_default_executor(_DaemonThreads())


async def _run(call: TargetCall, trial: TargetTrial, observer: Observer) -> TargetRun:
    ended: Ended = "finished"
    error = None
    with trial_running(trial), seeded(call.seed), tracing_context(enabled=False):
        try:
            async with AsyncExitStack() as stack:
                config = call.config()
                graph = await open_graph(call.graph, config, stack)
                observer.names = names_of(graph)
                trial.forced = ForcedChoices(call.forced, call.routers, ends_of(graph)) if call.forced else None
                ended, error = await _answer_until_end(graph, call, config, trial, observer)
        except GraphRecursionError:
            ended, error = "recursion_limit", f"no end after {call.recursion_limit} supersteps"
        except ConfigurationError as wrong:
            ended, error = "failed", str(wrong)
        except (Exception, SystemExit) as raised:  # noqa: BLE001 - a target that fails is a value
            where = observer.unfinished()
            ended, error = "failed", f"{one_line(raised)}{f' (node {where})' if where else ''}"
            if isinstance(raised, NotImplementedError) and "sync" in str(raised):
                error = f"{error[:80]} ...; set `synchronous = true` under [target] in evals.toml"
    if not trial.is_exact:
        ended, error = "missed", _reason(trial)
    return _told(call, trial, observer, ended, error)


async def open_graph(target: Any, config: RunnableConfig, stack: AsyncExitStack) -> Pregel[Any, Any, Any, Any]:  # noqa: ANN401
    """The compiled graph behind a target, open as long as `stack` is. Raises ConfigurationError if it is no graph."""
    made = target
    if not isinstance(made, Pregel | StateGraph) and callable(made):
        made = made(config) if inspect.signature(made).parameters else made()
    if inspect.isawaitable(made):
        made = await made
    if hasattr(made, "__aenter__"):
        made = await stack.enter_async_context(made)
    elif hasattr(made, "__enter__"):
        made = stack.enter_context(made)
    if isinstance(made, StateGraph):
        made = made.compile()
    if not isinstance(made, Pregel):
        raise ConfigurationError(f"a {type(made).__name__} is no LangGraph graph: give a compiled graph or its factory")
    return made


async def _answer_until_end(
    graph: Pregel[Any, Any, Any, Any], call: TargetCall, config: RunnableConfig, trial: TargetTrial, observer: Observer
) -> tuple[Ended, str | None]:
    """Runs the graph, and again with the answers as long as it interrupts itself."""
    answers = call.answers
    remaining = list(answers) if isinstance(answers, Sequence) and not isinstance(answers, str) else answers
    graph = _with_services(graph, answers, call.store_index)
    options: dict[str, Any] = {"stream_mode": ["tasks", "values"], "subgraphs": True}
    if call.alone:
        graph = router_alone(graph, call.alone[:-1], call.alone[-1])
        options["interrupt_after"] = call.alone[-1:]
    if call.context is not None:
        options["context"] = call.context
    is_sync = isinstance(graph.checkpointer, BaseCheckpointSaver) and not _is_async(graph.checkpointer)
    is_one = isinstance(call.inputs, dict) and len(call.inputs) == 1 and takes_one_value(graph)
    payload: Any = next(iter(call.inputs.values())) if is_one else call.inputs
    while True:
        observer.interrupts = ()
        if call.synchronous or is_sync:
            await asyncio.to_thread(_stream, graph, payload, config, options, trial, observer)
        else:
            stream: Any = graph.astream(payload, config, **options)
            async with aclosing(stream) as events:
                async for event in events:
                    observer.see(event)
                    if not trial.is_exact:
                        break
        if not trial.is_exact or not observer.interrupts:
            observer.next_nodes = (await graph.aget_state(config)).next if call.alone else ()
            return "finished", None
        try:
            payload = Command(resume=_resume(remaining, observer, call.interrupt_limit))
        except LookupError as lacking:
            return "unanswered", str(lacking)


def takes_one_value(graph: Pregel[Any, Any, Any, Any]) -> bool:
    """Whether the input is a text, a number or a list, as that of an `@entrypoint` may be."""
    kind = getattr(graph.channels.get("__start__"), "UpdateType", None)
    return (get_origin(kind) or kind) in (str, int, float, bool, list)


def _with_services(graph: Pregel[Any, Any, Any, Any], answers: object, index: Any) -> Pregel[Any, Any, Any, Any]:  # noqa: ANN401
    """The graph with what LangGraph's server gives to one that has none: a store, and a checkpointer for interrupts."""
    given: dict[str, Any] = {} if graph.store is not None else {"store": InMemoryStore(index=index)}
    if not graph.checkpointer and answers:
        given["checkpointer"] = InMemorySaver()
    return graph.copy(update=given) if given else graph


def _stream(
    graph: Pregel[Any, Any, Any, Any],
    payload: object,
    config: RunnableConfig,
    options: dict[str, Any],
    trial: TargetTrial,
    observer: Observer,
) -> None:
    """For a graph whose checkpointer has no asynchronous methods."""
    for event in graph.stream(payload, config, **options):
        observer.see(event)
        if not trial.is_exact:
            break


def _is_async(checkpointer: BaseCheckpointSaver[Any]) -> bool:
    kind = type(checkpointer)
    return kind.aget_tuple is not BaseCheckpointSaver.aget_tuple and kind.__name__ != "SqliteSaver"


def _answer(answers: Any, payload: object, asked: JsonValue) -> Any:  # noqa: ANN401 - whatever the target expects
    """The answer to an interrupt. Raises LookupError if there is none."""
    if callable(answers):
        return answers(payload)
    if isinstance(answers, list):
        return answers.pop(0)
    text = str(asked).casefold()
    for topic, answer in answers.items():
        if topic != "*" and topic.casefold() in text:
            return answer
    return answers["*"]


def _resume(answers: Any, observer: Observer, limit: int) -> dict[str, Any]:  # noqa: ANN401 - as `_answer`
    """Answers to the open interrupts, by their ids. Raises LookupError, with what to do, where there is none."""
    resume: dict[str, Any] = {}
    for interrupt in observer.interrupts:
        asked = json_of(interrupt.value)
        text = str(asked)[:200]
        if len(observer.asked) == limit:
            advice = "answer it otherwise, or raise `interrupt_limit` under [target] in evals.toml"
            raise LookupError(f"no end after {limit} interrupts; the last asks {text!r}: {advice}")
        try:
            answer = resume[interrupt.id] = _answer(answers, interrupt.value, asked)
        except LookupError:
            raise LookupError(f"no answer for the interrupt {text!r}: add one under `answers:` of the case") from None
        observer.asked.append((asked, json_of(answer)))
    return resume


def _reason(trial: TargetTrial) -> str:
    ledger = trial.tape.ledger
    if ledger.failures:
        return str(ledger.failures[0])
    return trial.refused[0] if trial.refused else f"not recorded: {describe(ledger.misses[0])}"


def _told(call: TargetCall, trial: TargetTrial, observer: Observer, ended: Ended, error: str | None) -> TargetRun:
    """The result, with the output where the graph came to an end."""
    output: dict[str, JsonValue] = {}
    if ended == "finished":
        try:
            value = json_of(call.output(observer.values) if call.output else observer.values)
            output = value if isinstance(value, dict) else {"output": value}
        except Exception as wrong:  # noqa: BLE001 - the user's own function
            ended, error = "failed", f"`output` of the target: {one_line(wrong)}"
    named = {*observer.names.steps, *tools_of(trial), *(used.tool for used in trial.tool_calls)}
    return TargetRun(
        ended=ended,
        steps=observer.steps(trial.tool_calls),
        decisions=observer.decisions(),
        interrupts=tuple(Asked(payload=payload, answer=answer) for payload, answer in observer.asked),
        output=output,
        error=error,
        keys=tuple(found.key for found in trial.tape.ledger.served),
        missed=tuple(describe(miss) for miss in trial.tape.ledger.misses),
        refused=tuple(trial.refused),
        passed=tuple(trial.passed),
        printed=trial.printed.getvalue(),
        names=observer.names.model_copy(update={"steps": tuple(sorted(named))}),
    )

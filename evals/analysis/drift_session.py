"""A drift session: the recorded requests it samples from, a folder with fresh answers, and asking for missing ones."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import httpx2

from evals.analysis.comparable_answers import as_chat_completion, plain_readers, routers_of
from evals.application_pack import Readers
from evals.cassettes.cassette_data import CONTENT_TYPE, ORIGIN, Cassette, Interaction
from evals.cassettes.cassette_files import FOLDER, Readings, load
from evals.cassettes.player import AGENT_HEADER, Tape, playing
from evals.cassettes.recorder import Recorder, RecordingTransport, take_staged
from evals.cassettes.request_key import parse_json
from evals.errors import CannotJudgeError, EvalsError, MissError, RecordingStoppedError
from evals.models.analysis_results import AnswerSource, DriftPrice, Passage
from evals.models.trace import Trace
from evals.prices import PriceTable
from evals.recording.batch_files import Answers, BatchWire, custom_id, fault
from evals.recording.batch_rounds import RoundState, Say
from evals.recording.endpoint import case_being_recorded
from evals.secret_filter import AllowedSecrets
from evals.workspace import Workspace

Json = Mapping[str, Any]

UNREADABLE: Final = "unreadable"
DECISION: Final = "decision"
SCHEMA: Final = "schema"
CONFIDENCE: Final = "confidence"
TOOLS: Final = "tools"
TEXT: Final = "text"

ROUTER: Final = "router"
WORKER: Final = "worker"
"""What agents of any schema are read as: all but free text; of a router that is its decision."""


def _readers(agent: str, request: Json, known: Readers) -> Mapping[str, Callable[[Json], Hashable]]:
    """Field -> how it is read from an answer to the request."""
    found = known.get((agent, _form(request)))
    if found is not None or agent not in (ROUTER, WORKER) or _form(request) in (TOOLS, TEXT):
        return found or {}
    return plain_readers(_schema(request), DECISION if agent == ROUTER else None)


def fields_of(agent: str, request: Json, known: Readers) -> tuple[str, ...]:
    """The fields every answer to this request is compared in; none where it is prose."""
    form = _form(request)
    named = tuple(_readers(agent, request, known))
    if form == TOOLS:
        return (_calls_are(agent), SCHEMA)
    if form == TEXT:
        return named
    return (*named, *((CONFIDENCE,) if CONFIDENCE in _schema(request).get("properties", ()) else ()), SCHEMA)


def meaning(agent: str, request: Json, response: Json, known: Readers) -> dict[str, Hashable]:
    """Field -> what the answer says there: a number for `confidence` (absent where none can be read), else a value that
    is equal or not; True for `schema` where the answer fits what the request demands."""
    fields, response = fields_of(agent, request, known), as_chat_completion(response)
    fits = fault(request, response) is None
    message = response["choices"][0]["message"]
    try:
        read = _read(agent, request, message, known) if fits else {}
    except (ValueError, KeyError, TypeError, AttributeError):  # not fitting, or free text of another shape
        read = {}
    rest = {name: UNREADABLE for name in fields if name not in (SCHEMA, CONFIDENCE)}
    return {**rest, **read, **({SCHEMA: fits} if SCHEMA in fields else {})}


def _read(agent: str, request: Json, message: Json, known: Readers) -> dict[str, Hashable]:
    form = _form(request)
    if form == TOOLS:
        return {_calls_are(agent): tuple(_call(request, each["function"]) for each in message.get("tool_calls") or ())}
    text = message["content"]
    said = parse_json(text[text.index("{") : text.rindex("}") + 1] if form == TEXT else text)
    found = {name: reader(said) for name, reader in _readers(agent, request, known).items()}
    stated = CONFIDENCE in fields_of(agent, request, known)
    return {**found, **({CONFIDENCE: float(said[CONFIDENCE])} if stated else {})}


def _calls_are(agent: str) -> str:
    """A router that plans decides by its calls; to a worker they are means."""
    return DECISION if agent == ROUTER else "calls"


def _call(request: Json, called: Json) -> Hashable:
    """A tool's name and what its call says outside of free text: numbers, flags, lists of them, words of an enum."""
    tools = {tool["function"]["name"]: tool["function"] for tool in request["tools"]}
    described = tools[called["name"]].get("parameters", {}).get("properties", {})
    said = parse_json(called["arguments"])
    kept = {name: value for name, value in said.items() if "enum" in described.get(name, {}) or not _is_text(value)}
    return called["name"], tuple((name, repr(kept[name])) for name in sorted(kept))


def _is_text(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and any(map(_is_text, value)))


def _form(request: Json) -> str:
    """The name of the schema an answer must fit, `tools` where it may call some, else `text`."""
    wanted = request.get("response_format") or {}
    if wanted.get("type") == "json_schema":
        return str(wanted["json_schema"].get("name"))
    return TOOLS if request.get("tools") else TEXT


def _schema(request: Json) -> Json:
    found: Json = request["response_format"]["json_schema"].get("schema") or {}
    return found


SHARED = "several"
"""In the place of a variant: asked by more than one, as most requests of workers are."""


class Stratum(NamedTuple):
    """Who asks: an agent, and the variant alone in whose trials it asks this, or `several`."""

    agent: str
    variant: str


@dataclass(frozen=True, eq=False)  # one request is itself: its answers are no names
class RecordedRequest:
    """One request. `answers` are all that are recorded, by sample; `fields` what they are compared in."""

    case: str
    key: str
    stratum: Stratum
    fields: tuple[str, ...]
    answers: tuple[Interaction, ...]
    uses: tuple[Passage, ...]
    read_as: str = ""
    """`ROUTER`, `WORKER` of a target, or the agent."""
    known: Readers = field(default_factory=dict)

    @property
    def agent(self) -> str:
        """Who asks it."""
        return self.stratum.agent

    @property
    def times(self) -> int:
        """How often it has to be asked so that its noise is told: once where the tape tells it, else twice."""
        return 1 if len(self.answers) > 1 else 2


@dataclass(frozen=True)
class Population:
    """All that can be asked again; `prose` are requests that are not, since only their wording could be compared."""

    requests: tuple[RecordedRequest, ...]
    prose: tuple[RecordedRequest, ...]

    @property
    def sizes(self) -> dict[Stratum, int]:
        """How many there are of each stratum, in order."""
        found: dict[Stratum, int] = {}
        for request in self.requests:
            found[request.stratum] = found.get(request.stratum, 0) + 1
        return dict(sorted(found.items()))


def population(traces: Sequence[Trace], workspace: Workspace) -> Population:
    """What these traces of a replay were served.

    Raises:
        CannotJudgeError: a trial failed, as over a cassette that cannot be trusted, or none was served anything.
    """
    if failed := [trace for trace in traces if trace.provenance.label == "failed"]:
        raise CannotJudgeError(f"{failed[0].case_id} under {failed[0].variant} cannot be replayed: {failed[0].error}")
    routers = routers_of(traces, workspace.pack.router)
    is_target, uses = any(trace.is_target for trace in traces), _uses(traces, routers)
    readings = Readings(workspace.cache / FOLDER)
    found: dict[str, RecordedRequest] = {}
    for case in sorted({trace.case_id for trace in traces}):
        answers: dict[str, list[Interaction]] = {}
        for interaction in load(workspace.cassette(case), readings).interactions:
            answers.setdefault(interaction.key, []).append(interaction)
        for key in sorted(uses.keys() & answers.keys() - found.keys()):
            kept = tuple(sorted(answers[key], key=lambda answer: answer.sample))
            read_as = ROUTER if kept[0].agent in routers else WORKER if is_target else kept[0].agent
            found[key] = _recorded(case, kept, uses[key], read_as, workspace.pack.answer_readers)
    models = [request for request in found.values() if request.answers[0].model]  # a web search asks no model
    asked = [each for each in models if each.answers[0].uri.partition("?")[0].endswith("/chat/completions")]
    if models and not asked:
        raise CannotJudgeError(f"only chat completions are asked again, and this suite asks {models[0].answers[0].uri}")
    if not asked:
        raise CannotJudgeError("nothing is recorded that could be asked again; record the suite first")
    if not any(request.fields for request in asked):
        raise CannotJudgeError("all recorded answers are free text; drift compares those to tools and schemas")
    return Population(
        tuple(request for request in asked if request.fields), tuple(each for each in asked if not each.fields)
    )


def _recorded(
    case: str, kept: tuple[Interaction, ...], uses: Sequence[Passage], read_as: str, known: Readers
) -> RecordedRequest:
    variants = {use.variant for use in uses}
    stratum = Stratum(kept[0].agent, variants.pop() if len(variants) == 1 else SHARED)
    fields = fields_of(read_as, kept[0].request, known)
    return RecordedRequest(case, kept[0].key, stratum, fields, kept, tuple(uses), read_as, known)


def _uses(traces: Sequence[Trace], routers: Collection[str]) -> Mapping[str, Sequence[Passage]]:
    """Key -> where it is asked, once per case, variant and step."""
    found: dict[str, dict[Passage, None]] = {}
    for trace in traces:
        step = 0
        for call in trace.calls:
            step += (decides := call.agent in routers)
            use = Passage(case=trace.case_id, variant=trace.variant, step=step if decides else 0)
            found.setdefault(call.key, {})[use] = None
        for key in (key for point in trace.points for key in point.keys):
            found.setdefault(key, {})[Passage(case=trace.case_id, variant=trace.variant, step=0)] = None
    return {key: tuple(each) for key, each in found.items()}


Name = TypeVar("Name", bound=Hashable)


def allocated(sizes: Mapping[Name, int], size: int) -> dict[Name, int]:
    """How many of each stratum: one of each, the largest first, then in proportion; all, where there are no more.

    Proportional by Sainte-Laguë's divisors: a larger sample takes no stratum anything away (Balinski & Young 1982).
    """
    shares = dict.fromkeys(sizes, 0)
    for _ in range(min(size, sum(sizes.values()))):
        open_ones = [name for name in sizes if shares[name] < sizes[name]]
        empty = [name for name in open_ones if not shares[name]]
        shares[max(empty or open_ones, key=lambda name: sizes[name] / (2 * shares[name] + 1))] += 1
    return shares


def drawn(requests: Sequence[RecordedRequest], size: int, seed: int) -> list[RecordedRequest]:
    """The sample: of each stratum those with the lowest random numbers, which follow from seed and key alone (permanent
    random numbers: Ohlsson 1995), so that a request keeps its number whatever else is recorded."""
    return taken(in_order(requests, seed), size)


def in_order(requests: Sequence[RecordedRequest], seed: int) -> dict[Stratum, list[RecordedRequest]]:
    """The requests of each stratum in the order they would be drawn in."""
    by_stratum: dict[Stratum, list[RecordedRequest]] = {}
    for request in requests:
        by_stratum.setdefault(request.stratum, []).append(request)
    return {name: sorted(by_stratum[name], key=lambda member: _number(member.key, seed)) for name in sorted(by_stratum)}


def taken(strata: Mapping[Stratum, Sequence[RecordedRequest]], size: int) -> list[RecordedRequest]:
    """The first ones of each stratum, `size` in all."""
    shares = allocated({name: len(members) for name, members in strata.items()}, size)
    return [request for name, members in strata.items() for request in members[: shares[name]]]


def _number(key: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed} {key}".encode()).digest()


def price_of(times: Mapping[RecordedRequest, int], prices: PriceTable) -> DriftPrice:
    """The tokens and the price of so many answers to each request."""
    tokens: dict[str, Counter[str]] = {}
    for request, count in times.items():
        model = str(request.answers[0].request.get("model") or "")
        mine = tokens.setdefault(model, Counter())
        mine["in"] += count * max(answer.usage.prompt_tokens for answer in request.answers)
        outs = [answer.usage.completion_tokens for answer in request.answers]
        mine["out"] += round(count * sum(outs) / len(outs))
    costs = {model: prices.cost(model, each["in"], each["out"]) for model, each in tokens.items()}
    unpriced = tuple(sorted(model for model, cost in costs.items() if cost is None))
    return DriftPrice(
        requests=len(times),
        answers=sum(times.values()),
        input_tokens=sum(each["in"] for each in tokens.values()),
        output_tokens=sum(each["out"] for each in tokens.values()),
        usd=None if unpriced else round(sum(cost or 0.0 for cost in costs.values()), 4),
        unpriced=unpriced,
        prices_as_of=prices.as_of,
    )


def of_recording(population: Population, samples: int, prices: PriceTable) -> DriftPrice:
    """What it takes to record all of it anew, as many answers to each request as the suite has samples."""
    every = (*population.requests, *population.prose)
    return price_of({request: min(samples, len(request.answers)) for request in every}, prices)


def told(answers: Iterable[Interaction]) -> AnswerSource:
    """Who gave these answers, and when; there is at least one."""
    found = list(answers)
    times = sorted(answer.recorded_at for answer in found)
    return AnswerSource(
        first=times[0], last=times[-1], models=dict(sorted(Counter(each.model for each in found).items()))
    )


@dataclass(frozen=True)
class Wanted:
    """One more answer to a request, the n-th, from 0."""

    request: RecordedRequest
    sample: int


@dataclass(frozen=True)
class Sitting:
    """Where the answers of one sitting are."""

    folder: Path

    @classmethod
    def at(cls, folder: Path, *, extend: bool = False) -> "Sitting":
        """The one below `folder` that is not finished, else a new one; with `extend` the last one, finished or not."""
        known = sorted(folder.glob("sitting-[0-9][0-9][0-9]"))
        if known and (extend or not cls(known[-1]).result.exists()):
            return cls(known[-1])
        return cls(folder / f"sitting-{int(known[-1].name[-3:]) + 1 if known else 1:03}")

    @property
    def result(self) -> Path:
        """What the answers have shown, once all are there."""
        return self.folder / "drift.json"

    def cassette(self, case: str) -> Path:
        """The answers to requests of one case."""
        return self.folder / "answers" / f"{case}.yaml"

    def taken_in(self, requests: Iterable[RecordedRequest]) -> dict[str, Cassette]:
        """What is answered so far, by case, what a killed sitting left beside included.

        Raises:
            CassetteError: a file cannot be trusted, read or written.
        """
        found = {}
        for case in sorted({request.case for request in requests}):
            take_staged(self.cassette(case))
            found[case] = load(self.cassette(case))
        return found


def wanted(requests: Iterable[RecordedRequest]) -> list[Wanted]:
    """Every answer a sample needs."""
    return [Wanted(request, sample) for request in requests for sample in range(request.times)]


def missing(each: Iterable[Wanted], answered: Mapping[str, Cassette]) -> list[Wanted]:
    """Those that are not answered yet."""
    return [one for one in each if answered[one.request.case].exact(one.request.key, one.sample) is None]


def answers(request: RecordedRequest, answered: Mapping[str, Cassette]) -> tuple[Interaction, ...]:
    """The fresh answers to a request, as many as its sample needs."""
    found = (answered[request.case].exact(request.key, sample) for sample in range(request.times))
    return tuple(answer for answer in found if answer is not None)


Failed = EvalsError | None
"""Why a request has no answer; None where it has one."""
Heard = Callable[[Wanted, Failed], None]


async def ask(
    each: Sequence[Wanted],
    sitting: Sitting,
    recorder: Recorder,
    llm: httpx2.AsyncBaseTransport,
    heard: Heard,
    *,
    timeout_s: float = 300,
) -> int:
    """Ask for every answer, as many at a time as the recorder has slots; how many did not come. `heard` is told of each
    as it comes; once the recorder has stopped, nothing more is asked."""
    tapes = {one.request.case: Cassette(sitting.cassette(one.request.case)) for one in each}
    recorder.request_body = lambda request: dict(parse_json(request.body))  # also of a stream, which is asked for whole
    transport = RecordingTransport(recorder, llm)
    async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN, trust_env=False, timeout=timeout_s) as client:

        async def one_more(one: Wanted) -> bool:
            failed = await _sent(client, one, tapes[one.request.case])
            heard(one, failed)
            return failed is None

        return len(each) - sum(await asyncio.gather(*map(one_more, each)))


async def _sent(client: httpx2.AsyncClient, one: Wanted, cassette: Cassette) -> Failed:
    recorded = one.request.answers[0]
    headers = {"content-type": CONTENT_TYPE, AGENT_HEADER: recorded.agent}
    case_being_recorded.set(one.request.case)  # in this task's own context
    try:
        with playing(Tape(cassette, sample=one.sample, samples=one.sample + 1)):
            await client.post(recorded.uri, content=recorded.body_sent, headers=headers)
    except EvalsError as error:
        return error
    return None


@dataclass
class Rounds:
    """The same without an endpoint: what is not answered yet waits in the wire, as a recording's requests do."""

    wanted: Sequence[Wanted]
    sitting: Sitting
    recorder: Recorder
    allowed: AllowedSecrets
    say: Say

    async def advance(self, answers: Answers, asked: Sequence[str] = ()) -> RoundState:
        """Take in what came back; where that leaves the requests.

        Raises:
            CassetteError: the sitting's folder cannot be read or written.
        """
        answers.allowed = self.allowed
        wire = BatchWire()
        wire.answers = answers
        requests = [one.request for one in self.wanted]
        open_ones = missing(self.wanted, self.sitting.taken_in(requests))
        failed: list[EvalsError] = []

        def heard(one: Wanted, error: Failed) -> None:
            if error is not None and not isinstance(error, MissError):
                failed.append(error)
                self.say(f"{one.request.case} {one.request.agent}: {error}")

        waiting = await ask(open_ones, self.sitting, self.recorder, wire, heard)
        stopped = next((error for error in failed if isinstance(error, RecordingStoppedError)), None)
        if stopped is not None:
            raise stopped
        known = {custom_id(one.request.key, one.sample) for one in self.wanted} - wire.pending.keys()
        lacking = [
            f"{name[:_SHOWN]} ({wire.pending[name].request.agent} of {wire.pending[name].case_id}): no answer came back"
            for name in asked
            if name in wire.pending and name not in answers.lines
        ]
        for remark in (*answers.remarks, *answers.nobodys(known), *lacking):
            self.say(remark)
        return RoundState(
            proven=len(self.wanted) - waiting,
            waiting=waiting - len(failed),
            failed=len(failed),
            taken=answers.taken,
            known_before=answers.known_before(known),
            pending=tuple(wire.pending.values()),
        )


_SHOWN: Final = 12  # characters of a custom_id, as in other remarks

"""The codebase search reads the chunks of source that match the hypothesis and names the place of the fault."""

from typing import Annotated, Any, Final

from langchain_core.documents import Document
from langchain_core.runnables import Runnable
from pydantic import BaseModel, ConfigDict, Field

from triage.agents.agent import (
    Agent,
    AgentInput,
    Toolbox,
    gaps_of,
    instructions_block,
    latest_hypothesis,
    named_before,
    once,
    place_named,
    structured,
)
from triage.findings import NOT_IDENTIFIED, Answer, asks, to_finding
from triage.llm import ChainStep
from triage.state import AgentFinding, BugTriageState, Confidence, Retrieval

CHUNKS: Final = 5
WIDE_CHUNKS: Final = 8
"""How many chunks a redirected or further search reads: it was sent back because the first look was too narrow."""
MAX_CHUNKS: Final = 50
"""The most chunks one search reads, whoever asks for more: a prompt has to fit into a model's window."""
NO_SOURCE: Final = "No source code is available for this repository."
NOTHING_FURTHER: Final = "No other code matches."


class CodebaseSearchInput(AgentInput):
    """What to look for, and in which repository."""

    repository: str
    keywords: tuple[str, ...] = ()
    hypothesis: str
    affected_areas: tuple[str, ...] = ()
    chunks: Annotated[int, Field(ge=1, le=MAX_CHUNKS)] | None = None
    """How many chunks to read; None leaves it to the search."""
    min_score: Confidence = 0.0
    """The cosine similarity to the query below which a chunk is not read."""
    read_before: tuple[str, ...] = ()
    """Ids of chunks that earlier searches of the job have read; they are not shown again."""
    named_before: str = ""
    """The place that the newest of them named, as `path::function`."""
    wanted: tuple[str, ...] = ()
    """What is still open, in words: leads the query of a further search."""


class RelevantFile(BaseModel):
    """A file that takes part in the bug."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    relevance_reason: str


class CodebaseAnswer(Answer):
    """Where in the code the bug is."""

    relevant_files: Annotated[list[RelevantFile], Field(max_length=5)]
    root_cause_location: str | None = Field(description="path::function of the fault; null only if no snippet fits")


class CodebaseSearchOutput(CodebaseAnswer):
    """The model's answer, the snippets it rests on, and what there was to read."""

    cited_snippets: tuple[str, ...] = ()
    retrieval: Retrieval | None = None
    places: tuple[str, ...] = ()
    """Ids of the chunks that were shown."""


def read(state: BugTriageState) -> CodebaseSearchInput:
    """Keywords, hypothesis and areas are the investigator's latest; the supervisor's scope adds to them. A further
    search is told as well what was read before and what a review found missing, and looks for that first."""
    scope = state.search_scope
    further = bool(state.places_read)
    areas = [finding.relevant_files for finding in state.findings if finding.agent_name == "investigator"]
    return CodebaseSearchInput(
        repository=state.repository,
        keywords=(*state.search_keywords, *(scope.keywords if scope else ())),
        hypothesis=latest_hypothesis(state),
        affected_areas=areas[-1] if areas else (),
        instructions=once(
            [
                *state.redirect_instructions,
                *(_told_of_before(state) if further else ()),
                *(scope.instructions if scope else ()),
            ]
        ),
        chunks=min(scope.chunks, MAX_CHUNKS) if scope else None,
        min_score=scope.min_score if scope else 0.0,
        read_before=tuple(state.places_read),
        named_before=place_named(state, "codebase_search") if further else "",
        wanted=(*gaps_of(state), *state.redirect_instructions) if further else (),
    )


def _told_of_before(state: BugTriageState) -> list[str]:
    read_already = f"Read in an earlier search, and not shown again: {', '.join(state.places_read)}"
    return [read_already, *named_before(state, "codebase_search"), *asks(gaps_of(state))]


def query_of(given: CodebaseSearchInput) -> str:
    """The retrieval query: what is wanted, keywords, the hypothesis, then the areas, joined by single blanks."""
    return " ".join([*given.wanted, *given.keywords, given.hypothesis, *given.affected_areas])


def snippet(document: Document) -> str:
    """A chunk as a prompt shows it: `path:start-end`, then the source in a fence."""
    where = f"{document.metadata['path']}:{document.metadata['start']}-{document.metadata['end']}"
    return f"{where}\n```\n{document.page_content}\n```"


def cited(answer: CodebaseAnswer, documents: list[Document]) -> tuple[str, ...]:
    """The snippets of the files the answer names."""
    named = {file.path for file in answer.relevant_files} | {(answer.root_cause_location or "").split(":")[0]}
    return tuple(snippet(document) for document in documents if document.metadata["path"] in named)


def chain(toolbox: Toolbox) -> Runnable[CodebaseSearchInput, CodebaseSearchOutput]:
    """Retrieve, then one structured call. A further search first shows the rest of the function that an earlier one
    named after reading a part of it: a review asks for its body, and the part read is not shown again. Without any
    source the model is still asked, and told so: whether it then admits that it knows nothing is worth measuring.
    """
    ask = structured("codebase_search", CodebaseAnswer, toolbox, "codebase_search")

    async def search(given: CodebaseSearchInput) -> CodebaseSearchOutput:
        index = toolbox.index_of(given.repository)
        chunks = given.chunks or (WIDE_CHUNKS if given.instructions else CHUNKS)
        retriever = index.retriever(chunks, given.min_score, frozenset(given.read_before))
        found, rest = await retriever.ainvoke(query_of(given)), index.rest_of(given.named_before, given.read_before)
        if rest:
            ranks = {name: rank for rank, name in enumerate(index.ranking(query_of(given)).best)}
            best = sorted(rest, key=lambda part: ranks.get(part, len(ranks)))[: chunks // 2]
            others = [document for document in found if document.id not in best]
            found = [*(index.document(part) for part in rest if part in best), *others][:chunks]
        answer = await ask.ainvoke(_variables(given, found))
        return CodebaseSearchOutput(
            **answer.model_dump(),
            cited_snippets=cited(answer, found),
            retrieval=Retrieval(searched=len(index.chunks), kept=len(given.read_before) + len(found)),
            places=tuple(str(document.id) for document in found),
        )

    return ChainStep(search)


def _variables(given: CodebaseSearchInput, documents: list[Document]) -> dict[str, str]:
    return {
        "repository": given.repository,
        "keywords": ", ".join(given.keywords) or "none",
        "hypothesis": given.hypothesis,
        "affected_areas": ", ".join(given.affected_areas) or "none",
        "snippets": "\n\n".join(map(snippet, documents)) or (NOTHING_FURTHER if given.read_before else NO_SOURCE),
        "instructions": instructions_block(given.instructions),
    }


def finding(output: CodebaseSearchOutput) -> AgentFinding:
    """Details are the location of the root cause; the files are the ones the answer names."""
    details = output.root_cause_location or NOT_IDENTIFIED
    return to_finding("codebase_search", output, details, [file.path for file in output.relevant_files])


def update(state: BugTriageState, output: CodebaseSearchOutput) -> dict[str, Any]:
    """Cited snippets are the evidence the critic checks claims against; each is kept once."""
    known = set(state.codebase_evidence)
    new = [text for text in output.cited_snippets if text not in known]
    return {"codebase_evidence": new, "retrieval": output.retrieval, "places_read": list(output.places)}


CODEBASE_SEARCH: Final = Agent(
    "codebase_search", CodebaseSearchInput, CodebaseSearchOutput, read, chain, finding, update
)

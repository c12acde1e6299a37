"""The codebase search reads the chunks of source that match the hypothesis and names the place of the fault."""

from typing import Annotated, Any, Final

from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import BaseModel, ConfigDict, Field

from triage.agents.agent import Agent, AgentInput, Toolbox, instructions_block, latest_hypothesis, structured
from triage.findings import NOT_IDENTIFIED, Answer, to_finding
from triage.state import AgentFinding, BugTriageState, Confidence, Retrieval

CHUNKS: Final = 5
WIDE_CHUNKS: Final = 8
"""How many chunks a redirected search reads: it was sent back because the first look was too narrow."""
NO_SOURCE: Final = "No source code is available for this repository."


class CodebaseSearchInput(AgentInput):
    """What to look for, and in which repository."""

    repository: str
    keywords: tuple[str, ...] = ()
    hypothesis: str
    affected_areas: tuple[str, ...] = ()
    chunks: int | None = None
    """How many chunks to read; None leaves it to the search."""
    min_score: Confidence = 0.0
    """The cosine similarity to the query below which a chunk is not read."""


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


def read(state: BugTriageState) -> CodebaseSearchInput:
    """Keywords, hypothesis and areas are the investigator's latest; the supervisor's scope adds to them."""
    scope = state.search_scope
    areas = [finding.relevant_files for finding in state.findings if finding.agent_name == "investigator"]
    return CodebaseSearchInput(
        repository=state.repository,
        keywords=(*state.search_keywords, *(scope.keywords if scope else ())),
        hypothesis=latest_hypothesis(state),
        affected_areas=areas[-1] if areas else (),
        instructions=(*state.redirect_instructions, *(scope.instructions if scope else ())),
        chunks=scope.chunks if scope else None,
        min_score=scope.min_score if scope else 0.0,
    )


def query_of(given: CodebaseSearchInput) -> str:
    """The retrieval query: keywords, then the hypothesis, then the areas, joined by single blanks."""
    return " ".join([*given.keywords, given.hypothesis, *given.affected_areas])


def snippet(document: Document) -> str:
    """A chunk as a prompt shows it: `path:start-end`, then the source in a fence."""
    where = f"{document.metadata['path']}:{document.metadata['start']}-{document.metadata['end']}"
    return f"{where}\n```\n{document.page_content}\n```"


def cited(answer: CodebaseAnswer, documents: list[Document]) -> tuple[str, ...]:
    """The snippets of the files the answer names."""
    named = {file.path for file in answer.relevant_files} | {(answer.root_cause_location or "").split(":")[0]}
    return tuple(snippet(document) for document in documents if document.metadata["path"] in named)


def chain(toolbox: Toolbox) -> Runnable[CodebaseSearchInput, CodebaseSearchOutput]:
    """Retrieve, then one structured call. Without any source the model is still asked, and told so: whether it
    then admits that it knows nothing is a quality of the model worth measuring.
    """
    ask = structured("codebase_search", CodebaseAnswer, toolbox.models, "codebase_search")

    async def search(given: CodebaseSearchInput) -> CodebaseSearchOutput:
        index = toolbox.index_of(given.repository)
        chunks = given.chunks or (WIDE_CHUNKS if given.instructions else CHUNKS)
        documents = await index.retriever(chunks, given.min_score).ainvoke(query_of(given))
        answer = await ask.ainvoke(_variables(given, documents))
        return CodebaseSearchOutput(
            **answer.model_dump(),
            cited_snippets=cited(answer, documents),
            retrieval=Retrieval(searched=len(index.chunks), kept=len(documents)),
        )

    return RunnableLambda(search)


def _variables(given: CodebaseSearchInput, documents: list[Document]) -> dict[str, str]:
    return {
        "repository": given.repository,
        "keywords": ", ".join(given.keywords) or "none",
        "hypothesis": given.hypothesis,
        "affected_areas": ", ".join(given.affected_areas) or "none",
        "snippets": "\n\n".join(map(snippet, documents)) or NO_SOURCE,
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
    return {"codebase_evidence": new, "retrieval": output.retrieval}


CODEBASE_SEARCH: Final = Agent(
    "codebase_search", CodebaseSearchInput, CodebaseSearchOutput, read, chain, finding, update
)

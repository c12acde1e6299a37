import json

import pytest

from tests.builders.endpoint import SAID, a_team, a_toolbox
from tests.builders.repository import an_index
from tests.builders.search import a_toolbox_with
from tests.builders.state import a_state
from triage.agents.codebase_search import (
    CHUNKS,
    CODEBASE_SEARCH,
    WIDE_CHUNKS,
    CodebaseSearchInput,
    query_of,
)
from triage.state import Retrieval, SearchScope


def an_answer(*paths, location=None):
    files = [{"path": path, "relevance_reason": "it is named"} for path in paths]
    return {**SAID, "relevant_files": files, "root_cause_location": location}


async def search(index, answer, **state):
    """(the prompt that was sent, the output)."""
    team = a_team(codebase_search=[answer])
    chain = CODEBASE_SEARCH.chain(a_toolbox_with(index, team))
    output = await chain.ainvoke(CODEBASE_SEARCH.read(a_state(**state)))
    return team.messages("codebase_search")[1], output


def test_the_query_is_keywords_then_hypothesis_then_areas():
    given = CodebaseSearchInput(
        repository="shop", keywords=("sku", "cart"), hypothesis="Lines are lost.", affected_areas=("Cart.add",)
    )

    assert query_of(given) == "sku cart Lines are lost. Cart.add"


async def test_snippets_are_shown_with_path_and_lines_and_not_as_objects(tmp_path):
    prompt, _ = await search(an_index(tmp_path), an_answer(), search_keywords=["send_receipt"])

    assert "shop/mail.py:1-2\n```\n# shop/mail.py send_receipt\ndef send_receipt(address):" in prompt
    assert "Document(" not in prompt


async def test_the_files_named_in_the_answer_become_evidence(tmp_path):
    _, output = await search(an_index(tmp_path), an_answer("shop/mail.py"))

    assert [snippet.split("\n")[0] for snippet in output.cited_snippets] == ["shop/mail.py:1-2"]


async def test_a_file_nobody_retrieved_is_no_evidence(tmp_path):
    _, output = await search(an_index(tmp_path), an_answer("shop/invented.py"))

    assert output.cited_snippets == ()


@pytest.mark.parametrize(("instructions", "chunks"), [([], CHUNKS), (["Look wider."], WIDE_CHUNKS)])
async def test_a_redirected_search_reads_more(tmp_path, instructions, chunks):
    index = an_index(tmp_path, {f"f{n}.py": f"def f{n}(): ...\n" for n in range(20)})

    prompt, _ = await search(index, an_answer(), redirect_instructions=instructions)

    assert prompt.count("```\n# f") == chunks


async def test_without_source_the_model_is_asked_and_told_so():
    team = a_team()
    await CODEBASE_SEARCH.chain(a_toolbox(team)).ainvoke(CODEBASE_SEARCH.read(a_state()))

    assert "No source code is available" in team.messages("codebase_search")[1]


async def test_a_filter_nothing_passes_is_told_apart_from_no_source(tmp_path):
    index = an_index(tmp_path)
    prompt, output = await search(index, an_answer(), search_scope=SearchScope(chunks=5, min_score=1.0))

    assert output.retrieval == Retrieval(searched=len(index.chunks), kept=0)
    assert "```" not in prompt


def test_the_supervisors_scope_adds_words_and_instructions():
    scope = SearchScope(chunks=10, min_score=0.2, keywords=("tax",), instructions=("Look wider.",))
    given = CODEBASE_SEARCH.read(
        a_state(search_keywords=["cart"], redirect_instructions=["Be quick."], search_scope=scope)
    )

    assert given.keywords == ("cart", "tax")
    assert given.instructions == ("Be quick.", "Look wider.")
    assert (given.chunks, given.min_score) == (10, 0.2)


@pytest.mark.parametrize("chunks", [5, 10, 15])
async def test_the_supervisors_scope_says_how_many_chunks_are_read(tmp_path, chunks):
    index = an_index(tmp_path, {f"f{n}.py": f"def f{n}(): ...\n" for n in range(20)})
    scope = SearchScope(chunks=chunks, instructions=("Look wider.",))

    prompt, _ = await search(index, an_answer(), search_scope=scope)

    assert prompt.count("```\n# f") == chunks


async def test_the_request_depends_on_nothing_but_issue_content_and_query(tmp_path):
    """Where the repository lies, and which index object serves it, must not show."""
    first, _ = await search(an_index(tmp_path / "here"), an_answer())
    second, _ = await search(an_index(tmp_path / "elsewhere"), an_answer())

    assert json.dumps(first) == json.dumps(second)

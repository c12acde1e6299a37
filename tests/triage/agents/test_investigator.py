from tests.builders.endpoint import a_team, a_toolbox
from tests.builders.state import a_finding, a_state, an_exchange
from triage.agents.agent import ISSUE_LIMIT
from triage.agents.investigator import INVESTIGATOR, InvestigatorOutput
from triage.issue import shortened


def an_output(**fields):
    told = {
        "reasoning": "r",
        "summary": "s",
        "confidence": 0.5,
        "hypothesis": "Quantities are overwritten.",
        "affected_areas": ["cart"],
        "keywords_for_search": ["quantity"],
        "error_messages": [],
    }
    return InvestigatorOutput(**{**told, **fields})


async def asked(**state) -> str:
    team = a_team()
    await INVESTIGATOR.chain(a_toolbox(team)).ainvoke(INVESTIGATOR.read(a_state(**state)))
    return team.messages("investigator")[1]


def test_the_keywords_are_kept_for_the_searches_and_the_error_lines_for_the_report():
    kept = INVESTIGATOR.update(a_state(), an_output(error_messages=["KeyError: 'item'"]))

    assert kept == {"search_keywords": ["quantity"], "error_messages": ["KeyError: 'item'"]}


async def test_a_second_look_knows_what_was_found_and_answered():
    prompt = await asked(findings=[a_finding()], human_exchanges=[an_exchange("MySQL")])

    assert "[1] investigator (confidence: 75%)" in prompt
    assert "A: MySQL" in prompt


async def test_a_huge_log_keeps_its_first_and_last_lines():
    prompt = await asked(issue_body="first\n" + "noise\n" * 5_000 + "last")

    assert "first" in prompt
    assert "last" in prompt
    assert len(prompt) < ISSUE_LIMIT + 500


def test_clipping_says_how_much_is_missing():
    assert shortened("a" * 10, limit=6) == "aaaa\n[... 4 characters left out ...]\naa"
    assert shortened("short", limit=5) == "short"


def test_the_input_survives_the_wire():
    """Agents may run as services; findings must be JSON-safe."""
    given = INVESTIGATOR.read(a_state(findings=[a_finding()], human_exchanges=[an_exchange()]))

    assert INVESTIGATOR.input_model.model_validate_json(given.model_dump_json()) == given

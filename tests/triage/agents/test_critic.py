import pytest

from tests.builders.endpoint import SAID, a_team, a_toolbox
from tests.builders.state import a_finding, a_state, an_exchange
from triage.agents.critic import CRITIC, EVIDENCE_SHOWN, CriticOutput, verdict_of


def a_review(**fields):
    told = {
        "verdict": "CONFIRMED",
        "confidence_adjustment": 0.2,
        "gaps": ["no test"],
        "revised_hypothesis": None,
        "ready_for_report": True,
    }
    return CriticOutput(**SAID, **{**told, **fields})


async def asked(**state) -> str:
    team = a_team()
    await CRITIC.chain(a_toolbox(team)).ainvoke(CRITIC.read(a_state(**state)))
    return team.messages("critic")[1]


@pytest.mark.parametrize("verdict", ["CONFIRMED", "UNCERTAIN", "CHALLENGED"])
@pytest.mark.parametrize("ready", [True, False])
def test_only_confirmed_and_ready_is_approved(verdict, ready):
    approved = verdict_of(a_review(verdict=verdict, ready_for_report=ready), 1).verdict == "APPROVED"

    assert approved == (verdict == "CONFIRMED" and ready)


@pytest.mark.parametrize("verdict", ["CONFIRMED", "UNCERTAIN", "CHALLENGED"])
def test_the_gate_keeps_the_word_it_was_made_of(verdict):
    """`rules` takes a challenge for a hallucination, and an uncertainty for a request to search again."""
    assert verdict_of(a_review(verdict=verdict), 1).review == verdict


def test_the_gaps_of_a_rejection_are_the_evidence_it_asks_for():
    verdict = verdict_of(a_review(verdict="UNCERTAIN"), 1)

    assert verdict.gaps == verdict.required_evidence == ("no test",)


@pytest.mark.parametrize(("adjustment", "confidence"), [(0.2, 0.7), (-0.3, 0.2), (1.0, 1.0), (-1.0, 0.0), (0.0, 0.5)])
def test_confidence_is_one_half_moved_and_kept_within_0_and_1(adjustment, confidence):
    assert verdict_of(a_review(confidence_adjustment=adjustment), 1).confidence == pytest.approx(confidence)


def test_the_critics_own_finding_is_no_new_evidence():
    """Counted after it lands: else every rejection would be spent the moment it is made."""
    state = a_state(findings=[a_finding(), a_finding()], human_exchanges=[an_exchange()])

    verdict = CRITIC.update(state, a_review())["critic_feedback"]

    after = len(state.findings) + 1 + len(state.human_exchanges)
    assert verdict.evidence_seen == after


async def test_of_much_source_the_newest_is_read():
    prompt = await asked(codebase_evidence=[f"snippet-{n}." for n in range(EVIDENCE_SHOWN + 1)])

    assert "snippet-0." not in prompt
    assert f"snippet-{EVIDENCE_SHOWN}." in prompt

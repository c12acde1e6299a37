"""An imported case in the real graph: it runs without code, and nobody in it is told the answer."""

import json

import pytest

from evals.cassettes.calls_and_misses import Ledger
from evals.cassettes.cassette_data import Cassette
from evals.cassettes.player import Tape
from evals.scoring.registry import scorers
from evals.scoring.scorer import score
from evals.triage.cli.add_cases import IMPORTERS
from evals.triage.dataset.case_code import materialise
from evals.triage.dataset.imported_dataset_writer import write_dataset
from evals.triage.dataset.load_cases import load_cases
from evals.triage.graph_trial import CaseTarget, IndexedCode, run_trial
from evals.triage.trial_clients import Clients
from evals.triage.typed_views import repository_files
from tests.builders.dataset import POLICY
from tests.builders.endpoint import WORKER_REPLIES, a_decision, a_team, some_clients
from tests.builders.facts import a_variant
from tests.builders.foreign import (
    ADDED,
    FAILING,
    GOLD,
    HINT,
    REMOVED,
    STATEMENT,
    a_github_issue,
    a_locagent_output,
    a_locbench_row,
    a_swebench_row,
    as_json_lines,
)

ROUTE = ("investigator", "codebase_search", "web_search", "human_input", "critic", "writer")
ROWS = {
    "swebench": a_swebench_row(),
    "locagent": a_locbench_row(),
    "locagent output": a_locagent_output(),
    "github": a_github_issue(),
}
FIX = (GOLD, "net_total", "Cart", REMOVED.strip(), ADDED.strip(), FAILING, "test_two_books")
SECRETS = (*FIX, HINT, "area-cart-label", "Fixed by the change")


async def told_about(source, row, tmp_path):
    """Every request of a whole trial on the imported row (or folder), as text; and the trial's case and trace."""
    path = as_json_lines(tmp_path / "rows.jsonl", row) if isinstance(row, dict) else row
    write_dataset(IMPORTERS[source](path), source, POLICY, tmp_path / "out")
    [case] = load_cases(tmp_path / "out").values()
    decisions = [a_decision(node, question="Which version?", question_context="") for node in ROUTE]
    endpoint = a_team(*decisions, **an_ignorant_team())
    clients = some_clients(endpoint)
    repository = IndexedCode.at(materialise(case, tmp_path / "out", tmp_path / "cache"), tmp_path / "vectors.npz")
    subject = CaseTarget.of(
        a_variant().variant, Clients(clients.openai, clients.openai_async, clients.tavily_async), repository
    )
    trace = await run_trial(subject, case, Tape(Cassette(tmp_path / "none.yaml"), Ledger(), 0))
    return [json.dumps(body, ensure_ascii=False) for _, body in endpoint.asked], case, trace


def an_ignorant_team():
    """Answers that name nothing of the shop, so that whatever is named came out of the dataset."""
    keep = {agent: reply for agent, reply in WORKER_REPLIES.items() if isinstance(reply, dict)}
    vague = {
        "investigator": {"affected_areas": [], "keywords_for_search": ["total"], "hypothesis": "Something is off."},
        "codebase_search": {"root_cause_location": None},
        "writer": {"root_cause": "Unknown.", "root_cause_location": None, "affected_files": [], "evidence": []},
        "writer-ticket": {"title": "Totals"},
    }
    replies = {agent: [{**reply, **vague.get(agent, {})}] for agent, reply in keep.items()}
    return replies | {"writer-comment": ["Unknown."]}


@pytest.mark.parametrize("name", ROWS)
async def test_no_request_holds_anything_of_the_answer(tmp_path, name):
    asked, _, _ = await told_about(name.split()[0], ROWS[name], tmp_path)

    leaked = [secret for secret in SECRETS if any(secret in text for text in asked)]
    assert leaked == []


async def test_the_issue_itself_is_told(tmp_path):
    """Else the test above would pass on silence."""
    asked, _, _ = await told_about("swebench", ROWS["swebench"], tmp_path)

    title = STATEMENT.partition("\n")[0]
    assert any(title in text for text in asked)


async def test_a_case_without_code_runs_its_whole_route_over_an_empty_index(tmp_path):
    _, _, trace = await told_about("swebench", ROWS["swebench"], tmp_path)

    assert (trace.error, trace.route, repository_files(trace)) == (None, ROUTE, ())


async def test_no_score_rests_on_a_label_the_source_does_not_state(tmp_path):
    """Of GitHub's issue nothing is labelled; its gold is unknown, which is not the same as none to blame."""
    _, case, trace = await told_about("github", ROWS["github"], tmp_path)

    kinds = {subject.name: score(subject, case, trace).kind for subject in scorers()}
    rests = [name for name in kinds if name.startswith(("root_cause.", "severity."))]
    assert {kinds[name] for name in rests} == {"skipped"}
    assert kinds["route.pass"] == "scored"


async def test_a_score_that_rests_on_the_fix_stands(tmp_path):
    _, case, trace = await told_about("swebench", ROWS["swebench"], tmp_path)

    outcomes = {subject.name: score(subject, case, trace) for subject in scorers()}
    assert outcomes["root_cause.hit"].value == 0
    assert outcomes["root_cause.function_hit"].reason == "the case has no label functions"

"""`evals langsmith push` where something is wrong: here, on the way, or there."""

import threading

import pytest

from tests.builders.at_once import evals_at_once
from tests.builders.langsmith_server import Fault
from tests.builders.pushed import TREES, experiments, push, roots, stored, trials
from tests.builders.run import a_run, a_trial, a_variant_info
from tests.builders.secret import PLANTED
from tests.builders.trace import a_report, a_trace
from tests.builders.waiting import until


@pytest.mark.parametrize("let_through", [0, 1, 2, 3])
def test_an_upload_killed_half_way_and_run_again_makes_nothing_twice(there, checkout, let_through):
    run = stored(checkout, *trials(samples=12))
    killed = threading.Event()
    there.faults.append(Fault(TREES, until=killed, skip=let_through))
    keys = {"LANGSMITH_ENDPOINT": there.url, "LANGSMITH_API_KEY": "a key"}
    process = evals_at_once(checkout, "langsmith", "push", run, **keys)
    until(lambda: there.count(TREES) > let_through or process.poll() is not None)
    process.kill()
    process.wait()
    assert there.count(TREES) == let_through + 1  # it was in the middle
    killed.set()

    said = push(checkout, run)

    assert said.code == 0, said.err
    assert len(roots(there)) == 24
    assert len(there.store.runs) == 24 * 10
    assert len(there.store.feedback) == 24 * 3
    assert len(experiments(there)) == 1
    assert not there.store.twice


@pytest.mark.parametrize("at", ["POST /sessions", TREES, "PATCH /sessions", "GET /sessions"])
@pytest.mark.parametrize(
    "how",
    [
        {"status": 429, "headers": {"retry-after": "0"}},
        {"status": 500},
        {"cut": True},
        {"cut": True, "after": True},
        {"status": 503, "after": True},
    ],
    ids=["rate limit", "500", "cut before", "cut after it was done", "503 after it was done"],
)
def test_what_passes_is_tried_again_and_leaves_one_of_each(there, checkout, at, how):
    there.faults.append(Fault(at, **how))

    said = push(checkout, stored(checkout))

    assert said.code == 0, said.err
    assert (len(roots(there)), len(there.store.feedback), len(experiments(there))) == (2, 6, 1)


@pytest.mark.parametrize("skip", [0, 1], ids=["runs", "scores"])
def test_what_is_not_taken_is_one_line_and_the_same_command_goes_on(there, checkout, skip):
    run = stored(checkout)
    there.faults.append(Fault(TREES, status=503, times=99, skip=skip))

    said = push(checkout, run, "--retries", "0")

    assert said.code == 3
    assert said.err.splitlines()[-1].endswith("run the same command again later")
    assert "Traceback" not in said.err
    assert not any(each["end_time"] for each in experiments(there))
    there.faults.clear()
    assert push(checkout, run).code == 0
    assert (len(roots(there)), len(there.store.feedback)) == (2, 6)
    assert not there.store.twice


def test_trees_that_are_too_large_for_one_request_go_in_halves(there, checkout):
    there.limit = 20_000

    said = push(checkout, stored(checkout, *trials(samples=5)))

    assert said.code == 0, said.err
    assert len(there.store.runs) == 10 * 10


def test_one_run_that_is_too_large_is_one_line(there, checkout):
    huge = a_report(evidence=("x" * 50_000,))
    there.limit = 30_000

    said = push(checkout, stored(checkout, a_trial(a_trace(case_id="wrong-sum", report=huge))))

    assert said.code == 3
    assert "status 413 (sending 1 runs): too large for it, though sent alone" in said.err.splitlines()[-1]


def test_large_payloads_arrive_whole(there, checkout):
    comment = "é" * 3_000_000

    said = push(checkout, stored(checkout, a_trial(a_trace(case_id="wrong-sum", comment=comment))))

    assert said.code == 0, said.err
    assert roots(there)[0]["outputs"]["output"]["comment"] == comment


def test_a_secret_refuses_the_upload_before_anything_is_sent(service, checkout):
    leak = a_trace(case_id="wrong-sum", comment=f"Use {PLANTED['github_token']}.")
    run = a_run(a_trial(leak), variants=(a_variant_info("v2"),)).sealed()
    path = checkout / "run.json"  # by hand: what writes reports would withhold it
    path.write_text(run.model_dump_json(by_alias=True))

    said = push(checkout, str(path))

    assert (said.code, said.err.count("\n")) == (3, 1)
    assert "github_token" in said.err
    assert "of wrong-sum under v2: nothing was sent" in said.err
    assert PLANTED["github_token"] not in said.err
    assert not service.asked


def test_without_the_dataset_there_nothing_is_sent(service, checkout):
    said = push(checkout, stored(checkout))

    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "`evals langsmith push cases` first" in said.err
    assert not service.store.runs


def test_a_case_that_is_no_example_there_is_named_and_nothing_is_sent(there, checkout):
    said = push(checkout, stored(checkout, a_trial(a_trace(case_id="a-stranger"))))

    assert said.code == 2
    assert "has no example of a-stranger" in said.err
    assert not there.store.runs


def test_a_dry_run_counts_what_would_go_without_key_or_network(checkout, monkeypatch):
    monkeypatch.delenv("LANGSMITH_API_KEY", raising=False)

    said = push(checkout, stored(checkout), "--dry-run")

    assert said.code == 0
    assert "2 trials, 20 runs, 2 of them model calls, 6 scores" in said.out


@pytest.mark.parametrize(
    ("words", "told"), [(["--variant", "v9"], "--variant v9: not in"), (["none.json"], "none.json: cannot be read")]
)
def test_what_is_not_there_is_one_line_and_2(service, checkout, words, told):
    run = [] if words[0].endswith(".json") else [stored(checkout)]

    said = push(checkout, *run, *words)

    assert (said.code, said.err.count("\n")) == (2, 1)
    assert told in said.err
    assert not service.asked


def test_a_missing_key_is_said_before_anything_is_read(checkout, monkeypatch):
    for name in ("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    said = push(checkout, "none.json")

    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "set LANGSMITH_API_KEY" in said.err


def test_a_cassette_that_cannot_be_trusted_refuses_the_upload_before_it_begins(there, checkout):
    run, before = stored(checkout), len(there.asked)
    (checkout / "cassettes").mkdir(exist_ok=True)
    (checkout / "cassettes" / "wrong-total.yaml").write_text("version: 1\ninteractions: [cut\n")

    said = push(checkout, run)

    assert (said.code, said.err.count("\n")) == (3, 1)
    assert "wrong-total.yaml" in said.err
    assert len(there.asked) == before

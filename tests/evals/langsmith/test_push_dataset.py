"""`evals langsmith push cases`, with the real SDK over HTTP."""

import pytest

from evals.langsmith.dataset_sync import example_of
from tests.builders.case import a_case
from tests.builders.checkout import evals
from tests.builders.dataset import a_case_file, a_case_folder
from tests.builders.langsmith_server import Fault
from tests.builders.secret import PLANTED

PUSH = ("langsmith", "push", "cases")
POST, PATCH = "POST /v1/platform/datasets", "PATCH /v1/platform/datasets"


def by_case(service):
    return {row["metadata"]["case"]: row for row in service.store.examples.values()}


def test_a_case_becomes_an_example_with_inputs_labels_split_and_metadata(service, checkout):
    said = evals(checkout, *PUSH)

    assert said.code == 0
    found = by_case(service)
    assert [*found] == ["wrong-sum", "wrong-total"]
    one = found["wrong-sum"]
    assert one["inputs"]["title"] == "The sum is wrong"
    assert one["inputs"]["body"].startswith("Two books cost as much as one.")
    assert one["outputs"]["gold"] == ["shop/cart.py"]
    assert one["outputs"]["severity"] == "HIGH"
    assert one["metadata"]["dataset_split"] == ["tune"]
    assert one["metadata"]["slice"] == "local_bug"
    assert [row["name"] for row in service.store.datasets.values()] == ["triage-evals"]


def test_what_is_unchanged_is_not_sent_again(service, checkout):
    evals(checkout, *PUSH)
    before = service.count(POST)

    said = evals(checkout, *PUSH)

    assert "0 new, 0 changed, 2 unchanged" in said.out
    assert (service.count(POST), service.count(PATCH)) == (before, 0)


def test_a_changed_label_updates_its_one_example(service, checkout):
    evals(checkout, *PUSH)
    ids = {*service.store.examples}
    labels = checkout / "datasets/triage/cases/wrong-sum/case.yaml"
    labels.write_text(labels.read_text().replace("severity: HIGH", "severity: LOW"))

    said = evals(checkout, *PUSH)

    assert "0 new, 1 changed, 1 unchanged" in said.out
    assert {*service.store.examples} == ids
    assert by_case(service)["wrong-sum"]["outputs"]["severity"] == "LOW"
    assert by_case(service)["wrong-total"]["outputs"]["severity"] == "HIGH"


def test_held_out_cases_stay_here(service, checkout):
    a_case_folder(checkout / "datasets", a_case_file(id="held", split="holdout"))

    said = evals(checkout, *PUSH)

    assert "1 held-out cases stay here" in said.out
    assert "held" not in by_case(service)


def test_an_example_there_of_no_case_here_is_counted_and_stays(service, checkout):
    a_case_folder(checkout / "datasets", a_case_file(id="gone"))
    evals(checkout, *PUSH)
    for path in sorted((checkout / "datasets/triage/cases/gone").iterdir()):
        path.unlink()
    (checkout / "datasets/triage/cases/gone").rmdir()

    said = evals(checkout, *PUSH)

    assert "2 unchanged, 1 there that are no cases here" in said.out
    assert "gone" in by_case(service)


def test_a_label_its_source_does_not_state_is_left_out():
    example = example_of(a_case(tags=("unlabelled:severity", "unlabelled:gold")))

    assert not {"severity", "gold"} & example.outputs.keys()
    assert example.outputs["category"] == "code"


def test_a_secret_refuses_the_upload_before_anything_is_sent(service, checkout):
    issue = checkout / "datasets/triage/cases/wrong-sum/issue.md"
    issue.write_text(f"# It fails\n\nWith {PLANTED['openai_key']} it says 401.\n")

    said = evals(checkout, *PUSH)

    assert said.code == 3
    assert "openai_key at $.inputs.body of case wrong-sum: nothing was sent" in said.err
    assert PLANTED["openai_key"] not in said.err
    assert said.err.count("\n") == 1
    assert not service.asked


def test_a_dry_run_needs_no_key_and_asks_nobody(service, checkout, monkeypatch):
    monkeypatch.delenv("LANGSMITH_API_KEY")

    said = evals(checkout, *PUSH, "--dry-run")

    assert said.code == 0
    assert "would send up to 2 examples" in said.out
    assert "wrong-total  tune" in said.out
    assert not service.asked


def test_nobody_there_is_one_line_and_3(checkout, monkeypatch):
    monkeypatch.setenv("LANGSMITH_ENDPOINT", "http://127.0.0.1:9")  # discard: nobody listens
    monkeypatch.setenv("LANGSMITH_API_KEY", "a key")

    said = evals(checkout, *PUSH, "--retries", "0")

    assert (said.code, said.err.count("\n")) == (3, 1)
    assert "cannot be reached" in said.err
    assert "no network" in said.err


@pytest.mark.parametrize(("status", "hint"), [(401, "the key is refused"), (403, "may not do this")])
def test_a_refused_key_is_one_line_and_3(service, checkout, status, hint):
    service.faults.append(Fault("GET /datasets", status=status, times=99))

    said = evals(checkout, *PUSH)

    assert (said.code, said.err.count("\n")) == (3, 1)
    assert hint in said.err


@pytest.mark.parametrize("at", ["GET /info", "GET /datasets", "POST /datasets", "GET /examples", POST])
@pytest.mark.parametrize(
    "how",
    [
        {"status": 429, "headers": {"retry-after": "0"}},
        {"status": 500},
        {"status": 503},
        {"cut": True},
        {"cut": True, "after": True},
        {"status": 502, "after": True},
    ],
    ids=["rate limit", "500", "503", "cut before", "cut after it was done", "502 after it was done"],
)
def test_what_passes_is_tried_again_and_makes_nothing_twice(service, checkout, at, how):
    service.faults.append(Fault(at, **how))

    said = evals(checkout, *PUSH)

    assert said.code == 0, said.err
    assert [*by_case(service)] == ["wrong-sum", "wrong-total"]
    assert len(service.store.examples) == 2
    assert len(service.store.datasets) == 1


def test_an_outage_that_lasts_is_one_line_and_the_same_command_goes_on(service, checkout):
    service.faults.append(Fault(POST, status=503, times=1))

    said = evals(checkout, *PUSH, "--retries", "0")

    assert (said.code, said.err.count("\n")) == (3, 1)
    assert "status 503 (sending 2 examples): run the same command again later" in said.err
    assert evals(checkout, *PUSH).code == 0
    assert len(service.store.examples) == 2


def test_a_wait_of_an_hour_is_not_waited_for(service, checkout):
    service.faults.append(Fault(POST, status=429, headers={"retry-after": "3600"}, times=99))

    said = evals(checkout, *PUSH)

    assert said.code == 3
    assert service.count(POST) == 1
    assert "its limit is reached: run the same command later" in said.err


def test_what_is_too_large_for_one_request_goes_in_halves(service, checkout):
    for number in range(8):
        a_case_folder(checkout / "datasets", a_case_file(id=f"case-{number}"), issue=f"# It fails\n\n{'x ' * 2000}\n")
    service.limit = 12_000

    said = evals(checkout, *PUSH)

    assert said.code == 0, said.err
    assert len(service.store.examples) == 10


def test_one_example_that_is_too_large_is_one_line(service, checkout):
    service.limit = 500

    said = evals(checkout, *PUSH)

    assert (said.code, said.err.count("\n")) == (3, 1)
    assert "status 413 (sending 1 examples): too large for it, though sent alone" in said.err

"""Where the fixed text of requests is written."""

from pathlib import Path

from evals.cassettes.calls_and_misses import digest
from evals.models.suite import Models, Variant
from evals.triage.variant_prompts import describe, supervisor_files, worker_files
from triage.prompts.load import load_supervisor_prompt

ROOT = Path(__file__).parents[3]
MODELS = Models(default="m", fallback="m")


def test_a_supervisors_prompt_is_its_file_and_the_digest_of_what_is_sent():
    info = describe(Variant(name="mine", prompt="v3", models=MODELS), ROOT)

    found = supervisor_files([info], ROOT)["mine"]

    assert (found.path, found.version) == ("triage/prompts/supervisor/v3.md", "v3")
    assert found.digest == digest(load_supervisor_prompt("v3").system)
    assert found.lines[0] == "---"


def test_a_supervisor_without_a_prompt_has_no_file():
    info = describe(Variant(name="rules", supervisor="rules", models=MODELS), ROOT)

    assert supervisor_files([info], ROOT) == {}


def test_a_file_outside_the_checkout_is_named_without_the_machines_folders(tmp_path):
    assert {file.path for file in worker_files(tmp_path)} >= {"triage/prompts/agents/critic.md"}

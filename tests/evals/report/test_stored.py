"""Reading a run back: older ones yes, newer ones not half understood."""

import hashlib
import json

import pytest

from evals.errors import ConfigurationError
from evals.models.run import RUN_SCHEMA
from evals.report.run_files import read_run
from tests.builders.run import a_case_info, a_run, a_trial
from tests.builders.trace import a_decision, a_trace, an_override


def a_stored_run(folder, **changes):
    path = folder / "run.json"
    path.write_text(json.dumps(a_run().model_dump(mode="json", by_alias=True) | changes))
    return path


def test_a_run_of_a_newer_schema_is_refused_by_that_name(tmp_path):
    path = a_stored_run(tmp_path, schema_version=RUN_SCHEMA + 1, novelty=True)

    with pytest.raises(ConfigurationError, match=rf"newer evals \(schema {RUN_SCHEMA + 1}, this one reads up to"):
        read_run(path)


def test_a_newer_schema_is_refused_even_where_every_field_is_known(tmp_path):
    """The same names may mean something else."""
    with pytest.raises(ConfigurationError, match="newer evals"):
        read_run(a_stored_run(tmp_path, schema_version=RUN_SCHEMA + 1))


def test_another_kind_of_file_is_not_taken_for_a_newer_run(tmp_path):
    """Shards, sweeps and runs count their schemas apart."""
    (tmp_path / "shard.json").write_text(json.dumps({"schema_version": RUN_SCHEMA + 1, "traces": {}}))

    with pytest.raises(ConfigurationError, match=r"not a run\.json"):
        read_run(tmp_path / "shard.json")


def test_a_run_from_before_the_optional_fields_is_read(tmp_path):
    path = a_stored_run(tmp_path)
    old = json.loads(path.read_text())
    for field in ("samples", "dataset_baselines", "scope", "divergences", "schema_version"):
        del old[field]
    path.write_text(json.dumps(old))

    assert read_run(path) == a_run()


def test_a_run_of_the_first_schema_is_read_as_one_without_measures(tmp_path):
    path = a_stored_run(tmp_path, schema_version=1)
    old = json.loads(path.read_text())
    for field in ("measure_infos", "measures", "confusions", "calibrations", "twins"):
        del old[field]
    for item in old["comparisons"]:
        for field in ("of", "pessimistic", "optimistic", "fewest_losses"):
            del item[field]
    path.write_text(json.dumps(old))

    assert (read_run(path).measures, read_run(path).schema_version) == ((), 1)


@pytest.mark.parametrize("text", ["", "[]", "null", '{"schema_version": "x"}', "\x00"])
def test_what_is_no_run_is_said_to_be_none(tmp_path, text):
    (tmp_path / "run.json").write_text(text)

    with pytest.raises(ConfigurationError, match="not a run"):
        read_run(tmp_path / "run.json")


def test_a_sealed_run_that_calls_itself_older_is_still_held_to_its_digest(tmp_path):
    """Runs of the first schemas have none: an edited number of the schema must not make one of them."""
    sealed = a_run().sealed().model_dump(mode="json", by_alias=True)
    path = tmp_path / "run.json"
    path.write_text(json.dumps(sealed | {"schema_version": 1, "comparisons": []}))

    with pytest.raises(ConfigurationError, match="edited or damaged since it was written"):
        read_run(path)


def as_schema_6(run):
    """A run of one case and trial as it was written before labels, output and facts were mappings."""
    old = run.model_dump(mode="json", by_alias=True, exclude={"content_sha256"}) | {"schema_version": 6}
    (case,), (trial,) = old["cases"], old["trials"]
    labels, trace = case.pop("labels"), trial["trace"]
    published = {"source": labels["published"], "files": labels["gold"], "whole_names": labels["whole_names"]}
    case |= {"archetype": case.pop("slice"), "category": labels["category"], "severity": None}
    case |= {"root_cause": labels["root_cause"], "gold_files": labels["gold"], "published": published}
    output = trace.pop("output")
    trace |= {"comment": output.pop("comment"), "ticket": None, "report": output, **trace.pop("facts")}
    for decision in trace["decisions"]:
        decision["vetoes"] = [{"guard": each.pop("rule"), **each} for each in decision.pop("overrides")]
    return old


@pytest.fixture
def before_7(tmp_path):
    labels = {"category": "code", "root_cause": "It is off.", "gold": ["a.py"]}
    case = a_case_info(labels={**labels, "published": "swebench", "whole_names": ["a.py::f"]})
    trace = a_trace("investigator", comment="Fixed.", decisions=[a_decision(overrides=[an_override()])])
    run = a_run(a_trial(trace), cases=(case,))
    old = as_schema_6(run)
    digest = hashlib.sha256(json.dumps(old, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()
    (tmp_path / "run.json").write_text(json.dumps({"content_sha256": digest, **old}, indent=1))
    return run, tmp_path / "run.json"


def test_labels_and_output_of_a_run_of_schema_6_are_read_as_mappings(before_7):
    run, path = before_7

    assert read_run(path).model_copy(update={"content_sha256": ""}) == run


def test_a_run_of_schema_6_is_held_to_its_digest(before_7):
    _, path = before_7
    path.write_text(path.read_text().replace("Fixed.", "Edited."))

    with pytest.raises(ConfigurationError, match="edited or damaged since it was written"):
        read_run(path)


def test_a_run_of_schema_6_that_is_not_whole_is_said_to_be_none(before_7):
    _, path = before_7
    path.write_text(path.read_text().replace('"trace":', '"track":'))

    with pytest.raises(ConfigurationError, match="not a run"):
        read_run(path)

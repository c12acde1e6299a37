"""`evals schema`, and the page that explains `run.json`: both say what the code writes."""

import json
import re

import jsonschema
import pytest

from evals.models.run import RUN_SCHEMA, Run
from evals.report.run_files import write_report
from tests.builders.checkout import REPOSITORY
from tests.builders.command import command
from tests.builders.run import a_run
from tests.builders.shards import a_shard

PAGE = (REPOSITORY / "docs" / "run-json.md").read_text(encoding="utf-8")


def the_schema(name):
    said = command("schema", name)
    assert (said.code, said.err) == (0, "")
    return json.loads(said.out)


def a_written_run(folder):
    write_report(a_run(), folder)
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))


def test_a_run_that_was_written_fits_its_schema(tmp_path):
    schema = the_schema("run")
    jsonschema.Draft202012Validator.check_schema(schema)

    jsonschema.validate(a_written_run(tmp_path), schema, jsonschema.Draft202012Validator)


@pytest.mark.parametrize("change", [{"novelty": 1}, {"schema_version": RUN_SCHEMA + 1}, {"trials": None}])
def test_what_is_no_run_of_this_version_does_not_fit(tmp_path, change):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(a_written_run(tmp_path) | change, the_schema("run"))


def test_a_shard_fits_its_schema():
    jsonschema.validate(a_shard().model_dump(mode="json", by_alias=True), the_schema("shard"))


def test_an_unknown_name_is_a_usage_error():
    said = command("schema", "nosuch")

    assert (said.code, said.err) == (
        2,
        "evals: no schema 'nosuch'; name one of run, shard, history, drift, sweep or case\n",
    )


def test_the_page_explains_every_field_in_the_order_of_the_file():
    explained = re.findall(r"^\| `(\w+)` \| \S", PAGE, flags=re.MULTILINE)

    assert explained == list(Run.model_fields)


def test_the_page_names_the_present_version():
    assert f"`schema_version` is {RUN_SCHEMA}." in PAGE

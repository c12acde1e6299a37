"""Result files of other tools are read. Every file in `data/` was written by the tool itself, on five sums of ours.

A plain function answers them: v1 answers all of them, v2 gets `6 - 2` wrong, v3 raises at `10 - 7`.

promptfoo 0.121.20, inspect-ai 0.3.285, deepeval 4.3.1, pydantic-evals 2.62.0; langsmith 0.14.17 by
`evaluate(..., upload_results=False).to_pandas()`, to CSV and JSON. Folders are taken out of tracebacks.
"""

import json
import sys
from pathlib import Path

import pytest

from evals.errors import ConfigurationError
from evals.external_results import read_results

DATA = Path(__file__).parent / "data"
SUMS = ("two and two", "three and four", "nine and one", "six less two", "ten less seven")
TEXTS = ("2 + 2", "3 + 4", "9 + 1", "6 - 2", "10 - 7")
WRITTEN = {  # file, metric, variant, cases, repeats, answers
    "promptfoo": ("promptfoo.json", "pass", "v2", (*SUMS[:4], "10 - 7"), 1),
    "promptfoo's named metric": ("promptfoo.json", "exact", "v2", (*SUMS[:4], "10 - 7"), 1),
    "Inspect, archive": ("inspect-v2.eval", "match", "mockllm/model version=v2", SUMS, 2),
    "DeepEval": ("deepeval-v2.json", "pass", "deepeval-v2", SUMS, 1),
    "DeepEval's last run": ("deepeval-latest.json", "Exact Match", "deepeval-latest", SUMS, 1),
    "pydantic-evals": ("pydantic-v2.json", "pass", "v2", SUMS, 2),
    "pydantic-evals, an assertion": ("pydantic-v2.json", "EqualsExpected", "v2", SUMS, 2),
    "LangSmith, CSV": ("langsmith-v2.csv", "exact", "langsmith-v2", TEXTS, 2),
    "LangSmith, JSON": ("langsmith-v2.json", "exact", "langsmith-v2", TEXTS, 2),
}
PASSES = (1.0, 1.0, 1.0, 0.0, 1.0)


def values(results, metric, variant):
    """Case -> its values, repeat by repeat."""
    found = {}
    for result in sorted(results.results, key=lambda result: result.sample):
        if result.variant == variant and metric in result.values:
            found.setdefault(result.case, []).append(result.values[metric])
    return found


@pytest.mark.parametrize(("file", "metric", "variant", "cases", "repeats"), WRITTEN.values(), ids=WRITTEN.keys())
def test_a_file_of_the_tool_gives_its_values_by_case_and_repeat(file, metric, variant, cases, repeats):
    results = read_results(DATA / file)

    assert values(results, metric, variant) == {
        case: [passed] * repeats for case, passed in zip(cases, PASSES, strict=True)
    }


def test_a_json_log_of_inspect_gives_what_its_archive_gives():
    one, other = (read_results(DATA / f"inspect-v1.{form}") for form in ("json", "eval"))

    assert values(one, "includes", one.variants[0]) == {
        case: found[:1] for case, found in values(other, "includes", other.variants[0]).items()
    }


def test_variants_of_promptfoo_come_in_the_order_of_its_columns():
    """Its rows stand in the order in which they were finished."""
    assert read_results(DATA / "promptfoo.json").variants == ["v1", "v2", "v3"]


def test_an_archive_that_cannot_be_unpacked_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)

    with pytest.raises(ConfigurationError, match=r"inspect-v1.eval: compressed with zstd; `pip install zstandard`"):
        read_results(DATA / "inspect-v1.eval")


def test_text_expected_answer_and_output_come_with_the_values():
    for file in ("promptfoo.json", "inspect-v2.eval", "deepeval-v2.json", "pydantic-v2.json", "langsmith-v2.csv"):
        results = read_results(DATA / file)
        (wrong, *_) = [result for result in results.results if result.text == "6 - 2" and result.output == "8"]

        assert "4" in wrong.expected, file


ERRORS = {
    "promptfoo": ("promptfoo.json", "10 - 7", "v3", "no answer"),
    "pydantic-evals": ("pydantic-v3.json", "ten less seven", "v3", "ValueError: no answer"),
    "LangSmith": ("langsmith-v3.csv", "10 - 7", "langsmith-v3", "ValueError('no answer')"),
}


@pytest.mark.parametrize(("file", "case", "variant", "error"), ERRORS.values(), ids=ERRORS.keys())
def test_a_case_that_raised_has_its_error_and_no_value(file, case, variant, error):
    failed = [result for result in read_results(DATA / file).results if result.variant == variant and result.error]

    assert {(result.case, result.error) for result in failed} == {(case, error)}
    assert not any(result.values for result in failed)


def test_an_error_in_a_log_of_inspect_is_an_error(tmp_path):
    log = json.loads((DATA / "inspect-v1.json").read_text())
    log["samples"][0]["error"] = {"message": "no answer", "traceback": "", "traceback_ansi": ""}
    (tmp_path / "log.json").write_text(json.dumps(log))

    assert [result.error for result in read_results(tmp_path / "log.json").results].count("no answer") == 1


def test_grades_of_inspect_are_numbers_and_a_score_of_several_values_is_several_metrics(tmp_path):
    log = json.loads((DATA / "inspect-v1.json").read_text())
    for sample, grade in zip(log["samples"], "CPINC", strict=True):
        sample["scores"] = {"graded": {"value": grade}, "parts": {"value": {"tone": 0.5, "facts": True}}}
    (tmp_path / "log.json").write_text(json.dumps(log))

    found = [result.values for result in read_results(tmp_path / "log.json").results]
    assert [one["graded"] for one in found] == [1.0, 0.5, 0.0, 0.0, 1.0]
    assert (found[0]["parts.tone"], found[0]["parts.facts"]) == (0.5, 1.0)


def a_table(folder, *rows, head="case,variant,metric,value,sample"):
    path = folder / "mine.csv"
    path.write_text("\n".join((head, *rows)) + "\n", encoding="utf-8")
    return path


def test_a_plain_table_has_one_row_per_case_metric_and_repeat(tmp_path):
    results = read_results(a_table(tmp_path, "a,v1,hit,1,1", "a,v1,hit,0,2", "a,v1,f1,0.5,1", "a,v1,f1,0.7,2"))

    assert values(results, "hit", "v1") == {"a": [1.0, 0.0]}
    assert values(results, "f1", "v1") == {"a": [0.5, 0.7]}


def test_a_table_without_variants_is_one_variant_named_after_its_file(tmp_path):
    assert read_results(a_table(tmp_path, "a,hit,true", head="case,metric,value")).variants == ["mine"]


def test_lines_of_json_are_a_table_too(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text('{"case": "a", "metric": "hit", "value": true}\n{"case": "b", "metric": "hit", "value": 0}\n')

    assert values(read_results(path), "hit", "mine") == {"a": [1.0], "b": [0.0]}


def test_two_cases_of_one_name_stay_two(tmp_path):
    """Two tests of promptfoo may have one description."""
    found = json.loads((DATA / "promptfoo.json").read_text())
    for row in found["results"]["results"]:
        row["testCase"]["description"] = "sum"
    (tmp_path / "found.json").write_text(json.dumps(found))

    assert len(values(read_results(tmp_path / "found.json"), "pass", "v1")) == 5


UNREADABLE = {
    "another JSON": ("x.json", '{"a": 1}', "no format that is known; known are promptfoo (JSON)"),
    "no JSON": ("x.json", "{", "not whole, or of a version that is not known"),
    "other columns": ("x.csv", "a,b\n1,2\n", "no format that is known"),
    "too large": (
        "x.csv",
        "case,metric,value\na,size,-1e308\n",
        "size of a under x is -1e+308, beyond 1e+15; correct it",
    ),
    "no number": ("x.csv", "case,metric,value\na,hit,often\n", "hit of a under x is no number"),
    "a value twice": ("x.csv", "case,metric,value\na,hit,1\na,hit,0\n", "a value of a under x is there twice"),
    "nothing": ("x.csv", "case,metric,value\n", "no format that is known"),
    "an unfinished log": ("x.json", '{"eval": {}, "samples": [], "status": "started"}', "status is started"),
    "another promptfoo": ("x.json", '{"evalId": "1", "results": []}', "not whole, or of a version"),
    "nothing at all": ("x.json", None, "cannot be read"),
}


@pytest.mark.parametrize(("name", "content", "cause"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_is_no_result_file_is_refused_in_one_line(tmp_path, name, content, cause):
    if content is not None:
        (tmp_path / name).write_text(content)

    with pytest.raises(ConfigurationError) as refused:
        read_results(tmp_path / name)

    assert cause in str(refused.value)
    assert "\n" not in str(refused.value)

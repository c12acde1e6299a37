"""The judge's prompts: files whose placeholders are all filled, or that are refused in one line."""

import shutil

import pytest

from evals.errors import ConfigurationError
from evals.triage.judge.triage_rubric import HERE, load_prompts


def a_version(folder, name="rubric.md", change=lambda text: text):
    shutil.copytree(HERE / "v1", folder / "v9")
    path = folder / "v9" / name
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    return folder


@pytest.mark.parametrize("version", ["v7", "..", "."])
def test_a_version_that_is_not_there_names_those_that_are(version):
    with pytest.raises(ConfigurationError, match=r"no such version; there is v1"):
        load_prompts(version)


@pytest.mark.parametrize("change", [lambda text: text.replace("{cause}", ""), lambda text: text + "{label}"])
def test_a_placeholder_too_few_or_too_many_is_refused(tmp_path, change):
    with pytest.raises(ConfigurationError, match=r"v9/rubric.md: below <!-- human --> name each of \{answers\}"):
        load_prompts("v9", a_version(tmp_path, change=change))


def test_a_prompt_without_its_second_half_is_refused(tmp_path):
    folder = a_version(tmp_path, "pair.md", lambda text: text.replace("<!-- human -->", ""))
    with pytest.raises(ConfigurationError, match="exactly one line <!-- human -->"):
        load_prompts("v9", folder)


def test_braces_inside_a_value_stay_what_they_are():
    prompt = load_prompts("v1").pair
    filled = prompt.filled({"issue": "{cause}", "cause": "C", "first": "{first}", "second": "S"})

    assert "{cause}" in filled
    assert "{first}" in filled

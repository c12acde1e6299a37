"""Variants are checked before anything runs: what does not exist is one line, not a traceback."""

import pytest

from evals.errors import ConfigurationError
from evals.subject.prompt import describe
from tests.builders.facts import a_variant


def described(tmp_path, **fields):
    return describe(a_variant(**fields).variant, tmp_path)


@pytest.mark.parametrize("prompt", ["v99", "nowhere/mine.md"])
def test_an_unknown_prompt_is_named_with_its_variant(tmp_path, prompt):
    with pytest.raises(ConfigurationError, match=rf"variant v3: {prompt}: no such supervisor prompt"):
        described(tmp_path, prompt=prompt)


def test_an_unknown_guard_set_is_named_with_its_variant(tmp_path):
    with pytest.raises(ConfigurationError, match="variant v3: no guard set is called 'nosuch'"):
        described(tmp_path, guards="nosuch")


def test_two_prompts_of_other_words_have_other_digests(tmp_path):
    one, two = (described(tmp_path, prompt=version) for version in ("v2", "v3"))

    assert one.prompt_digest != two.prompt_digest

"""What a case file may say of where it comes from, and of what it does not know."""

import pytest
from pydantic import ValidationError

from evals.triage.dataset.dataset_layout import CaseFile
from tests.builders.dataset import a_case_file

ORIGIN = {"source": "swebench", "name": "example__shop-7"}


def a_file(**changes):
    fields = {key: value for key, value in (a_case_file() | changes).items() if value is not None}
    return CaseFile.model_validate(fields)


def test_an_imported_case_names_repository_and_origin_instead():
    case = a_file(codebase=None, repository="example/shop", origin=ORIGIN)

    assert (case.codebase, case.repository) == (None, "example/shop")


@pytest.mark.parametrize(
    "half",
    [
        {"codebase": None},
        {"codebase": None, "repository": "example/shop"},
        {"codebase": None, "origin": ORIGIN},
        {"repository": "example/shop"},
        {"origin": ORIGIN},
        {"repository": "example/shop", "origin": ORIGIN},
    ],
    ids="+".join,
)
def test_a_case_is_ours_or_imported_and_never_half_of_each(half):
    with pytest.raises(ValidationError, match=r"an imported case names|a case is ours or imported"):
        a_file(**half)


@pytest.mark.parametrize("repository", ["shop", "a/b/c", "a b/c", "/c", ""])
def test_a_repository_is_an_owner_and_a_name(repository):
    with pytest.raises(ValidationError):
        a_file(codebase=None, repository=repository, origin=ORIGIN)


def test_unlabelled_labels_are_read_off_the_tags():
    assert a_file(tags=["imported", "unlabelled:gold", "unlabelled:severity"]).unlabelled == {"gold", "severity"}

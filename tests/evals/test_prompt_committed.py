"""The prompts as they were before an edit, found by a real git."""

from pathlib import Path

import pytest

import triage.prompts
from evals.prompt_versions import with_committed
from evals.triage.pack import PACK
from tests.builders.git import committed, git
from tests.builders.run import a_variant_info
from triage.prompts.load import parse_supervisor_prompt

PATH = "mine.md"
V3 = (Path(triage.prompts.__file__).parent / "supervisor" / "v3.md").read_text(encoding="utf-8")
RULE = "- APPROVED: call the writer.\n"


@pytest.fixture
def repository(tmp_path):
    """One commit, with v3 as a prompt of its own."""
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    (tmp_path / PATH).write_text(V3, encoding="utf-8")
    committed(tmp_path, "start")
    return tmp_path


def before(repository: Path, text: str = V3) -> str:
    """What is known of the prompt's text before it became `text`."""
    (repository / PATH).write_text(text, encoding="utf-8")
    now = a_variant_info("mine", "another text", prompt_source=PATH)
    (info,) = with_committed([now], repository, "HEAD", PACK)
    return info.earlier.text if info.earlier else ""


def test_an_edited_prompt_brings_the_text_it_had(repository):
    old = parse_supervisor_prompt(V3, source=PATH)

    assert before(repository, V3.replace(RULE, "")) == f"{old.system}\n\n{old.task}\n"
    assert RULE in before(repository, V3.replace(RULE, ""))


def test_an_old_file_that_holds_no_prompt_says_nothing(repository):
    (repository / PATH).write_text("no front matter", encoding="utf-8")
    committed(repository, "broken")

    assert before(repository, V3) == ""


def test_without_a_repository_nothing_is_known(tmp_path):
    assert before(tmp_path) == ""

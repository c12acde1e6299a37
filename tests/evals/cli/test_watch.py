"""What `--watch` looks at; the watching itself is tested in real sessions."""

import yaml

from evals.cli.watch_mode import what_it_rests_on
from evals.models.run_request import RunRequest
from evals.suites.suite_files import suite_file
from tests.builders.checkout import REPOSITORY


def test_a_prompt_file_that_is_gone_is_still_watched(tmp_path):
    """It may come back: an editor, a branch that is switched twice."""
    prompt = tmp_path / "mine.md"
    told = yaml.safe_load(suite_file("prompts").read_text())
    told["name"] = "mine"
    told["variants"][-1]["prompt"] = str(prompt)
    suite = tmp_path / "mine.yaml"
    suite.write_text(yaml.safe_dump(told))

    assert prompt in what_it_rests_on(RunRequest(str(suite), REPOSITORY))


def test_settings_of_the_project_are_watched_also_before_there_are_any():
    assert REPOSITORY / "evals.toml" in what_it_rests_on(RunRequest("prompts", REPOSITORY))

"""What the triage pack tells the harness of its own code."""

from evals.paths import PACKAGE
from evals.triage.pack import PACK


def test_a_trial_depends_on_no_command_page_or_fixture_of_the_pack():
    """Else every edit of one would run all trials again."""
    code = PACK.code_files(PACKAGE.parent)
    own = {path.relative_to(PACKAGE / "triage").parts[0] for path in code if path.is_relative_to(PACKAGE)}

    assert {"graph_trial.py", "pack.py", "dataset"} <= own
    assert not own & {"cli", "pytest_fixtures.py", "pytest_replay.py", "sweep"}

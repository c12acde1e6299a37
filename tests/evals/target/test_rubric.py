"""The rubric of a target as it is asked."""

from evals.target.target_judge import TargetRubric
from tests.builders.dataset import write

RUBRIC = """\
reads: [output.reply]
questions:
  polite:
    question: Is it polite?
    scale:
      no: it is rude
      yes: it is kind
"""


def test_grades_called_yes_and_no_keep_their_names_and_lines(tmp_path):
    write(tmp_path / "evals.toml", "")
    write(tmp_path / "evaluation" / "rubrics" / "reply.yaml", RUBRIC)
    found = TargetRubric("reply", tmp_path)

    assert found.scales == {"polite": ("no", "yes")}
    assert found.prompts.rubric.system.endswith("polite - Is it polite?\n- yes: it is kind\n- no: it is rude")
    lines = ["polite - Is it polite?", "", "- no: it is rude", "- yes: it is kind"]
    assert list(found.prompts.rubric.lines)[3:] == lines

"""The examples of the documentation run as they stand."""

from pathlib import Path

import pytest

from tests.builders.example_projects import live_model, say, script_at_once

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.py"))


SAID = {
    "first_look": ("4/4 ", "cannot judge - Cannot judge v6: only stockroom-random-403", "no suite 'nosuch'"),
    "optimize_prompt": (
        " is better than v2.\n",
        "looks (comparisons on gate): 0 before, 1 new\n",
        "output.expected +38 points",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_an_example_runs_as_it_stands(example, tmp_path):
    code, out, err = script_at_once(example, tmp_path)

    assert code == 0, err[-2000:]
    assert [said for said in SAID[example.stem] if said not in out] == []


@pytest.mark.slow
def test_with_an_endpoint_the_model_there_proposes_and_answers(tmp_path):
    """It routes as its prompt says, so the proposed text is better on new answers, too."""
    better = (ROOT / "docs" / "examples" / "support" / "prompts" / "router" / "v1.md").read_text(encoding="utf-8")

    def answer(texts, body):
        if "Improve this prompt" in texts:
            return f"```\n{better}```"
        return say(texts, body)

    with live_model(answer) as endpoint:
        example = next(path for path in EXAMPLES if path.stem == "optimize_prompt")
        code, out, err = script_at_once(example, tmp_path, **endpoint)

    assert code == 0, err[-2000:]
    assert "holdout: 0 cases not run" in out

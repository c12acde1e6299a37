"""An odd answer is recorded as it is, and nothing is printed of it."""

import subprocess
import sys

from tests.builders.checkout import REPOSITORY

ODD = """
import evals.triage.offline_environment
from openai.types.chat import ChatCompletionMessage

print(ChatCompletionMessage.model_construct(role="assistant", content=5).model_dump()["content"])
"""


def test_an_answer_that_is_not_as_the_sdk_has_it_is_no_warning():
    said = subprocess.run([sys.executable, "-c", ODD], cwd=REPOSITORY, capture_output=True, text=True, check=True)

    assert (said.stdout, said.stderr) == ("5\n", "")

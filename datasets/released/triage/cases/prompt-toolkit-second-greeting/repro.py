"""What is printed in a session goes to the standard output of its time, not of an earlier session's."""

import io
from contextlib import redirect_stdout

from prompt_toolkit import print_formatted_text
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input


def greeting(word: str) -> str:
    with io.StringIO() as transcript, redirect_stdout(transcript):
        with create_pipe_input() as pipe, create_app_session(input=pipe):
            print_formatted_text(word)
        return transcript.getvalue().strip()


for word in ("Good morning", "Guten Morgen"):
    assert greeting(word) == word, word

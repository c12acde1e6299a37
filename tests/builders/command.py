"""One `evals` command line in this process, without the options that only runs of a suite take."""

import contextlib
import io

from evals.cli.main import main
from tests.builders.checkout import REPOSITORY, Said


def command(*words: object) -> Said:
    """What `evals WORDS` says, with this repository as the checkout."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(REPOSITORY), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(word) for word in words])
    return Said(code, out.getvalue(), err.getvalue())

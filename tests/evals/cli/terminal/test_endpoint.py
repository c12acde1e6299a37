"""Who is asked, and how many things at once."""

import pytest

from evals.cli.terminal.endpoint import at_once
from evals.recording.wire import Endpoint


@pytest.mark.parametrize(
    ("url", "wanted", "asked"),
    [
        ("http://127.0.0.1:8091/v1", None, 1),
        ("http://localhost:8091/v1", 8, 1),
        ("http://127.0.0.1:8093/v1", 8, 8),
        ("https://gateway.invalid/v1", None, 4),
    ],
)
def test_the_local_model_is_asked_one_at_a_time_whatever_is_wanted(url, wanted, asked, capsys):
    assert at_once(Endpoint(url, ""), wanted) == asked
    assert ("two at once change its answers" in capsys.readouterr().err) == (wanted == 8 and asked == 1)

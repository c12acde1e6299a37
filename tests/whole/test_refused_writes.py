"""`evals record` where nothing can be written: one line, exit code 3, and what was answered is not asked again."""

import pytest

from tests.builders.checkout import a_checkout, cassettes, evals
from tests.builders.disk import a_small_disk, grow
from tests.builders.llm_server import an_llm_server

pytestmark = pytest.mark.slow


def test_a_full_disk_is_said_in_a_line_and_the_recording_goes_on_where_it_was(tmp_path, story):
    """Staged answers first: what was answered before the disk was full is not asked again."""
    checkout = a_checkout(tmp_path / "checkout")
    with (
        an_llm_server() as llm,
        a_small_disk(checkout / ".cache" / "recording", "96k") as staging,
    ):
        said = evals(checkout, "record", "tiny.yaml", "--base-url", llm.base_url)
        asked = len(llm.asked)
        committed = cassettes(checkout)
        grow(staging, "8m")
        again = evals(checkout, "record", "tiny.yaml", "--base-url", llm.base_url)

        assert said.code == 3
        assert "cannot be written (No space left on device); make room on that disk" in said.err
        assert "Traceback" not in said.err + again.err
        assert again.code == 0, again.err
        assert len(llm.asked) < asked + story[2]["recorded"]
        assert all(cassettes(checkout)[name].startswith(content[:10]) for name, content in committed.items())

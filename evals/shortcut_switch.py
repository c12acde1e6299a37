"""Switch that turns every shortcut of a replay off."""

import os
from typing import Final

SWITCH: Final = "EVALS_PLAIN_REPLAY"
"""Set to 1: every cassette is read and verified, every request built by the SDK and answered by the transport, every
graph built anew, every function handed to a thread that a library hands to one."""


def is_plain() -> bool:
    """Whether the environment asks for a replay without shortcuts."""
    return os.environ.get(SWITCH) == "1"

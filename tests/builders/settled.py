"""Imported last by the server that processes are forked off: what it has loaded stays, so that no collection in any of
them walks through it, or copies it by that.
"""

import gc

import httpx
import httpx2

from evals.shared.command_lifecycle import SELDOM
from evals.shared.secrets.scanner import second_opinion
from tests.builders.read_once import read_now, read_once

read_once()
read_now()
httpx.Client().close()
httpx2.Client().close()
list(second_opinion("Two dozen modules of detect-secrets are loaded."))
gc.freeze()
gc.set_threshold(*SELDOM)

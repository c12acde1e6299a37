"""Imported last by the server that processes are forked off: what it has loaded stays, so that no collection in any of
them walks through it, or copies it by that.
"""

import gc

from evals.shared.command_start import SELDOM

gc.freeze()
gc.set_threshold(*SELDOM)

"""Random examples are the same in every run, so that a green is no luck and a red can be had again."""

import os

from hypothesis import settings

settings.register_profile("seeded", derandomize=True)
settings.register_profile("explore", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "seeded"))

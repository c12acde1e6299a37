"""Whether the cases on released packages ask for more than words: real issues often name what is at fault."""

from collections.abc import Iterator, Mapping
from typing import Final

from evals.dataset.checks.place import of_the_dataset
from evals.dataset.codebase import materialise
from evals.dataset.finding import Complaint, Corpus
from evals.dataset.releases.here import searched_releases
from evals.dataset.releases.shelf import Shelf
from evals.dataset.word_search import root_cause_baselines

MIN_CASES: Final = 10  # fewer, and any share is luck
SHARES: Final[Mapping[str, float]] = {"BM25 first file": 0.35, "name nothing": 0.20}


def words_alone_fail(corpus: Corpus) -> Iterator[Complaint]:
    """Word search names a gold file first in at most 35 % of the cases, and naming nothing is right in at most 20 %;
    looked at once all packages are here."""
    cases, root = list(corpus.cases.values()), corpus.layout.root
    if len(cases) < MIN_CASES or Shelf(corpus.cache).missing(searched_releases(cases, root)):
        return
    for found in root_cause_baselines(cases, lambda case: materialise(case, root, corpus.cache), corpus.cache):
        limit = SHARES.get(found.name, 1.0)
        if found.share > limit:
            message = f"{found.name} is right in {found.share:.0%}, {limit:.0%} is allowed; replace the easiest cases"
            yield of_the_dataset(corpus, message)

"""Gold as others publish scores on it: what a run keeps of a foreign case beside what it keeps of any."""

from evals.models.closed import Closed


class PublishedGold(Closed):
    """Of a case whose source states gold, or whose fix does: the `source`, and what the fix edited, definitions by
    their whole names (`path::Class.method`)."""

    source: str
    files: tuple[str, ...]
    whole_names: tuple[str, ...] = ()

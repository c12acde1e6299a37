"""Which released packages a dataset is about, and whether they are here."""

from collections.abc import Iterable
from pathlib import Path

from evals.dataset.codebase import load_codebase, released_tree
from evals.dataset.layout import Layout
from evals.dataset.releases.shelf import FETCH, Shelf
from evals.errors import NotFetchedError
from evals.models.case import Case
from evals.models.release import Release

_NAMED = 3


def all_releases(cases: Iterable[Case], root: Path) -> list[Release]:
    """Everything that running and proving these cases takes, each once: packages, what they need, and their fixes."""
    found: dict[Release, None] = {}
    for case in cases:
        if case.tree is None:
            continue
        releases = load_codebase(Layout(root).codebase(str(case.labels.codebase))).releases
        found.update(dict.fromkeys(releases))
        if case.labels.fixed is not None:
            found[case.labels.fixed.release_of(releases[0].package)] = None
    return list(found)


def searched_releases(cases: Iterable[Case], root: Path) -> list[Release]:
    """The packages that agents search in these cases, each once."""
    names = dict.fromkeys(str(case.labels.codebase) for case in cases if case.tree is not None)
    sources = (load_codebase(Layout(root).codebase(name)).source for name in names)
    return [source for source in sources if source is not None]


def lay_out(cases: Iterable[Case], root: Path, cache: Path) -> None:
    """Make the folders that are searched, of releases that are here: recordings refer to the lines in them, and are
    read before any case is replayed. Raises NotFetchedError."""
    for name in dict.fromkeys(str(case.labels.codebase) for case in cases if case.tree is not None):
        released_tree(load_codebase(Layout(root).codebase(name)), cache)


def refuse_unfetched(cases: Iterable[Case], root: Path, cache: Path) -> None:
    """Raises NotFetchedError, with the command to run, unless the code of all these cases is here and whole; lays it
    out to be searched."""
    cases = tuple(cases)
    wanted = searched_releases(cases, root)
    missing = Shelf(cache).missing(wanted)
    if missing:
        named = ", ".join(map(str, missing[:_NAMED])) + (", …" if len(missing) > _NAMED else "")
        raise NotFetchedError(
            f"{len(missing)} of {len(wanted)} released packages are not here, or not whole ({named}); {FETCH} once, "
            "which needs an index; after that nothing needs a network"
        )
    lay_out(cases, root, cache)

"""Work that can be done while this process waits for others."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread


@contextmanager
def beside(work: Callable[[], object]) -> Iterator[None]:
    """`work` is done in a thread, and is over when the block is left, unless by an error. It is for what is wanted
    anyway afterwards, and kept: what it raises is raised then, to somebody who can say it."""

    def quietly() -> None:
        with suppress(Exception):
            work()

    thread = Thread(target=quietly, daemon=True)  # an interrupt does not wait for it
    thread.start()
    yield
    thread.join()

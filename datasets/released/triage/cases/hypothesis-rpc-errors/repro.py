"""An error that an RPC layer has chained by hand reaches the person who runs the test, circle or not."""

from hypothesis import Phase, given, settings, strategies


class RemoteError(Exception):
    """What the server said, rebuilt on this side with everything that was under way there."""


def rebuilt() -> RemoteError:
    outer, inner = RemoteError("stock is negative"), RemoteError("while rolling back")
    outer.__context__, inner.__context__ = inner, outer
    return outer


@settings(database=None, derandomize=True, max_examples=20, phases=[Phase.generate])
@given(strategies.integers())
def check(amount: int) -> None:
    if amount > 3:
        raise rebuilt()


seen: BaseException | None = None
try:
    check()
except Exception as error:  # whatever it is, it is looked at below
    seen = error

assert type(seen) is RemoteError, repr(seen)[:200]

"""What an address costs grows with its length, not with the square of it."""

import sys

import requests
from requests.exceptions import RequestException

calls = 0


def count(_frame: object, _event: str, _argument: object) -> None:
    global calls
    calls += 1


def steps(length: int) -> int:
    """How many functions are entered and left to refuse a host of `length` characters."""
    global calls
    calls = 0
    sys.setprofile(count)
    try:
        requests.Request("GET", "http://" + "\u0628" + "\u200c" * length + "\u0628\u0629/").prepare()
    except RequestException:
        pass
    finally:
        sys.setprofile(None)
    return calls


steps(10)
few, many = steps(100), steps(400)
assert many < 8 * few, f"four times the length, {few} steps became {many}"

"""Logins in addresses (`https://user:password@host/`): taken out before an address is stored, printed or logged."""

import ipaddress
import re
from typing import Final
from urllib.parse import unquote, urlsplit

_LOGIN: Final = re.compile(r"(?<=//)[^/?#\s]*@")


def without_login(address: str) -> str:
    """The address without user and password."""
    return _LOGIN.sub("", address, count=1)


def login_in(address: str) -> tuple[str, str] | None:
    """User and password in the address, percent signs decoded; None where there are none."""
    found = _LOGIN.search(address)
    if found is None:
        return None
    user, _, password = found[0].removesuffix("@").partition(":")
    return unquote(user), unquote(password)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the host, a name or an IP address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def host_of(address: str) -> str:
    """The host in the address; "" where there is none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""

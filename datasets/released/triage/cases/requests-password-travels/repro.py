"""A password that netrc keeps for one host is not sent to another."""

import os
import tempfile
from base64 import b64decode
from pathlib import Path

import requests


def credentials(url: str) -> bytes:
    prepared = session.prepare_request(requests.Request("GET", url))
    return b64decode(prepared.headers.get("Authorization", "").removeprefix("Basic "))


with tempfile.TemporaryDirectory() as folder:
    netrc = Path(folder) / "netrc"
    netrc.write_text("machine builds.example.com\nlogin robot\npassword swordfish\n")
    netrc.chmod(0o600)
    os.environ["NETRC"] = str(netrc)
    session = requests.Session()
    assert b"swordfish" in credentials("http://builds.example.com/latest")
    found = credentials("http://builds.example.com:@127.0.0.1:8000/latest")

assert b"swordfish" not in found, found

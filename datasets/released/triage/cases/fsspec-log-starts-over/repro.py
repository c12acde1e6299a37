"""Appending through a local cache keeps what the remote file already held."""

import tempfile

import fsspec

remote = fsspec.filesystem("memory")
remote.pipe_file("/journal/march.log", b"first line\n")

with tempfile.TemporaryDirectory() as folder:
    cached = fsspec.filesystem("simplecache", fs=remote, cache_storage=folder)
    with cached.open("/journal/march.log", "ab") as file:
        file.write(b"second line\n")

found = remote.cat_file("/journal/march.log")
assert found == b"first line\nsecond line\n", found

"""What is left out of a comparison does not decide how the rest of it is told."""

from deepdiff import DeepDiff

before = {"id": 7, "etag": "a1", "seen": 1, "rev": 4}
after = {"id": 8, "tag": "b2", "when": 2, "version": 5, "host": "x"}
paths = [f"root['{key}']" for key in ("etag", "seen", "rev", "tag", "when", "version", "host")]
found = DeepDiff(before, after, exclude_paths=paths)
assert found == {"values_changed": {"root['id']": {"new_value": 8, "old_value": 7}}}, found

"""YAML of a commit as plain data; what cannot be read is nothing, since a history tells what it lacks elsewhere."""

import yaml

from evals.dataset.located import LOADER


def plain_yaml(raw: bytes) -> object:
    """The document in `raw`; None where it is none."""
    try:
        return yaml.load(raw, Loader=LOADER)  # noqa: S506 - a safe loader, whichever there is
    except (yaml.YAMLError, ValueError, RecursionError):
        return None

"""The words of the field as frozen values: case, route specification, suite, trace, outcome, run."""

"""`evals dataset schema`: the JSON Schema of `case.yaml`, for editors."""

import json

from evals.errors import EXIT_OK
from evals.models.case import CaseFile


def schema() -> int:
    """Print it as it is committed beside the cases (`datasets/triage/case.schema.json`). Returns 0."""
    print(json.dumps(CaseFile.model_json_schema(by_alias=True), indent=2, sort_keys=True))
    return EXIT_OK

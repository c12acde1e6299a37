"""A cassette file as schema 1 spelled it: every body written out, whoever has said it before."""

import yaml

from evals.cassettes import cassette_format as vcr_file
from evals.cassettes.cassette_data import ORIGIN, Cassette, Interaction


class _Dumper(yaml.CSafeDumper):
    def ignore_aliases(self, data):
        return True


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None),
)


def in_schema_1(cassette: Cassette) -> str:
    """The text of the file these interactions had."""
    header = {"schema": 1, "count": len(cassette.interactions), "canonicalisation": 1}
    document = {"x_replay": header, "interactions": list(map(_entry, cassette.interactions)), "version": 1}
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=2**30)


def _entry(found: Interaction) -> dict[str, object]:
    headers = {"content-type": [found.content_type]}
    answer = vcr_file.json_text(found.response)
    body = vcr_file.json_text(found.request)
    meta = {"key": found.key, "agent": found.agent, "sample": found.sample, "model": found.model}
    meta |= {"recorded_at": found.recorded_at, "latency_ms": found.latency_ms, "usage": found.usage.model_dump()}
    meta |= {"response_sha256": vcr_file.digest(answer)}
    return {
        "request": {"method": found.method, "uri": ORIGIN + found.uri, "body": body, "headers": headers},
        "response": {
            "status": {"code": found.status, "message": "OK"},
            "headers": headers,
            "body": {"string": answer},
        },
        "x_meta": meta | ({"recorded_by": found.recorded_by} if found.recorded_by is not None else {}),
    }

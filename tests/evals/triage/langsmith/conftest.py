"""A LangSmith on loopback whose variables are set, and a checkout with a stored run."""

from tests.builders.langsmith_fixtures import checkout, service, there

__all__ = ["checkout", "service", "there"]

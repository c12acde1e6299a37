"""A bug-triage team of LLM agents: a GitHub issue goes in, a root cause, a report, a comment and a ticket come out."""

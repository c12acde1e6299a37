"""LangSmith, for teams that have it: our cases and runs there, what people say of them back here. Nothing leaves this
machine unless one of its commands is given, and nothing here is imported by any other.
"""

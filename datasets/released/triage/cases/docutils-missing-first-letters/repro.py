"""A name from a Mac, its accent a character of its own, takes no letter from the line below."""

from docutils.core import publish_string

SOURCE = """\
=================  ====================
file               note
=================  ====================
Cafe\u0301 Nord.pdf      two pages missing,
                   ask Hannelore
plan.pdf           final version,
                   signed
=================  ====================
"""

settings = {"output_encoding": "unicode", "_disable_config": True}
read = publish_string(SOURCE, writer="pseudoxml", settings_overrides=settings)

assert "ask Hannelore" in read, read

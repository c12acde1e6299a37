"""Footnotes without links back are well-formed."""

from xml.etree import ElementTree

from docutils.core import publish_parts

SETTINGS = {"footnote_backlinks": False, "xml_declaration": False}
body = publish_parts("A sentence [1]_.\n\n.. [1] And a note.\n", writer_name="html5", settings_overrides=SETTINGS)["body"]

ElementTree.fromstring(f"<div>{body}</div>")

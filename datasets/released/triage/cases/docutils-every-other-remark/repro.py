"""Whoever takes out the nodes that were found, takes out all of them."""

from docutils import nodes
from docutils.core import publish_doctree

document = publish_doctree(".. one\n\n.. two\n\n.. three\n\n.. four\n\nText.\n")
assert len(list(document.traverse(nodes.comment))) == 4
for remark in document.traverse(nodes.comment):
    remark.parent.remove(remark)

left = [remark.astext() for remark in document.traverse(nodes.comment)]
assert left == [], left

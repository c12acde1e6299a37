"""Changing the content of one page leaves alone the pages that were built from the same parts."""

from io import BytesIO

from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, NameObject, StreamObject


def letters() -> BytesIO:
    """Two pages, each with a list of contents that names the same stream."""
    writer = PdfWriter()
    shared = StreamObject()
    shared.set_data(b"BT (letterhead) Tj ET")
    reference = writer._add_object(shared)
    for _ in range(2):
        page = writer.add_blank_page(100, 100)
        page[NameObject("/Contents")] = ArrayObject([reference])
    out = BytesIO()
    writer.write(out)
    return out


writer = PdfWriter(clone_from=PdfReader(letters()))
first, second = writer.pages
first["/Contents"][0].get_object().set_data(b"BT (void) Tj ET")
found = second["/Contents"][0].get_object().get_data()
assert b"letterhead" in found, found

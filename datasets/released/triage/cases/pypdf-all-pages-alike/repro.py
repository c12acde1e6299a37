"""Pages that differ go on differing when they were scaled and the file was made smaller afterwards."""

from io import BytesIO

from pypdf import PdfReader, PdfWriter, Transformation
from pypdf.generic import NameObject, StreamObject


def two_pages() -> BytesIO:
    writer = PdfWriter()
    for text in (b"first", b"second"):
        content = StreamObject()
        content.set_data(b"BT (" + text + b") Tj ET")
        writer.add_blank_page(100, 100)[NameObject("/Contents")] = writer._add_object(content)
    out = BytesIO()
    writer.write(out)
    return out


writer = PdfWriter(clone_from=PdfReader(two_pages()))
for page in writer.pages:
    page.add_transformation(Transformation().scale(0.5))
writer.compress_identical_objects()
out = BytesIO()
writer.write(out)

first, second = (page["/Contents"].get_object().get_data() for page in PdfReader(out).pages)
assert b"first" in first, first
assert b"second" in second, second

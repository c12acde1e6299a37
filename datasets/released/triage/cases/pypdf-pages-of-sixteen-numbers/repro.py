"""Pages that have their size from the node above them keep it when they are appended to another document."""

import io

from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, NameObject, NumberObject

SIZE = [0, 0, 300, 400]

source = PdfWriter()
for _ in range(4):
    del source.add_blank_page(300, 400)["/MediaBox"]
shared = source._add_object(ArrayObject(map(NumberObject, SIZE)))
source._root_object["/Pages"][NameObject("/MediaBox")] = shared
file = io.BytesIO()
source.write(file)

merged = PdfWriter()
merged.append(PdfReader(file))
file = io.BytesIO()
merged.write(file)

boxes = [list(page["/MediaBox"].get_object()) for page in PdfReader(file).pages]
assert boxes == [SIZE] * 4, boxes

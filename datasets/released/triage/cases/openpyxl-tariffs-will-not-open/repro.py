"""A workbook with a name that belongs to one sheet opens in read-only mode."""

from io import BytesIO

from openpyxl import Workbook, load_workbook
from openpyxl.workbook.defined_name import DefinedName

book = Workbook()
book.active.title = "Tariffs"
book.active.append(["zone", 12.5])
book.active.defined_names["Zone"] = DefinedName("Zone", attr_text="Tariffs!$A$1")
out = BytesIO()
book.save(out)

again = load_workbook(BytesIO(out.getvalue()), read_only=True)
rows = list(again["Tariffs"].iter_rows(values_only=True))
assert rows == [("zone", 12.5)], rows

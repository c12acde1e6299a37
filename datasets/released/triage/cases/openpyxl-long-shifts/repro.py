"""A duration is a duration in whatever mode the workbook is read."""

from datetime import timedelta
from io import BytesIO

from openpyxl import Workbook, load_workbook

book = Workbook()
cell = book.active.cell(1, 1, timedelta(hours=25, minutes=30))
cell.number_format = "[h]:mm:ss"
out = BytesIO()
book.save(out)


def read(**mode: bool) -> object:
    return next(load_workbook(BytesIO(out.getvalue()), **mode).active.iter_rows(values_only=True))[0]


assert read() == timedelta(hours=25, minutes=30), read()
assert read(read_only=True) == timedelta(hours=25, minutes=30), read(read_only=True)

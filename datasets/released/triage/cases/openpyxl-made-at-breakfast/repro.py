"""A workbook says when it was made, not when the program was started."""

import time
from datetime import datetime

from openpyxl import Workbook

started = datetime.utcnow()
time.sleep(0.1)
before = datetime.utcnow()
made = Workbook().properties.created
assert made >= before, f"made at {made}, but it was not asked for before {before}"

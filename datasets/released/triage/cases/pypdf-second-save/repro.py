"""A value that a later save overwrote is not served from an earlier save, whatever was read before it."""

import zlib
from io import BytesIO

from pypdf import PdfReader

CATALOG, PAGES, TOTAL, DATE, STREAM_1, STREAM_2, TABLE_1, TABLE_2 = range(1, 9)


def packed(contents: dict[int, str]) -> bytes:
    """The body of an object stream and how it has to be announced."""
    index, body = "", ""
    for number, text in contents.items():
        index += f"{number} {len(body)} "
        body += text + " "
    data = zlib.compress((index + body).encode())
    head = f"/Type /ObjStm /N {len(contents)} /First {len(index)} /Filter /FlateDecode /Length {len(data)}"
    return f"<< {head} >>\nstream\n".encode() + data + b"\nendstream"


def table(rows: dict[int, tuple[int, int, int]], size: int, extra: str) -> bytes:
    index = " ".join(f"{number} 1" for number in sorted(rows))
    data = b"".join(
        bytes([kind]) + first.to_bytes(4, "big") + bytes([second]) for _, (kind, first, second) in sorted(rows.items())
    )
    head = f"/Type /XRef /Size {size} /W [1 4 1] /Index [{index}] /Root {CATALOG} 0 R /Length {len(data)} {extra}"
    return f"<< {head} >>\nstream\n".encode() + data + b"\nendstream"


def append(pdf: bytearray, number: int, body: bytes) -> int:
    at = len(pdf)
    pdf += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    return at


def document() -> bytes:
    """A form saved once with total 100, and once more, incrementally, with total 250."""
    pdf = bytearray(b"%PDF-1.7\n")
    form = f"<< /Type /Catalog /Pages {PAGES} 0 R /Total {TOTAL} 0 R /Date {DATE} 0 R >>"
    first = append(
        pdf,
        STREAM_1,
        packed({CATALOG: form, PAGES: "<< /Type /Pages /Kids [] /Count 0 >>", TOTAL: "(100)", DATE: "(1 March)"}),
    )
    rows = {CATALOG: (2, STREAM_1, 0), PAGES: (2, STREAM_1, 1), TOTAL: (2, STREAM_1, 2), DATE: (2, STREAM_1, 3)}
    at = len(pdf)
    append(pdf, TABLE_1, table({**rows, STREAM_1: (1, first, 0), TABLE_1: (1, at, 0)}, 9, ""))
    before = at
    pdf += f"startxref\n{at}\n%%EOF\n".encode()
    second = append(pdf, STREAM_2, packed({TOTAL: "(250)"}))
    at = len(pdf)
    append(
        pdf,
        TABLE_2,
        table({TOTAL: (2, STREAM_2, 0), STREAM_2: (1, second, 0), TABLE_2: (1, at, 0)}, 9, f"/Prev {before}"),
    )
    pdf += f"startxref\n{at}\n%%EOF\n".encode()
    return bytes(pdf)


reader = PdfReader(BytesIO(document()))
assert reader.get_object(TOTAL) == "250"

reader = PdfReader(BytesIO(document()))
assert reader.get_object(DATE) == "1 March"
found = reader.get_object(TOTAL)
assert found == "250", found

"""Rows of a table however it was saved."""

import csv
import json
import os
import threading

import pandas as pd
import pytest

from evals.errors import DatasetError
from evals.triage.dataset.imported_issue_files import BadRow, Row, read_rows
from tests.builders.dataset import write

ROWS = [{"id": "1", "text": "one\ntwo"}, {"id": "2", "text": "a \u2028 b, c"}]


def save(path):
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, ROWS[0])
            table.writeheader()
            table.writerows(ROWS)
        return path
    lines = [json.dumps(row, ensure_ascii=False) for row in ROWS]
    texts = {
        "lines.jsonl": "\n".join(lines) + "\n\n",
        "crlf.jsonl": "\r\n".join(lines),
        "bom.jsonl": "\ufeff" + "\n".join(lines),
        "list.json": json.dumps(ROWS, indent=1),
        "list.txt": json.dumps(ROWS),
        "lines.json": "\n".join(lines),
    }
    return write(path, texts[path.name])


@pytest.mark.parametrize(
    "name", ["lines.jsonl", "crlf.jsonl", "bom.jsonl", "list.json", "list.txt", "lines.json", "table.csv"]
)
def test_every_format_gives_the_same_rows(tmp_path, name):
    assert [row.fields for row in read_rows(save(tmp_path / name))] == ROWS


def test_a_line_that_is_no_object_is_a_bad_row_and_the_rest_goes_on(tmp_path):
    path = write(tmp_path / "rows.jsonl", '{"id": 1}\nnonsense\n[1]\n{"id": 2}\n')

    found = list(read_rows(path))

    assert [(type(row), row.where) for row in found] == [(Row, "1"), (BadRow, "2"), (BadRow, "3"), (Row, "4")]


def test_a_csv_row_of_another_width_is_a_bad_row(tmp_path):
    assert [type(row) for row in read_rows(write(tmp_path / "a.csv", "a,b\n1,2\n3\n4,5,6\n"))] == [Row, BadRow, BadRow]


def test_a_csv_cell_may_be_as_long_as_a_patch(tmp_path):
    [row] = read_rows(write(tmp_path / "a.csv", f"patch\n{'x' * 200_000}\n"))

    assert len(row.fields["patch"]) == 200_000


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ('[{"a": 1},\n', r"rows\.json:\d: is not JSON"),
        ("[" * 99_999, "is not JSON"),
    ],
)
def test_a_file_without_rows_is_one_clear_line(tmp_path, text, complaint):
    with pytest.raises(DatasetError, match=complaint):
        list(read_rows(write(tmp_path / "rows.json", text)))


def test_a_file_that_is_not_text_is_one_clear_line(tmp_path):
    (tmp_path / "rows.jsonl").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(DatasetError, match="cannot be read as UTF-8"):
        read_rows(tmp_path / "rows.jsonl")


def test_parquet_gives_its_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(pd, "read_parquet", lambda _: pd.DataFrame([{"id": "1", "files": ["a"]}, {"id": "2"}]))
    path = write(tmp_path / "rows.parquet", "")

    assert [row.fields["id"] for row in read_rows(path)] == ["1", "2"]


def test_parquet_without_a_reader_says_what_to_install(tmp_path, monkeypatch):
    def without_a_reader(_):
        raise ImportError("no engine")

    monkeypatch.setattr(pd, "read_parquet", without_a_reader)

    with pytest.raises(DatasetError, match="pyarrow"):
        read_rows(write(tmp_path / "rows.parquet", ""))


def test_a_pipe_can_be_read_like_a_file(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    threading.Thread(target=lambda: pipe.write_text('{"id": 1}\n', encoding="utf-8"), daemon=True).start()

    assert list(read_rows(pipe)) == [Row("1", {"id": 1})]

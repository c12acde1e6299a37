"""Files of a folder appear whole or not at all."""

from evals.atomic_files import write_files


def test_a_file_that_is_being_written_does_not_show(tmp_path):
    shown = []

    def pieces():
        yield "half of it, "
        shown.extend(path.name for path in tmp_path.iterdir() if not path.name.startswith("."))
        yield "and all"

    write_files(tmp_path, {"run.json": pieces()})

    assert shown == []
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("run.json", "half of it, and all")]

"""What a run leaves behind."""

from evals.report.run_files import read_run, write_report
from tests.builders.run import a_case_info, a_run, a_variant_info
from tests.builders.secret import PLANTED

KEY = PLANTED["anthropic_key"]


def test_no_file_of_a_run_repeats_a_secret(tmp_path):
    told = {
        "cases": (a_case_info(body=f"It says {KEY}."),),
        "variants": (a_variant_info("v2", f"Use {KEY}."), a_variant_info("v3")),
    }
    write_report(a_run().model_copy(update=told), tmp_path)

    assert not any(KEY in path.read_text() for path in tmp_path.iterdir())
    assert read_run(tmp_path / "run.json").cases[0].title == a_case_info().title

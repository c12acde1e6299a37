"""A run dealt out over several processes, and put together: the same bytes, the same exit code, or one clear line."""

import json

import pytest
import yaml

from tests.builders.at_once import evals_at_once
from tests.builders.checkout import evals

pytestmark = pytest.mark.slow

FILES = ("run.json", "index.html", "summary.md", "junit.xml")


def shard(checkout, which, *options):
    """One shard, run as on a machine that has no results yet."""
    path = f"shards/{which.replace('/', '-of-')}.json"
    return evals(checkout, "run", "tiny.yaml", "--fresh", "--shard", which, "--out", path, *options), path


def merged(checkout, *paths, out="merged"):
    return evals(checkout, "gate", "--shards", *paths, "--out", out)


def written(checkout, folder):
    return {name: (checkout / folder / name).read_bytes() for name in FILES}


@pytest.mark.parametrize("of", [1, 2, 3])
def test_any_number_of_shards_gives_the_bytes_and_the_verdict_of_the_whole_run(checkout, of):
    """Three shards of two cases: one of them is empty. They are named in any order."""
    whole = evals(checkout, "run", "tiny.yaml", "--out", "whole")

    paths = [shard(checkout, f"{number}/{of}")[1] for number in range(1, of + 1)]
    said = merged(checkout, *reversed(paths))

    assert (said.code, said.err) == (whole.code, "") == (0, ""), said.out
    assert written(checkout, "merged") == written(checkout, "whole")
    assert f"4 trials of {of} shards. Report: merged/index.html" in said.out


def test_options_are_kept_in_the_shards_and_make_the_same_run(checkout):
    options = ("--set", "guards=prd", "--case", "wrong-sum")
    whole = evals(checkout, "run", "tiny.yaml", *options, "--out", "whole")

    paths = [shard(checkout, f"{number}/2", *options)[1] for number in (1, 2)]

    assert merged(checkout, *paths).code == whole.code == 3
    assert written(checkout, "merged") == written(checkout, "whole")


def test_a_shard_is_not_judged_and_says_what_to_do_with_it(checkout):
    said, path = shard(checkout, "1/2")

    assert (said.code, said.err) == (0, "")
    assert "shard 1 of 2 of tiny: 2 trials in" in said.out
    assert said.out.endswith(f"`evals gate --shards` judges them with the others: {path}\n")
    assert not (checkout / "merged").exists()


def test_a_failed_trial_travels_in_its_shard_and_is_seen_by_the_gate(checkout):
    (checkout / "cassettes" / "wrong-sum.yaml").write_text("cut")
    whole = evals(checkout, "run", "tiny.yaml", "--fresh", "--out", "whole")

    said = [shard(checkout, f"{number}/2") for number in (1, 2)]

    assert "2 failed" in "".join(one.out for one, _ in said)
    assert merged(checkout, *(path for _, path in said)).code == whole.code == 3
    assert written(checkout, "merged") == written(checkout, "whole")


def test_a_trial_out_of_time_is_a_failed_trial_of_its_shard(checkout):
    said, _ = shard(checkout, "1/2", "--set", "trial_timeout=0.01")

    assert (said.code, "2 failed" in said.out) == (0, True)


def test_a_shard_of_a_cassette_that_has_changed_since_cannot_be_judged(checkout):
    paths = [shard(checkout, f"{number}/2")[1] for number in (1, 2)]
    with (checkout / "cassettes" / "wrong-sum.yaml").open("a") as cassette:
        cassette.write("\n")

    said = merged(checkout, *paths)

    assert (said.code, said.err) == (
        3,
        f"evals: {paths[0]}: made with other cassettes than are here; make it anew\n",
    )
    assert not (checkout / "merged").exists()


def test_an_opened_holdout_is_counted_once_at_the_merge(checkout):
    labels = checkout / "datasets" / "triage" / "cases" / "wrong-sum" / "case.yaml"
    labels.write_text(yaml.safe_dump(yaml.safe_load(labels.read_text()) | {"split": "holdout"}))
    counted = checkout / "datasets" / "holdout.yaml"

    paths = [shard(checkout, f"{number}/2", "--open-holdout", "a look")[1] for number in (1, 2)]
    before = counted.exists()
    merged(checkout, *paths)

    assert (before, counted.read_text().count("why: a look")) == (False, 1)
    assert json.loads((checkout / "merged" / "run.json").read_text())["scope"]["openings"] == 1


WRONG = {
    "shard": (("run", "tiny.yaml", "--shard", "3/2"), "--shard 3/2: write NUMBER/OF"),
    "watch": (("run", "tiny.yaml", "--shard", "1/2", "--watch"), "leave one of them out"),
    "missing": (("gate", "--shards", "nosuch.json"), "nosuch.json: cannot be read"),
    "no shard": (("gate", "--shards", "mine.md"), "mine.md: not a whole shard"),
    "scheduler": (("run", "tiny.yaml", "--scheduler", "ray://x"), "write local or dask://HOST:PORT"),
    "blank reason": (("run", "tiny.yaml", "--shard", "1/2", "--open-holdout", " "), "needs a reason"),
}


@pytest.mark.parametrize(("words", "cause"), WRONG.values(), ids=WRONG.keys())
def test_wrong_use_is_two_and_one_line(checkout, words, cause):
    said = evals(checkout, *words)

    assert (said.code, said.err.count("\n")) == (2, 1)
    assert cause in said.err


def test_a_shard_is_quiet_where_nobody_watches(checkout):
    """No progress bar in a log: nothing on stderr, one line on stdout."""
    process = evals_at_once(checkout, "run", "tiny.yaml", "--shard", "2/2", "--out", "two.json")
    out, err = process.communicate(timeout=300)

    assert (process.returncode, err, out.count("\n")) == (0, "", 1)

"""Who answers for what looks like a secret, and what a wrong or old list says."""

import pytest

from evals.cassettes.cassette_files import load, merge_write
from evals.errors import ConfigurationError, SecretFoundError
from evals.secret_filter import FILE, NOTHING, AllowedSecrets, allowed_beside, digest_of, seen_in
from tests.builders.interaction import a_cassette, an_interaction
from tests.builders.secret import PLANTED, an_entry

RANDOM = "q7Rk2Zp9Xw4Lm8Vt3Ny6Bc1Hd5Jf0GsA"
DIGEST = digest_of(RANDOM)


def a_list(root, sha256=DIGEST, rule="high_entropy", who="jane", more=""):
    (root / "cassettes").mkdir(exist_ok=True)
    fields = f'sha256 = "{sha256}"\nrule = "{rule}"\nwhy = "a vector"\nwho = "{who}"\ndate = 2026-11-22\n{more}'
    (root / "cassettes" / FILE).write_text(f"[[allowed]]\n{fields}")


@pytest.mark.parametrize("place", ["cassettes/c.yaml", ".cache/recording/c.yaml"])
def test_an_allowed_string_can_be_written_and_read_again_committed_or_staged(tmp_path, place):
    a_list(tmp_path)

    merge_write(tmp_path / place, [an_interaction(f"see {RANDOM}")])

    assert len(load(tmp_path / place).interactions) == 1


def test_what_is_allowed_no_more_is_refused_on_reading(tmp_path):
    a_list(tmp_path)
    merge_write(tmp_path / "cassettes" / "c.yaml", [an_interaction(f"see {RANDOM}")])
    (tmp_path / "cassettes" / FILE).unlink()

    with pytest.raises(SecretFoundError, match="high_entropy"):
        load(tmp_path / "cassettes" / "c.yaml")


def test_the_digest_in_the_refusal_is_the_one_to_allow(tmp_path):
    (tmp_path / "cassettes").mkdir()
    path = tmp_path / "cassettes" / "c.yaml"
    with pytest.raises(SecretFoundError) as caught:
        merge_write(path, [an_interaction(PLANTED["url_password"])])
    named = str(caught.value).partition("sha256 ")[2][:64]

    a_list(tmp_path, sha256=named, rule="url_password")

    assert len(merge_write(path, [an_interaction(PLANTED["url_password"])]).interactions) == 1


def test_without_a_list_nothing_is_allowed(tmp_path):
    assert allowed_beside(tmp_path / "cassettes" / "c.yaml") == NOTHING


def test_an_entry_that_nothing_needs_any_more_is_stale():
    used, unused = an_entry(RANDOM), an_entry("Xw4Lm8Vt3Ny6Bc1Hd5Jf0GsAq7Rk2Zp9")
    cassette = a_cassette(an_interaction("clean"), an_interaction(f"see {RANDOM}"))

    assert AllowedSecrets(allowed=(used, unused)).stale(seen_in(cassette)) == (unused,)


WRONG = {
    "no digest": ({"sha256": "abc"}, r"allowed\.0\.sha256"),
    "no such rule": ({"rule": "nonsense"}, "there is no rule 'nonsense'"),
    "nobody": ({"who": ""}, r"allowed\.0\.who"),
    "a member too many": ({"more": "x = 1\n"}, r"allowed\.0\.x"),
    "not TOML": ({"more": "[[["}, "not TOML"),
}


@pytest.mark.parametrize(("fields", "cause"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_list_is_said_in_one_line(tmp_path, fields, cause):
    a_list(tmp_path, **fields)

    with pytest.raises(ConfigurationError, match=cause) as caught:
        load_one(tmp_path)

    assert "\n" not in str(caught.value)


def load_one(root):
    merge_write(root / "cassettes" / "c.yaml", [an_interaction()])

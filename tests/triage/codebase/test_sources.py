"""What `--repo` and `--path` name: checkouts, and folders of them."""

import pytest

from triage.codebase.source_files import read_sources, sources_of
from triage.errors import InputError


@pytest.fixture
def repos(tmp_path):
    for name in ("front/shop", "front/old", "back/api"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "cart.ts").write_text("function total() {\n}\n")
    (tmp_path / "front/link").symlink_to(tmp_path / "back")
    return [tmp_path / "front", tmp_path / "back"]


def test_paths_of_a_folder_are_relative_to_the_checkout(repos):
    texts, _ = read_sources(sources_of(repos[:1], ["./shop/"]))

    assert list(texts) == ["shop/cart.ts"]


def test_with_several_checkouts_paths_begin_with_their_names(repos):
    texts, said = read_sources(sources_of(repos, ["front:shop"]))

    assert sorted(texts) == ["back/api/cart.ts", "front/shop/cart.ts"]
    assert all(str(repo) in said for repo in repos)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("none", "--path none: does not exist; give a folder relative to"),
        ("../back", "--path ../back: is outside the repository"),
        ("/etc", "--path /etc: is outside the repository"),
        (".git", "--path .git: is outside the repository"),
        ("link", "is a link; give the folder that it leads to"),
        ("link/api", "is a link; give the folder that it leads to"),
        ("shop/cart.ts", "is not a folder; give the folder that holds it"),
        ("a\nb", "cannot stand in a path of a finding"),
    ],
)
def test_a_wrong_path_is_one_line(path, said, repos):
    with pytest.raises(InputError) as error:
        sources_of(repos[:1], [path])

    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_path_among_several_checkouts_names_its_checkout(repos):
    with pytest.raises(InputError, match="with several checkouts write NAME:FOLDER; NAME is one of front, back"):
        sources_of(repos, ["shop"])


def test_two_checkouts_of_one_name_are_refused(repos, tmp_path):
    (tmp_path / "more/Front").mkdir(parents=True)

    with pytest.raises(InputError, match="have one name: paths could not tell them apart"):
        sources_of([repos[0], tmp_path / "more/Front"])

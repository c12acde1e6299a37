"""Loading: what a case is made of, and what is refused with file and line."""

import pytest

from evals.errors import DatasetError
from evals.triage.dataset.dataset_layout import Layout
from evals.triage.dataset.load_cases import load_cases
from tests.builders.dataset import CART, a_case_file, a_codebase, a_dataset, write


def test_the_first_line_of_an_issue_is_its_title(tmp_path):
    case = load_cases(a_dataset(tmp_path, issue="# It broke\n\nBadly.\n\n- and often\n"))["wrong-total"]

    assert (case.title, case.body) == ("It broke", "Badly.\n\n- and often")


def test_a_case_links_to_a_host_that_cannot_exist(tmp_path):
    case = load_cases(a_dataset(tmp_path))["wrong-total"]

    assert case.url.startswith("https://github.invalid/example/shop/issues/")


def test_a_new_case_renumbers_nobody(tmp_path):
    alone = load_cases(a_dataset(tmp_path / "a"))["wrong-total"]

    assert load_cases(a_dataset(tmp_path / "b", a_case_file(), a_case_file(id="ant")))["wrong-total"].url == alone.url


def test_an_empty_dataset_is_an_error(tmp_path):
    with pytest.raises(DatasetError, match="no cases"):
        load_cases(tmp_path)


def _change_issue(root):
    path = Layout(root).issue("wrong-total")
    path.write_text(path.read_text() + "\nEdit: still there.\n")


def _change_labels(root):
    path = Layout(root).labels("wrong-total")
    path.write_text(path.read_text().replace("severity: HIGH", "severity: LOW"))


def _change_patch(root):
    path = Layout(root).patch("wrong-total")
    path.write_text(path.read_text().replace("[1:]", "[:-1]"))


def _change_code(root):
    write(Layout(root).codebase("shop") / "shop" / "cart.py", CART + "\n")


def _change_policy(root):
    path = Layout(root).policy
    path.write_text(path.read_text().replace("hard_max: 10", "hard_max: 9"))


@pytest.mark.parametrize("change", [_change_issue, _change_labels, _change_patch, _change_code, _change_policy])
def test_the_digest_covers_all_a_case_rests_on(tmp_path, change):
    root = a_dataset(tmp_path)
    before = load_cases(root)["wrong-total"].digest
    change(root)

    assert load_cases(root)["wrong-total"].digest != before


def test_caches_left_in_a_codebase_change_no_digest(tmp_path):
    root = a_dataset(tmp_path)
    before = load_cases(root)["wrong-total"].digest
    write(Layout(root).codebase("shop") / "shop" / "__pycache__" / "cart.pyc", "x")

    assert load_cases(root)["wrong-total"].digest == before


@pytest.mark.parametrize(
    ("replace", "by", "complaint"),
    [
        ("severity: HIGH", "severity: AWFUL", r"case\.yaml:6: severity: "),
        ("severity: HIGH", "severity: HIGH\nseverity: LOW", r"case\.yaml:7: the key 'severity' stands here twice"),
        ("split: tune", "split: tune\ncolour: red", r"case\.yaml:6: colour: "),
        ("split: tune\n", "", r"case\.yaml:2: split: Field required"),
        ("codebase: shop", "codebase: shed", r"case\.yaml:3: there is no codebase 'shed'"),
        ("id: wrong-total", "id: right-total", r"case\.yaml:2: id is 'right-total'"),
        ("category: code", "category: [code", r"case\.yaml:\d+: is not YAML"),
        ("target: 4", "target: '4'", r"case\.yaml:\d+: route\.0\.target: Input should be a valid integer"),
        (
            "hard: true",
            "hard: 'yes'",
            r"case\.yaml:\d+: route\.0\.constraints\.0\.hard: Input should be a valid boolean",
        ),
        ("root_cause: ", "root_cause: true #", r"case\.yaml:8: root_cause: Input should be a valid string"),
    ],
)
def test_a_wrong_label_is_named_with_file_and_line(tmp_path, replace, by, complaint):
    root = a_dataset(tmp_path)
    path = Layout(root).labels("wrong-total")
    path.write_text(path.read_text().replace(replace, by, 1))

    with pytest.raises(DatasetError, match=complaint):
        load_cases(root)


def test_a_wrong_value_deep_inside_is_named_at_its_own_line(tmp_path):
    root = a_dataset(tmp_path)
    path = Layout(root).labels("wrong-total")
    text = path.read_text().replace("type: precedence", "type: predecence", 1)
    path.write_text(text)
    line = text[: text.index("predecence")].count("\n") + 1

    with pytest.raises(DatasetError, match=rf"case\.yaml:{line}: route\.0\.constraints\.2\.type: "):
        load_cases(root)


def test_a_missing_issue_is_one_clear_line(tmp_path):
    root = a_dataset(tmp_path)
    Layout(root).issue("wrong-total").unlink()

    with pytest.raises(DatasetError, match=r"issue\.md: is missing"):
        load_cases(root)


def test_a_codebase_without_a_description_is_an_error(tmp_path):
    root = a_dataset(tmp_path)
    (a_codebase(root) / "codebase.yaml").unlink()

    with pytest.raises(DatasetError, match=r"codebase\.yaml: is missing"):
        load_cases(root)


LAUGHS = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'ha'}]\n" for n in range(12))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LAUGHS, "6: more than 100,000 values once its aliases are unfolded"),
        ("id: " + "[" * 3_000 + "]" * 3_000, "1: nested more than 100 levels deep"),
        ("id: " + "[" * 100_000, "1: nested more than 100 levels deep"),
        ("".join(" " * level + "a:\n" for level in range(3_000)), "101: nested more than 100 levels deep"),
    ],
    ids=["a billion laughs", "nested", "never closed", "indented"],
)
def test_labels_without_end_are_one_line(tmp_path, text, words):
    root = a_dataset(tmp_path)
    place = write(Layout(root).labels("wrong-total"), text)

    with pytest.raises(DatasetError) as caught:
        load_cases(root)

    assert str(caught.value) == f"{place}:{words}; write it plainly"

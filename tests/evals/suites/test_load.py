"""Suites: whatever is wrong with one is said in one line that names the file."""

import pytest
import yaml

from evals.application_pack import load_pack
from evals.errors import CannotJudgeError, ConfigurationError
from evals.models.suite import Selection
from evals.suites.suite_files import altered, names, read_suite, select
from evals.triage.variant_graph import settings_of
from tests.builders.case import a_case
from tests.builders.checkout import a_suite
from tests.builders.dataset import write

TWICE = [{"name": "old", "prompt": "v2"}, {"name": "old", "prompt": "v3"}]
WRONG = {
    "forced choices": (
        {"variants": [{"name": "old", "prompt": "v2", "forced": {"2": "writer"}}, {"name": "new", "prompt": "v3"}]},
        "variant old: `forced` is set by --decisive and --forced; leave it out",
    ),
    "candidate": ({"candidate": "nobody"}, "candidate 'nobody' is no variant"),
    "reference": ({"reference": "nobody"}, "reference 'nobody' is no variant"),
    "same": ({"reference": "new"}, "is candidate and reference"),
    "twice": ({"variants": TWICE}, "two variants share a name"),
    "named as blessed": (
        {"variants": [{"name": "old (baseline)", "prompt": "v2"}, {"name": "old", "prompt": "v3"}]},
        "a variant is called 'old (baseline)': use a name, and one without ' (baseline)'",
    ),
    "no name": ({"variants": [{"name": "", "prompt": "v2"}]}, "a variant is called ''"),
    "no variants": ({"variants": []}, "variants"),
    "no decision points": ({"points": {}}, "points"),
    "variants a number": ({"variants": 3}, "variants"),
    "variants of text": ({"variants": ["v2"]}, "variants"),
    "models a list": ({"models": ["m"]}, "models"),
    "models of a variant": ({"variants": [{"name": "old", "prompt": "v2", "models": "m"}]}, "variants.0.models"),
    "unknown key": ({"cadidate": "new"}, "cadidate"),
    "nobody counted": ({"models": {"default": "m", "fallback": "m", "tokens_counted_by": ""}}, "tokens_counted_by"),
    "name a way out": ({"name": "../../outside"}, "name '../../outside' is to be part of a file's name"),
    "name absolute": ({"name": "/tmp/x"}, "name '/tmp/x' is to be part"),
    "name hidden": ({"name": ".."}, "name '..' is to be part"),
    "name of two lines": ({"name": "a\nb"}, "name 'a\\nb' is to be part"),
    "name empty": ({"name": ""}, "name '' is to be part"),
    "true for a number": ({"samples": True}, "samples: Input should be a valid integer"),
    "text for a number": ({"samples": "3"}, "samples: Input should be a valid integer"),
    "bad fraction": ({"gate": {"coverage_floor": 2}}, "gate.coverage_floor"),
}


@pytest.mark.parametrize(("changes", "words"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_suite_is_one_line_with_file_and_place(tmp_path, changes, words):
    path = a_suite(tmp_path, **changes)

    with pytest.raises(ConfigurationError) as caught:
        read_suite(str(path))

    said = str(caught.value)
    assert said.startswith(f"{path}: ")
    assert words in said
    assert "\n" not in said


LAUGHS = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'ha'}]\n" for n in range(12))
UNREADABLE = {
    "a key twice": ("name: a\ncases: {}\nname: b\n", 3, "the key 'name' stands here twice"),
    "a key twice below": ("cases:\n  ids: [a]\n  ids: [b]\n", 3, "the key 'ids' stands here twice"),
    "nested": ("name: " + "[" * 3_000 + "]" * 3_000, 1, "nested more than 100 levels deep"),
    "nested lists": ("name:\n  " + "- " * 3_000 + "a", 2, "nested more than 100 levels deep"),
    "a billion laughs": (LAUGHS, 6, "more than 100,000 values"),
    "an alias in itself": ("a: &a [*a]\n", 1, "the alias *a stands for nothing that ends before it"),
}


@pytest.mark.parametrize(("text", "line", "words"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_a_suite_that_says_a_thing_twice_or_without_end_is_one_line(tmp_path, text, line, words):
    with pytest.raises(ConfigurationError) as caught:
        read_suite(str(write(tmp_path / "odd.yaml", text)))

    assert str(caught.value).startswith(f"{tmp_path / 'odd.yaml'}:{line}: {words}")


@pytest.mark.parametrize("name", ["v3@HEAD v3", "v2 mine.md", "größe-2+none+max4", "a_b"])
def test_a_suite_may_be_called_what_a_comparison_calls_it(tmp_path, name):
    assert read_suite(str(a_suite(tmp_path, name=name))).name == name


@pytest.mark.parametrize("content", [b"- a list", b"{", b"\xff\xfe", b""])
def test_a_file_that_is_no_suite_is_refused(tmp_path, content):
    path = tmp_path / "odd.yaml"
    path.write_bytes(content)

    with pytest.raises(ConfigurationError):
        read_suite(str(path))


def test_an_unknown_suite_names_the_known_ones():
    with pytest.raises(
        ConfigurationError,
        match="no suite 'nosuch': name one of guards, judged, models, prompts, released, same-day, samples, "
        "supervisors, thresholds",
    ):
        read_suite("nosuch")


def test_a_suite_that_ends_in_yml_is_named_with_what_to_call_it(tmp_path):
    (tmp_path / "evals.toml").write_text('suites = "suites"\n', encoding="utf-8")
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "mine.yml").write_text("variants: []", encoding="utf-8")

    with pytest.raises(ConfigurationError, match=r"mine\.yml: is not read, .* call it mine\.yaml"):
        read_suite("mine", tmp_path)


@pytest.mark.parametrize("name", names())
def test_every_shipped_suite_loads(name):
    assert read_suite(name).name == name


@pytest.mark.parametrize("name", [name for name in names() if read_suite(name).models.default == "claude"])
def test_a_suite_of_answers_given_without_an_endpoint_says_who_counted_the_tokens(name):
    assert read_suite(name).models.tokens_counted_by == "cl100k_base"


def test_who_counted_the_tokens_is_no_setting_of_a_request():
    models = read_suite("prompts").models

    assert settings_of(models) == settings_of(models.model_copy(update={"tokens_counted_by": None}))


def test_a_variant_takes_the_models_of_the_suite_where_it_names_none(tmp_path):
    variants = [{"name": "old", "prompt": "v2", "models": {"default": "big"}}, {"name": "new", "prompt": "v3"}]

    old, new = read_suite(str(a_suite(tmp_path, variants=variants))).variants

    assert (old.models.default, old.models.fallback, new.models.default) == ("big", "m", "m")


CASES = {name: a_case(name, tags=[tag]) for name, tag in (("b", "x"), ("a", "x"), ("c", "y"))}


def test_cases_come_in_order_of_id_whatever_the_disk_says():
    assert [case.id for case in select(CASES, Selection(tags=("x",)))] == ["a", "b"]


def test_no_case_is_not_a_green_run():
    with pytest.raises(CannotJudgeError, match="no case is selected"):
        select(CASES, Selection(tags=("nobody has this",)))


@pytest.mark.parametrize(("only", "words"), [(("zz",), "no such case: zz"), (("c",), "not in this suite: c")])
def test_a_case_that_cannot_be_run_is_named(only, words):
    with pytest.raises(ConfigurationError, match=words):
        select(CASES, Selection(tags=("x",)), only)


def test_changed_variants_carry_the_change_in_their_names(tmp_path):
    """No baseline and no report can mistake them for the suite's own."""
    suite = altered(read_suite(str(a_suite(tmp_path))), {"guards": "none", "max_iterations": 4}, load_pack())

    assert (suite.candidate, suite.reference) == ("new+none+max4", "old+none+max4")
    assert {(v.guards, v.max_iterations) for v in suite.variants} == {("none", 4)}


def test_a_key_that_is_no_text_is_one_line(tmp_path):
    path = a_suite(tmp_path)
    path.write_text(path.read_text() + "2026-11-22: a date\n")

    with pytest.raises(ConfigurationError, match=r"tiny\.yaml: a key that is no text; quote it"):
        read_suite(str(path))


def test_the_last_variant_is_judged_against_the_first_and_one_alone_against_its_baseline(tmp_path):
    variants = [{"name": "v3", "prompt": "v3"}, {"name": "v5", "prompt": "v5"}]
    two = read_suite(str(write(tmp_path / "two.yaml", yaml.safe_dump({"variants": variants}))))
    one = read_suite(str(write(tmp_path / "one.yaml", yaml.safe_dump({"variants": variants[:1]}))))

    assert (two.name, two.candidate, two.reference) == ("two", "v5", "v3")
    assert (one.candidate, one.reference) == ("v3", "v3")


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ({"gaurds": "prd"}, "variant old: gaurds: no such setting; did you mean 'guards'?"),
        ({"guards": 3}, "variant old: guards: Input should be a valid string"),
        ({"rules": {"low": 1}}, "variant old: rules.low: Extra inputs are not permitted"),
        ({"max_iterations": True}, "variant old: max_iterations: Input should be a valid integer"),
    ],
)
def test_a_wrong_setting_of_a_variant_is_named(tmp_path, setting, says):
    path = a_suite(tmp_path, variants=[{"name": "old", "prompt": "v2", **setting}], candidate="old", reference="old")

    with pytest.raises(ConfigurationError) as caught:
        read_suite(str(path))

    assert str(caught.value) == f"{path}: {says}"


def test_a_variant_has_every_setting_of_triage_in_one_order_however_it_was_written(tmp_path):
    written = [{"name": "a", "guards": "prd", "prompt": "v2"}, {"prompt": "v2", "guards": "prd", "name": "a"}]
    one, other = (read_suite(str(a_suite(tmp_path, variants=[each], candidate="a", reference="a"))) for each in written)

    assert one.variants[0].model_dump_json() == other.variants[0].model_dump_json()
    assert one.variants[0].settings["max_iterations"] == 10

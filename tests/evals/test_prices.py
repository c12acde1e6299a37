"""The price table: dated, exact about what it names, silent about what it does not."""

from datetime import date

import pytest

from evals.errors import ConfigurationError
from evals.prices import ModelPrice, PriceTable, load_prices
from tests.local_llm.weights import KNOWN

A_TABLE = "as_of: 2026-01-31\nmodels:\n  small: {usd_per_million_input: 2, usd_per_million_output: 8}\n"


def a_table(folder, text=A_TABLE):
    path = folder / "prices.yaml"
    path.write_text(text)
    return path


def test_a_million_tokens_each_way_cost_what_the_table_says():
    table = PriceTable(
        as_of=date(2026, 1, 31), models={"small": ModelPrice(usd_per_million_input=2, usd_per_million_output=8)}
    )

    assert table.cost("small", 1_000_000, 500_000) == 6.0


@pytest.mark.parametrize("weights", KNOWN.values(), ids=KNOWN.keys())
def test_a_model_served_on_this_machine_is_free_because_the_table_says_so(weights):
    assert load_prices().cost(weights.alias, 1000, 1000) == 0.0


def test_another_table_takes_the_place_of_the_shipped_one(tmp_path):
    table = load_prices(a_table(tmp_path))

    assert (table.as_of, table.cost("small", 500_000, 0), table.cost("gpt-4o", 1, 1)) == (date(2026, 1, 31), 1.0, None)


WRONG = {
    "no mapping": ("[]", "the table: "),
    "no date": ("models: {}\n", "as_of: Field required"),
    "a negative price": (A_TABLE.replace("8}", "-8}"), "models.small.usd_per_million_output: "),
    "a word it does not know": (A_TABLE + "currency: EUR\n", "currency: Extra inputs"),
    "no YAML": ("models: {", "not YAML"),
}


@pytest.mark.parametrize(("text", "cause"), WRONG.values(), ids=WRONG.keys())
def test_a_file_that_is_no_price_table_is_named_with_its_cause(tmp_path, text, cause):
    path = a_table(tmp_path, text)

    with pytest.raises(ConfigurationError, match=f"{path}: .*{cause}"):
        load_prices(path)


def test_a_table_that_is_not_there_is_a_wrong_option(tmp_path):
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load_prices(tmp_path / "none.yaml")

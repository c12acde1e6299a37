"""Prices per model from a dated table; a model that is not in it costs "unknown"."""

from datetime import date
from pathlib import Path
from typing import Annotated, Final

import yaml
from pydantic import Field, ValidationError

from evals.errors import ConfigurationError
from evals.models.base import Closed

SHIPPED: Final = Path(__file__).with_name("prices.yaml")
_MILLION: Final = 1_000_000

Usd = Annotated[float, Field(ge=0)]


class ModelPrice(Closed):
    """What one model's tokens cost."""

    usd_per_million_input: Usd
    usd_per_million_output: Usd


class PriceTable(Closed):
    """Prices by the model's name as requests spell it; `as_of` is the day they were true."""

    as_of: date
    models: dict[str, ModelPrice]

    def cost(self, model: str, input_tokens: float, output_tokens: float) -> float | None:
        """USD for that many tokens; None where the model has no price. Tokens may be means, hence fractions."""
        price = self.models.get(model)
        if price is None:
            return None
        spent = input_tokens * price.usd_per_million_input + output_tokens * price.usd_per_million_output
        return spent / _MILLION


def load_prices(path: Path | None = None) -> PriceTable:
    """The table in the file at `path`; the shipped one if none is named.

    Raises:
        ConfigurationError: there is no such file, or it is no price table.
    """
    source = path or SHIPPED
    try:
        return PriceTable.model_validate(yaml.safe_load(source.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"--prices {source}: cannot be read; name a table like {SHIPPED.name}") from error
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{source}: not YAML: {str(error).splitlines()[0]}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the table"
        raise ConfigurationError(f"{source}: {where}: {first['msg']}; see {SHIPPED.name} for the shape") from error

"""What a model is told an answer has to look like."""

import json
from functools import lru_cache
from typing import Any

from pydantic import BaseModel


class Form(BaseModel):
    """A model whose JSON schema goes out with requests. The SDK asks for it at each of them, LangChain for each chain,
    and pydantic would write it anew every time, a third of a millisecond; a copy takes a hundredth.
    """

    @classmethod
    def model_json_schema(cls, *arguments: Any, **options: Any) -> dict[str, Any]:  # noqa: ANN401 - pydantic's own
        """As pydantic's; a copy, since the SDK changes what it gets."""
        schema: dict[str, Any] = json.loads(_schema_text(cls, arguments, tuple(options.items())))
        return schema


@lru_cache(256)
def _schema_text(form: type[Form], arguments: tuple[Any, ...], options: tuple[tuple[str, Any], ...]) -> str:
    return json.dumps(super(Form, form).model_json_schema(*arguments, **dict(options)))

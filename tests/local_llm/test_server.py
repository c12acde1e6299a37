"""The server's settings make equal requests give equal answers, and its template asks for tool calls."""

from pathlib import Path
from types import SimpleNamespace

import jinja2
import pytest

from evals.errors import RecordingError
from evals.recording.endpoint import is_healthy
from tests.builders.ports import a_reserved_port
from tests.local_llm.llm_server import CHATML, Serving, parameters, wait_until_healthy

SEARCH = {"type": "function", "function": {"name": "tavily_search", "parameters": {}}}
SYSTEM = {"role": "system", "content": "You search."}
QUESTION = {"role": "user", "content": "Why?"}
CALL = {"role": "assistant", "tool_calls": [{"function": {"name": "tavily_search", "arguments": '{"query": "why"}'}}]}


def a_library():
    """The shape of xllamacpp that is set here; the real one is an optional install."""
    groups = ("model", "cpuparams", "cpuparams_batch", "sampling")
    return SimpleNamespace(CommonParams=lambda: SimpleNamespace(**{name: SimpleNamespace() for name in groups}))


def a_prompt(*messages, tools=None):
    template = jinja2.Environment(autoescape=False).from_string(CHATML.read_text(encoding="utf-8"))  # noqa: S701  # a prompt, no page
    return template.render(messages=list(messages), tools=tools, add_generation_prompt=True)


def test_nothing_that_could_change_an_answer_is_left_on():
    params = parameters(Serving(Path("m.gguf"), "m"), a_library())

    assert (params.n_parallel, params.cache_prompt, params.cache_ram_mib) == (1, False, 0)
    assert (params.sampling.temp, params.sampling.seed) == (0.0, 0)


def test_it_listens_on_loopback_only():
    assert parameters(Serving(Path("m.gguf"), "m"), a_library()).hostnames == ["127.0.0.1"]


def test_the_real_library_takes_these_settings():
    """A field that was renamed in xllamacpp would otherwise be found only when recording."""
    library = pytest.importorskip("xllamacpp", reason="the optional local LLM is not installed")

    assert parameters(Serving(Path("m.gguf"), "m", port=8099, context=4096), library).n_ctx == 4096


def test_without_tools_the_prompt_is_plain_chatml():
    assert a_prompt(SYSTEM, QUESTION) == (
        "<|im_start|>system\nYou search.<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n"
    )


def test_with_tools_the_prompt_lists_them_and_asks_for_a_json_block():
    prompt = a_prompt(SYSTEM, QUESTION, tools=[SEARCH])

    assert '"name": "tavily_search"' in prompt
    assert "```json" in prompt
    assert prompt.count("You search.") == 1


def test_once_a_tool_has_answered_the_tools_are_not_shown_again():
    """Shown its own call, a small model repeats it forever."""
    answer = {"role": "tool", "content": "Because."}

    prompt = a_prompt(SYSTEM, QUESTION, CALL, answer, tools=[SEARCH])

    assert "tavily_search" not in prompt
    assert "Because." in prompt


def test_a_port_where_nobody_listens_is_not_healthy():
    with a_reserved_port() as port:
        assert not is_healthy(f"http://127.0.0.1:{port}")


def test_waiting_ends_when_the_server_has_died():
    with a_reserved_port() as port, pytest.raises(RecordingError, match="no server answers"):
        wait_until_healthy(f"http://127.0.0.1:{port}", timeout_s=60, is_alive=lambda: False)


@pytest.mark.llm
def test_the_running_server_answers_the_same_request_with_the_same_bytes():
    import httpx

    body = {"messages": [QUESTION], "max_tokens": 24, "temperature": 0}
    with httpx.Client(base_url=Serving(Path("m.gguf"), "m").url, timeout=120, trust_env=False) as client:
        texts = [client.post("/v1/chat/completions", json=body).json()["choices"][0]["message"] for _ in range(2)]

    assert texts[0] == texts[1]

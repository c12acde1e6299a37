"""A recorded conversation as people read it."""

from evals.cassettes.transcript import recorded_words, transcript
from tests.builders.interaction import a_chat_answer, a_chat_request, an_interaction

SYSTEM = {"role": "system", "content": "You are a critic."}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "Verdict", "schema": {"type": "object"}}}


def asked(*messages, **more):
    return an_interaction(request=a_chat_request(messages=list(messages), **more))


def text_of(*interactions, fold=False):
    return "\n".join(transcript(interactions, fold=fold))


def test_who_asked_what_and_what_came_back_is_there():
    text = text_of(an_interaction("Why?", agent="writer", answer="Because.", recorded_by="me"))

    assert "=== writer · " in text
    assert "[user]\n  Why?" in text
    assert "small-0.5b · stop · 11 + 5 tokens · 0.0 s · recorded 2026-11-21T12:00:00+00:00 by me\n  Because." in text


def test_an_answer_in_json_is_laid_out():
    assert '  {\n   "a": 1\n  }' in text_of(an_interaction(answer='{"a":1}'))


def test_a_changed_schema_changes_the_text():
    other = {**SCHEMA, "json_schema": {"name": "Verdict", "schema": {"type": "array"}}}

    assert "answer format: Verdict" in text_of(an_interaction(request=a_chat_request(response_format=SCHEMA)))
    assert text_of(asked(response_format=SCHEMA)) != text_of(asked(response_format=other))


def test_a_tool_call_is_said_with_its_arguments():
    call = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": '{"q": "x"}'}}
    answer = a_chat_answer()
    answer["choices"][0]["message"] = {"role": "assistant", "content": None, "tool_calls": [call]}

    assert '  calls search: {"q": "x"}' in text_of(an_interaction(response=answer))


def test_pages_of_a_search_stand_with_title_and_address():
    found = {"query": "x", "results": [{"title": "T", "url": "https://example.com", "content": "words"}]}
    searched = an_interaction(request={"query": "x"}, uri="/search", response=found)

    assert "  T <https://example.com>\n    words" in text_of(searched)


def test_a_folded_conversation_prints_a_system_prompt_once():
    text = text_of(*(asked(SYSTEM, {"role": "user", "content": word}) for word in ("one", "two")), fold=True)

    assert text.count("You are a critic.") == 1
    assert "[system] the same as in 1." in text


def test_an_unfolded_one_repeats_it_so_that_a_diff_of_one_interaction_stands_alone():
    assert text_of(*(asked(SYSTEM, {"role": "user", "content": word}) for word in "ab")).count("You are a critic") == 2


def test_what_a_model_says_cannot_move_the_cursor():
    text = text_of(an_interaction("\x1b[2J", answer="\x1b]0;title\x07 \u202egnp"))

    assert not set(text) & {"\x1b", "\x07", "\u202e"}
    assert "␛[2J" in text


def test_only_the_words_of_requests_that_were_made_are_kept(tmp_path):
    made, other = an_interaction("Why?"), an_interaction("How?")

    assert [*recorded_words(lambda: [made, other], "digest", {made.key}, tmp_path)] == [(made.key, 0)]
    assert [*recorded_words(lambda: [made, other], "digest", {other.key}, tmp_path)] == [(other.key, 0)]

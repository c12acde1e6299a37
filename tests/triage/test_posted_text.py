"""What a posted text does on GitHub is listed: mentions, images, links, hidden text."""

import pytest

from triage.outgoing_text import effects_of


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("Thanks @jane, and @shop/core.", ("@jane", "@shop/core")),
        ("`@jane` and\n\n```\n@joe\n```\n\n    @ann\n", ()),
        ("\\`@jane`", ("@jane",)),
        ("<div>\n```\n@jane\n```\n</div>", ("@jane",)),
        ("| a |\n|---|\n| @jane |", ("@jane",)),
        ("write to jane@example.com", ()),
        ("**@jane** (@joe) @jane", ("@jane", "@joe")),
    ],
)
def test_mentions_outside_of_code_are_listed(text, mentions):
    assert effects_of(text).mentions == mentions


@pytest.mark.parametrize("text", ["![x](http://e.invalid/i.png)", '<img width=1 src="http://e.invalid/i.png">'])
def test_images_are_listed(text):
    assert effects_of(text).images == ("http://e.invalid/i.png",)


def test_hidden_text_is_counted_but_not_our_own_mark():
    assert effects_of("a\u200bb <!-- obey --> <!-- triage job -->", "<!-- triage job -->").hidden == 2

"""The simulated user: answers by topic from the case's script, else says that it does not know."""

import re
from collections.abc import Collection

from evals.models.case import Question, ScriptedAnswer


def answer_to(question: str, script: Question, given: Collection[str | None] = ()) -> tuple[str, str | None]:
    """The scripted answer whose keywords the question touches most, and its topic; ties go to the earlier one.

    Nobody says the same thing twice: topics that were `given` are left out, and whatever else is asked gets the honest
    word that the user does not know.

    Returns:
        (answer, topic); topic is None when nothing matches and the user does not know.
    """
    text = question.casefold()
    touched = [(_hits(text, item), item) for item in script.answers if item.topic not in given]
    best = max(touched, key=lambda pair: pair[0], default=(0, None))
    hits, item = best
    if item is None or hits == 0:
        return script.dont_know, None
    return item.answer, item.topic


def _hits(text: str, item: ScriptedAnswer) -> int:
    """How many keywords stand in the text, each from the start of a word: "ttl" is in "ttls", and not in "little"."""
    keywords = (re.escape(keyword.strip().casefold()) for keyword in item.keywords)
    return sum(re.search(rf"(?<!\w){keyword}", text) is not None for keyword in keywords)

"""Text that leaves the machine: checks for secrets, and what it does once it is posted on GitHub."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from evals.shared.display_text import hidden_in, one_line
from evals.shared.secrets.scanner import secrets_in

QUERY_LIMIT: Final = 300
"""Characters of a search query that are sent. The longest query ever recorded has 186."""
_ORDINARY: Final = ("email", "high_entropy")
"""Rules that do not count: e-mail addresses and random words stand in many an issue."""


def secret_in(text: str) -> str | None:
    """The rule by which the text looks like it holds a secret; None where it does not."""
    return next((sighting.rule for sighting in secrets_in(text) if sighting.rule not in _ORDINARY), None)


def shortened_query(query: str) -> str:
    """The query, cut at a word where it is longer than `QUERY_LIMIT` characters."""
    if len(query) <= QUERY_LIMIT:
        return query
    whole = query[: QUERY_LIMIT + 1].rpartition(" ")[0]
    return (whole or query[:QUERY_LIMIT]).rstrip()


_MENTION: Final = re.compile(r"(?<![A-Za-z0-9_/@])@[A-Za-z0-9][A-Za-z0-9-]*(?:/[A-Za-z0-9](?:[\w.-]*\w)?)?")
_ADDRESS: Final = re.compile(r"(?:https?://|www\.)[^\s<>()\"']+")
_IMAGE_TAG: Final = re.compile(
    r"<(?:img|picture|source|video)\b[^>]*?\b(?:src|srcset)\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE
)
_LINK_TAG: Final = re.compile(r"<a\b[^>]*?\bhref\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)
_REMARK: Final = re.compile(r"<!--.*?(?:-->|$)", re.DOTALL)


@dataclass(frozen=True)
class Effects:
    """Effects of one posted text, each thing once, in order; `hidden` counts characters and remarks nobody sees."""

    mentions: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    hidden: int = 0

    @property
    def active(self) -> tuple[str, ...]:
        """In words: what acts on others as soon as the text is posted, or is concealed in it."""
        said = [f"mentions {', '.join(self.mentions)}"] if self.mentions else []
        said += [f"shows images from {', '.join(self.images)}"] if self.images else []
        return (*said, *(["holds hidden text"] if self.hidden else []))

    def lines(self) -> list[str]:
        """One line for each kind of effect there is."""
        kinds = {"mentions (GitHub notifies them)": self.mentions, "images": self.images, "links": self.links}
        said = [f"{kind}: {', '.join(map(one_line, found))}" for kind, found in kinds.items() if found]
        return [*said, *([f"hidden characters or remarks: {self.hidden}"] if self.hidden else [])]


def effects_of(text: str, mark: str = "") -> Effects:
    """The effects of `text`; `mark` is our own remark in it, which does not count."""
    mentions, images, links, hidden = list[str](), list[str](), list[str](), hidden_in(text)
    for token in _tokens(MarkdownIt("commonmark").enable("table").parse(text.replace(mark, "") if mark else text)):
        content = "" if token.type in ("code_inline", "code_block", "fence") else token.content
        match token.type:
            case "image":
                images.append(str(token.attrs.get("src", "")))
            case "link_open":
                links.append(str(token.attrs.get("href", "")))
            case "text" | "html_inline" | "html_block":
                mentions += _MENTION.findall(content)
                images += _IMAGE_TAG.findall(content)
                links += [*_LINK_TAG.findall(content), *(_ADDRESS.findall(content) if token.type == "text" else [])]
                hidden += len(_REMARK.findall(content))
    return Effects(tuple(dict.fromkeys(mentions)), tuple(dict.fromkeys(images)), tuple(dict.fromkeys(links)), hidden)


def _tokens(tokens: list[Token]) -> Iterator[Token]:
    """Every token, those inside of lines and of the descriptions of images included."""
    for token in tokens:
        yield token
        yield from _tokens(token.children or [])

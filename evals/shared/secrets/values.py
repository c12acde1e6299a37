"""Whether a word looks like a secret or like a word of prose, a name in code, a date, a path or a placeholder."""

import re
from itertools import pairwise
from typing import Final

from evals.shared.secrets.rule import changes, is_placeholder

_WORD: Final = re.compile(r"[A-Za-z]{0,20}\d{0,4}(?:[a-z]{1,2})?|\d+[A-Za-z]{0,3}")
_JOINED: Final = re.compile(r"[._/:@-]")  # as names in code, paths and addresses are
_PART_OF_A_NAME: Final = re.compile(
    r"[A-Z]?[a-z]{2,20}\d{0,4}|[A-Z]{2,20}\d{0,4}|(?:[a-z]{2,}|[A-Z][a-z]+)(?:[A-Z][a-z]+)+\d{0,4}|\d*|[A-Za-z]\d?|\d+[a-z]{1,2}"
)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].*)?")
_OWN_NAME: Final = re.compile(r"(?i)pass|pwd|passwd|secret|token|key|str|none|null|test\d*$|user\d*$|utf")
_REFERENCE: Final = re.compile(
    r"(?i)(?:md5|sha-?\d{1,3}|arn|vault|secretref|ref\+\w+|keyvault|file|env|op|aws|gcp|pkg|urn|projects)[:/+-].*"
    r"|0x[0-9a-f]{1,40}|\w+@[0-9a-f]{6,8}|(?:argon|pbkdf|base|utf|aes|rsa|ed|hs|rs|es)-?\d{1,5}(?:id|url|\w?)"
    r"|/[\w./@+-]*|(?-i:[A-Z_]{3,}=[^=].*)|\.{1,2}/.*|~/.*|[A-Z]:\\.*"
    r"|.*\.(?:pem|key|crt|json|ya?ml|txt|py|js|ts|go|rs|java|env|cfg|conf|ini|toml|html?)"
    r"|.*(?:\$\{|\{\{|<%|%\().*|v?\d+(?:\.\d+){1,3}[\w.+-]*|@[\w-]+\..*|[a-z]+,[a-z]+=.*|.*\[\d*\].*"
)
_CODE: Final = re.compile(
    r"(?i)passw|secret|token|config|setting|request|param|field|column|default|version|oauth|http|string|\.[a-z]{2,4}$"
    r"|(?<![a-z])(?:pass|pwd|key|self|this|env|args?|os|user|test|str|utf|name|id|value|type|sha)(?![a-z])"
    r"|(?<![a-z0-9])v\d+(?![a-z])"
)
"""Parts of names in code and of addresses."""
_LETTER: Final = re.compile("[A-Za-z]")
_IDEOGRAPH: Final = re.compile("[\u2e80-\uffdc]")
_ENDS: Final = ".:!?*"
_MARKS: Final = frozenset("!@#$%^&*?+~")
_PASSPHRASE: Final = re.compile(
    r"(?=.{8})(?:[A-Z][a-z]{2,}(?:[-_.<&]?[A-Za-z]{3,}){0,4}[-_.]?\d{2,4}[^\w\s]{0,2}"
    r"|[a-z]{3,}(?:[-_.~][a-z]{3,}){1,4}[-_.]\d{2,4}|[A-Za-z][a-z]{2,}\d{2,4}[-_.](?:[A-Z]{2,4}|[A-Z][a-z]{2,}))"
)
_DIGIT_OR_MARK: Final = re.compile(r"[^A-Za-z]")
_PAIRS: Final = """
    th he in er an re nd at on nt ha es st en ed to it ou ea hi is or ti as te et ng of al de se le sa
    si ar ve ra ld ur ic ro li ri io co ce me ll ma ne ta be ns la el om ec ch ss us no ca il ac na lo
    di po pe ge tr ee so ct ai mo un pr ad em id su ul ie sh ke ol ir ot im ow am op ay ry wo up ab ev
    ut ag fi ho vi mi ap bo gr qu ex da fo oo tt
"""
_COMMON_PAIRS: Final = frozenset(_PAIRS.split())
"""Most of the pairs of neighbours in English words: of random letters less than a quarter are among them."""


def has_both(value: str) -> bool:
    """Letters of an alphabet that keys are made of, and digits."""
    return bool(_LETTER.search(value)) and any(map(str.isdigit, value)) and not _IDEOGRAPH.search(value)


def is_mixed(value: str) -> bool:
    """Letters and digits mixed as no name mixes them: `v2`, `utf8`, `config.oauth2` and dates are names."""
    if not has_both(value) or _DATE.fullmatch(value):
        return False
    return not all(map(_WORD.fullmatch, re.split(r"[^A-Za-z0-9]+", value)))


def is_gibberish(value: str) -> bool:
    """Sixteen and more letters in a row, or ten of both cases, that are no words: few of their pairs are of English."""
    return any(
        (len(run) >= 16 or (len(run) >= 10 and changes(run)[0] >= 0.3 * len(run)))
        and sum(left + right in _COMMON_PAIRS for left, right in pairwise(run.lower())) < 0.4 * len(run)
        for run in _DIGIT_OR_MARK.split(value)
    )


def is_reference(value: str) -> bool:
    """What says where a secret is, or is no secret by its form: a path, a version, a digest, a template, an address."""
    return "://" in value or bool(_REFERENCE.fullmatch(value))


def is_token(value: str, *, delimited: bool = False) -> bool:
    """What may stand behind the name of a token: ten and more characters, mixed or no words.

    `delimited` says that the value is a literal, between quotes or tags: then it cannot be a name in code.
    """
    value = value if delimited else value.rstrip(_ENDS)
    if len(value) < 10 or is_placeholder(value) or is_reference(value):
        return False
    if is_mixed(value) or is_gibberish(value) or is_strong(value):
        return True
    return delimited and (
        _is_made_of_words(value) or (has_both(value) and not (_is_a_name(value) or _CODE.search(value)))
    )


def is_password(value: str, *, delimited: bool = False) -> bool:
    """Any word of letters and digits, unless it repeats what it is called, or is made of names."""
    if is_strong(value):
        return True
    value = value if delimited else value.rstrip(_ENDS)
    if len(value) < 6 or is_placeholder(value) or is_reference(value) or _DATE.fullmatch(value):
        return False
    if not has_both(value):
        return is_gibberish(value)
    if not (_JOINED.search(value) or _OWN_NAME.match(value)):
        return True
    return not _is_a_name(value) or _is_made_of_words(value)


def _is_a_name(value: str) -> bool:
    """`config.oauth2`, `test_user_1`: parts as names in code have them."""
    return all(map(_PART_OF_A_NAME.fullmatch, re.split(r"[^A-Za-z0-9]+", value)))


def is_strong(value: str) -> bool:
    """What nobody writes as a word: letters of two kinds or a digit, and marks where no name has them."""
    if len(value) < 8 or is_placeholder(value) or is_reference(value) or " " in value or _IDEOGRAPH.search(value):
        return False
    kinds = (any(map(str.islower, value)), any(map(str.isupper, value)), any(map(str.isdigit, value)))
    marked = any(mark in value[1:] for mark in _MARKS)
    return marked and sum(kinds) >= 2 and sum(map(str.isalnum, value)) >= 5 and not _CODE.search(value)


def _is_made_of_words(value: str) -> bool:
    """`Walnut-umbra54`, `walnut-umbra-541`, `walnut54.Umbra`: words and a number, as people make up passwords."""
    return bool(_PASSPHRASE.fullmatch(value)) and not _CODE.search(value)


def is_chosen(value: str) -> bool:
    """What looks like a password by itself: random letters and digits, marks, or words and a number."""
    value = value.rstrip(_ENDS)
    if len(value) < 8 or is_placeholder(value) or is_reference(value):
        return False
    changed, steps = changes(value)
    odd = has_both(value) and changed >= 0.4 * steps and not _is_a_name(value)
    return odd or is_mixed(value) or is_strong(value) or _is_made_of_words(value)


def is_key(value: str) -> bool:
    """A UUID, hex of 32 and more digits, or 20 and more letters and digits that change as chance does."""
    if re.fullmatch(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-fA-F]{32,128}", value):
        return has_both(value)
    changed, steps = changes(value)
    if len(value) < 20 or not is_mixed(value) or is_reference(value):
        return False
    return changed >= 0.3 * steps or is_gibberish(_DIGIT_OR_MARK.sub("", value))

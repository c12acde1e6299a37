"""Second opinion of the secret scanner: the plug-ins of detect-secrets, without any check over the network."""

import importlib
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final, Protocol

from evals.shared.secrets.named_secrets import may_name_a_secret
from evals.shared.secrets.rule import is_placeholder
from evals.shared.secrets.values import is_token

RULE: Final = "second_opinion"
_LONGEST: Final = 2_000
_OVERLAP: Final = 200
"""Characters. Longer lines are looked at in pieces, and runs of blanks as one, as some patterns take cubic time."""
_ID: Final = re.compile(r"(?i)key_?id\b")
_BLANKS: Final = re.compile(r"[ \t]{2,}")
_PLUGINS: Final = (
    "aws.AWSKeyDetector", "azure_storage_key.AzureStorageKeyDetector",
    "basic_auth.BasicAuthDetector", "cloudant.CloudantDetector", "discord.DiscordBotTokenDetector",
    "github_token.GitHubTokenDetector", "gitlab_token.GitLabTokenDetector", "ibm_cloud_iam.IbmCloudIamDetector",
    "ibm_cos_hmac.IbmCosHmacDetector", "jwt.JwtTokenDetector", "mailchimp.MailchimpDetector", "npm.NpmDetector",
    "openai.OpenAIDetector", "private_key.PrivateKeyDetector", "pypi_token.PypiTokenDetector",
    "sendgrid.SendGridDetector", "slack.SlackDetector", "softlayer.SoftlayerDetector",
    "square_oauth.SquareOAuthDetector", "stripe.StripeDetector", "telegram_token.TelegramBotTokenDetector",
    "twilio.TwilioKeyDetector",
)  # fmt: skip


class _Plugin(Protocol):
    def analyze_string(self, string: str) -> Iterator[str]:
        """Raw secrets in a string."""
        ...


def second_opinion(text: str) -> Iterator[tuple[int, str]]:
    """Offset and secret of all that detect-secrets sees in a text."""
    offset = 0
    for line in text.split("\n"):
        for place in range(0, max(1, len(line)), _LONGEST - _OVERLAP):
            piece = _BLANKS.sub(" ", line[place : place + _LONGEST])
            yield from ((offset + place + max(0, piece.find(found)), found) for found in _seen(piece))
        offset += len(line) + 1


@lru_cache(maxsize=1 << 16)
def _seen(line: str) -> tuple[str, ...]:
    """Remembered: requests repeat their prompts and schemas line by line."""
    if len(line) < 10 or line.isspace():
        return ()
    known, keyword = _plugins()
    seen = (secret for plugin in known for secret in plugin.analyze_string(line))
    found = [secret for secret in seen if not (is_placeholder(secret) or is_placeholder(_word(line, secret)))]
    if may_name_a_secret(line) and not _ID.search(line):
        found += [secret for secret in keyword.analyze_string(line) if is_token(secret, delimited=True)]
    return tuple(dict.fromkeys(found))


def _word(line: str, secret: str) -> str:
    """The word a secret stands in: some plug-ins give its first letters only."""
    place = line.find(secret)
    start = max(line.rfind(blank, 0, place) for blank in " \t=\"'") + 1
    return re.split(r"[\s\"']", line[max(0, start) :], maxsplit=1)[0]


@cache
def _plugins() -> tuple[tuple[_Plugin, ...], _Plugin]:
    """Those that know formats, and the one that knows names."""
    return tuple(map(_plugin, _PLUGINS)), _plugin("keyword.KeywordDetector")


def _plugin(name: str) -> _Plugin:
    module, kind = name.split(".")
    made: _Plugin = getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), kind)()
    return made

"""Outgoing webhooks: signed JSON, retried on 5xx answers and network errors."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any

from stockroom.repository import WebhookRepository

log = logging.getLogger(__name__)

EVENTS = frozenset({"stock.changed", "stock.reserved"})
FIRST_PAUSE_SECONDS = 0.5

Transport = Callable[[str, bytes, Mapping[str, str]], int]


class Dispatcher:
    """Delivers events to the subscribed URLs, one after the other."""

    def __init__(
        self,
        webhooks: WebhookRepository,
        secret: bytes,
        transport: Transport,
        attempts: int,
        sleep: Callable[[float], None],
    ) -> None:
        self._webhooks = webhooks
        self._secret = secret
        self._transport = transport
        self._attempts = attempts
        self._sleep = sleep

    def publish(self, account: str, event: str, payload: Mapping[str, Any]) -> int:
        """Deliver an event; returns how many deliveries succeeded. Never raises on delivery problems."""
        body = json.dumps({"event": event, "data": payload}, sort_keys=True).encode("utf-8")
        return sum(self._deliver(url, body) for url in self._webhooks.urls(account, event))

    def _deliver(self, url: str, body: bytes) -> bool:
        headers = {"Content-Type": "application/json", "X-Stockroom-Signature": self.signature(body)}
        pause = FIRST_PAUSE_SECONDS
        for attempt in range(1, self._attempts + 1):
            try:
                status = self._transport(url, body, headers)
            except OSError as error:
                log.warning("webhook %s attempt %d: %s", url, attempt, error)
            else:
                if status < 300:
                    return True
                log.warning("webhook %s attempt %d: HTTP %d", url, attempt, status)
                if status < 500:
                    return False
            if attempt < self._attempts:
                self._sleep(pause)
                pause *= 2
        return False

    def signature(self, body: bytes) -> str:
        """The hex HMAC-SHA256 a receiver can check."""
        return hmac.new(self._secret, body, hashlib.sha256).hexdigest()


def urllib_transport(timeout_seconds: float) -> Transport:
    """A transport over the standard library; returns the status of the answer."""

    def send(url: str, body: bytes, headers: Mapping[str, str]) -> int:
        request = urllib.request.Request(url, data=body, headers=dict(headers), method="POST")
        try:
            with urllib.request.urlopen(request, timeout=timeout_seconds) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return int(error.code)

    return send

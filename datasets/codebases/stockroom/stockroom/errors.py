"""The errors a caller of the API can see, each with its HTTP status and a stable code."""

from __future__ import annotations


class StockroomError(Exception):
    """Root of all errors that become an API answer."""

    status = 500
    code = "internal_error"

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code


class ValidationError(StockroomError):
    """The request is malformed or breaks a rule that the caller can know."""

    status = 400
    code = "invalid_request"


class Unauthorized(StockroomError):
    """No token, or one that cannot be trusted."""

    status = 401
    code = "unauthorized"


class Forbidden(StockroomError):
    """The token is good, but does not allow this."""

    status = 403
    code = "forbidden"


class NotFound(StockroomError):
    """The thing does not exist in the caller's account."""

    status = 404
    code = "not_found"


class MethodNotAllowed(StockroomError):
    """The path exists, but not for this method."""

    status = 405
    code = "method_not_allowed"


class Conflict(StockroomError):
    """The request is fine, the state of the stock does not permit it."""

    status = 409
    code = "conflict"


class ConfigurationError(Exception):
    """A setting is missing or has an impossible value; raised at start-up only."""

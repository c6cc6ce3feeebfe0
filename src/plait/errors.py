"""Every error Plait raises. One base, `PlaitError`; who broke it decides the class.

A message says what was expected, what came, and where. It quotes at most `QUOTE_LIMIT` characters of
what a provider sent, and never a header; what looks like a key is masked.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plait.events import Event, TokenUsage
    from plait.messages import AssistantMessage

QUOTE_LIMIT = 200

# Some gateways repeat the key that they refuse.
_KEYS = re.compile(
    r"\b(?:(?:sk|pk|rk|ak|gsk|xai|r8|hf|csk|fw|pplx|nvapi|tgp)[-_]|AIza|eyJ|Bearer\s+)(?=[\w.-]{16})[\w.-]++"
)


_FACT_LIMIT = 64


def _short(text: str, limit: int = QUOTE_LIMIT) -> str:
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text):,} characters)"


def quote(data: bytes | str, limit: int = QUOTE_LIMIT) -> str:
    """At most `limit` characters of `data` as a Python literal, with its full length when cut."""
    text = data if isinstance(data, str) else bytes(data[: 4 * limit]).decode("utf-8", "replace")
    if len(text) <= limit and len(data) <= 4 * limit:
        return repr(text)
    unit = "characters" if isinstance(data, str) else "bytes"
    return f"{text[:limit]!r}... ({len(data):,} {unit})"


class PlaitError(Exception):
    """Base of every error Plait raises.

    When a parser raises it, `partial_message` holds what had been read before the fault (an
    `AssistantMessage`), and `undelivered` the events of a last, unterminated frame that `close()` could
    not return because it raised. `plait.parse` delivers those before it raises.
    """

    partial_message: AssistantMessage | None = None
    undelivered: tuple[Event, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        # Keyword-only constructors would not survive pickling (worker processes send errors back).
        return _restore, (type(self), self.args, self.__dict__)


def _restore(cls: type[PlaitError], args: tuple[Any, ...], state: dict[str, Any]) -> PlaitError:
    error = cls.__new__(cls)
    error.args = args
    error.__dict__.update(state)
    return error


class UnknownWireError(PlaitError, ValueError):
    """A wire format, dialect or option that this version of Plait does not have."""


class ConfigurationError(PlaitError, ValueError):
    """A model cannot be called as it is set up: an unknown provider, no key, no region, a missing extra."""


class InvalidDataError(PlaitError, ValueError):
    """Data handed to Plait (an event, a message, a body) that does not have the documented shape."""


class FetchError(PlaitError):
    """A URL in a message that must not be fetched (a private address, too large), or could not be.

    Attributes:
        status: the HTTP status, when an answer came and it was not 200
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class CassetteError(PlaitError, ValueError):
    """A recording that cannot be read: not YAML, not a cassette, no response in it."""


class ProtocolError(PlaitError):
    """The bytes are not the wire format at all: a bad checksum, a frame that is not JSON, an HTML page."""


class IncompleteStreamError(PlaitError):
    """The body ended before the wire's terminal event, so the answer must not be taken as whole.

    Attributes:
        wire: the wire format's name, such as `anthropic-messages`
        partial_message: what had been read, an `AssistantMessage` without finish reason
        last_event: the last event that was delivered, or None
        bytes_read: how many bytes of the body had come
    """

    def __init__(
        self, message: str, *, wire: str, last_event: Event | None = None, bytes_read: int = 0
    ) -> None:
        super().__init__(message)
        self.wire = wire
        self.last_event = last_event
        self.bytes_read = bytes_read

    @property
    def usage(self) -> TokenUsage | None:
        """What the provider had reported until then; None means unknown, never that nothing was used."""
        return self.partial_message.token_usage if self.partial_message is not None else None


class StreamTimeoutError(IncompleteStreamError, TimeoutError):
    """An answer that had begun did not go on, or not end, in time.

    Attributes:
        phase: `idle` (no event for too long, whatever else came) or `total`
        seconds: the time it was given
    """

    phase: str = "idle"
    seconds: float = 0.0


class TransportError(PlaitError):
    """No answer came: the provider could not be reached, or the connection broke before a response.

    Attributes:
        provider: the provider's name
        attempts: how many times it was tried
    """

    def __init__(self, message: str, *, provider: str | None = None, attempts: int = 1) -> None:
        super().__init__(message)
        self.provider = provider
        self.attempts = attempts


class RequestTimeoutError(TransportError, TimeoutError):
    """No answer came in time: not one event of it.

    Attributes:
        phase: `connect`, `write`, `pool`, `first event` or `total`
        seconds: the time it was given
    """

    phase: str = "first event"
    seconds: float = 0.0


class ProviderError(PlaitError):
    """The provider answered with an error: by HTTP status, in a frame, or inside HTTP 200.

    Its text is cut to `QUOTE_LIMIT` characters of the provider's words.

    Attributes:
        message: the provider's own words, without what looks like a key
        provider: the provider's name when known, else the wire's
        status: the HTTP status, or the status the body itself names; None when neither is known
        code: the provider's code or type, as text
        request_id: the provider's id of the request, for a support ticket
        retry_after: seconds to wait, when the provider said so
        raw: the error as it came (decoded JSON or text)
    """

    def __init__(
        self,
        message: str,
        *,
        provider: str | None = None,
        status: int | None = None,
        code: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        raw: Any = None,
    ) -> None:
        message = _KEYS.sub("***", message)
        super().__init__(_short(message))
        self.message = message
        self.provider = provider
        self.status = status
        self.code = code
        self.request_id = request_id
        self.retry_after = retry_after
        self.raw = raw

    def __str__(self) -> str:
        facts = [
            f"{name} {_short(str(value), _FACT_LIMIT)}"
            for name, value in (("status", self.status), ("code", self.code), ("request", self.request_id))
            if value is not None
        ]
        head = f"{self.provider}: " if self.provider else ""
        tail = f" ({', '.join(facts)})" if facts else ""
        return f"{head}{_short(self.message)}{tail}"


class AuthenticationError(ProviderError):
    """The key is missing, wrong or expired."""


class PermissionDeniedError(ProviderError):
    """The key is known but may not do this (region, plan, model access, billing)."""


class NotFoundError(ProviderError):
    """No such model, deployment, endpoint or stored item."""


class BadRequestError(ProviderError):
    """The provider refused the request as it stands: sending it again will not help."""


class ContextWindowExceededError(BadRequestError):
    """The prompt, or prompt plus answer, is longer than the model takes."""


class ContentFilterError(BadRequestError):
    """The provider's safety system refused the prompt or stopped the answer."""


class RateLimitError(ProviderError):
    """Too many requests or tokens, or a quota that is used up; see `retry_after`."""


class ServerError(ProviderError):
    """The provider failed: an internal error, a timeout, a bad gateway."""


class OverloadedError(ServerError):
    """The provider has no capacity at the moment; retry later."""

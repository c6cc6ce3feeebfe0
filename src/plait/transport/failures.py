"""What HTTP libraries raise -> what happened, in words that hold no secret.

`httpx` and `httpx2` name their exceptions alike; the name says what happened, so both are read here.
"""

from __future__ import annotations

from typing import NamedTuple

_TIMEOUTS = {
    "ConnectTimeout": "connect",
    "WriteTimeout": "write",
    "PoolTimeout": "pool",
    "ReadTimeout": "read",
}
_NEVER_AGAIN = frozenset(
    {
        "PoolTimeout",
        "UnsupportedProtocol",
        "LocalProtocolError",
        "InvalidURL",
        "TooManyRedirects",
        "CookieConflict",
    }
)


class Failure(NamedTuple):
    """One exchange with a server that broke.

    Attributes:
        words: what happened
        timeout: what took too long: `connect`, `write`, `pool` or `read`; None when it was something else
        again: whether another attempt may help
    """

    words: str
    timeout: str | None = None
    again: bool = True


def failure_of(error: Exception) -> Failure:
    """What an HTTP library's exception says.

    The library's own text is left out where it may quote a header: that holds the key.
    """
    names = {cls.__name__ for cls in type(error).__mro__}
    name = type(error).__name__
    timeout = next((kind for cls, kind in _TIMEOUTS.items() if cls in names), None)
    text = "" if names & {"LocalProtocolError", "InvalidURL"} else str(error).strip()
    return Failure(f"{name}: {text[:200]}" if text else name, timeout, not names & _NEVER_AGAIN)

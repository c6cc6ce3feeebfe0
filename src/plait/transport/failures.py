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
_OURS = frozenset({"UnsupportedProtocol", "LocalProtocolError", "InvalidURL", "UnicodeError"})
"""Nothing was sent: the URL or a header is not one."""


class Failure(NamedTuple):
    """One exchange with a server that broke.

    Attributes:
        words: what happened
        timeout: what took too long: `connect`, `write`, `pool` or `read`; None when it was something else
        again: whether another attempt may help
        ours: the request cannot be sent as it is
    """

    words: str
    timeout: str | None = None
    again: bool = True
    ours: bool = False


def failure_of(error: Exception) -> Failure:
    """What an HTTP library's exception says.

    The library's own text is left out where it may quote a header: that holds the key.
    """
    names = {cls.__name__ for cls in type(error).__mro__}
    name = type(error).__name__
    timeout = next((kind for cls, kind in _TIMEOUTS.items() if cls in names), None)
    ours = not _OURS.isdisjoint(names)
    text = "" if ours else str(error).strip()
    words = f"{name}: {text[:200]}" if text else name
    return Failure(words, timeout, again=not ours and timeout != "pool", ours=ours)

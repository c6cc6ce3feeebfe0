"""Keeps keys out of whatever is shown: providers repeat them in errors, and libraries quote them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

from plait.errors import PlaitError

T = TypeVar("T")

HIDDEN = "***"
_SHORTEST = 8
_LONG = 16

_CUT = re.compile(r"['\"]?(?:\.\.\.|…|\Z)")

# Headers and parameters that are worth reading in an error, and hold no secret.
_PLAIN = frozenset(
    {
        "accept", "accept-encoding", "accept-language", "alt", "anthropic-beta", "anthropic-version",
        "api-version", "content-type", "host", "http-referer", "openai-beta", "referer", "user-agent",
        "x-title",
    }
)  # fmt: skip


class Hidden(Generic[T]):
    """Something that no repr shows."""

    __slots__ = ("_value",)

    def __init__(self, value: T) -> None:
        self._value = value

    def __repr__(self) -> str:
        return HIDDEN

    def __reduce__(self) -> Any:
        raise TypeError("a key is not pickled: make the model anew, and pass it there")

    def show(self) -> T:
        """It."""
        return self._value


class Secrets:
    """The credentials of one call. It shows none of them itself.

    Args:
        values: keys and tokens
        headers: what else is secret in the request's headers: all but those known to be plain
        url: the same of its URL: a password, parameters
    """

    __slots__ = ("_values",)

    def __init__(
        self, values: Iterable[str | None] = (), headers: Mapping[str, str] | None = None, url: str = ""
    ) -> None:
        found = {value for value in values if value}
        for name, value in (headers or {}).items():
            if name.lower() not in _PLAIN:
                found.update(_parts(value))
        found.update(_of_url(url))
        # The longest first: one may hold another, as `Bearer KEY` does.
        long = (value for value in found if len(value) >= _SHORTEST)
        self._values = tuple(sorted(long, key=lambda value: (-len(value), value)))

    def __repr__(self) -> str:
        return f"Secrets({len(self._values)})"

    def hide(self, value: Any) -> Any:
        """The same text, or decoded JSON, without them."""
        if isinstance(value, str):
            for secret in self._values:
                if secret[:_SHORTEST].lower() in value.lower():  # a host's name is in lower case, too
                    value = re.sub(re.escape(secret), HIDDEN, value, flags=re.IGNORECASE)
                    value = _without_start(value, secret)
            return value
        if isinstance(value, dict):
            return {self.hide(key): self.hide(item) for key, item in value.items()}
        if type(value) in (list, tuple):
            return type(value)(map(self.hide, value))
        return value

    def clean(self, error: PlaitError) -> None:
        """Take them out of an error's text and facts."""
        if not self._values:
            return
        error.args = self.hide(error.args)
        for name, value in vars(error).items():
            if isinstance(value, str | dict | list | tuple):
                try:
                    setattr(error, name, self.hide(value))
                except RecursionError:  # JSON that is nested too deeply to be looked through
                    setattr(error, name, HIDDEN)


def _without_start(text: str, secret: str) -> str:
    """`text` without the start of a secret at its end, or before an ellipsis: it was cut there."""
    lower, secret = text.lower(), secret.lower()
    if len(lower) != len(text):
        return text  # letters that no key has; the places of the others differ
    for cut in reversed([*_CUT.finditer(text)]):
        at = cut.start()
        start = lower.rfind(secret[:_SHORTEST], max(0, at - len(secret)), at)
        if start >= 0 and secret.startswith(lower[start:at]):
            text = text[:start] + HIDDEN + text[at:]
    return text


def _parts(value: str) -> Iterator[str]:
    """A header's value, and the credential or the pieces of a signature in it."""
    yield value
    _, space, rest = value.partition(" ")
    if space:
        yield rest.strip()
        pieces = re.split(r"[\s,=/]+", rest)
        yield from (piece for piece in pieces if len(piece) >= _LONG and ";" not in piece)


def _of_url(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    if parts.password:
        yield from (parts.password, unquote(parts.password))
    for pair in parts.query.split("&"):
        name, _, value = pair.partition("=")
        if value and unquote(name).lower() not in _PLAIN:
            yield from (value, *(decoded for _, decoded in parse_qsl(pair)))

"""Keeps keys out of whatever is shown: providers repeat them in errors, and libraries quote them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from plait.errors import PlaitError

HIDDEN = "***"
_SHORTEST = 8


class Secrets:
    """The credentials of one call. It shows none of them itself."""

    __slots__ = ("_values",)

    def __init__(self, values: Iterable[str | None]) -> None:
        # The longest first: one may hold another, as `Bearer KEY` does.
        found = {value for value in values if value and len(value) >= _SHORTEST}
        self._values = tuple(sorted(found, key=len, reverse=True))

    def __repr__(self) -> str:
        return f"Secrets({len(self._values)})"

    def hide(self, value: Any) -> Any:
        """The same text, or decoded JSON, without them."""
        if isinstance(value, str):
            for secret in self._values:
                if secret in value:
                    value = value.replace(secret, HIDDEN)
            return value
        if isinstance(value, dict):
            return {self.hide(key): self.hide(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(map(self.hide, value))
        return value

    def clean(self, error: PlaitError) -> None:
        """Take them out of an error's text and facts."""
        if not self._values:
            return
        error.args = self.hide(error.args)
        for name in ("message", "code", "request_id", "raw"):
            if hasattr(error, name):
                setattr(error, name, self.hide(getattr(error, name)))

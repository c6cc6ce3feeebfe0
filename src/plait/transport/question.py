"""What is asked of whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of whom: all that one call needs, and no I/O done yet.

    Attributes:
        provider: the provider's name
        model: the model's id there
        wire, dialect: how it is asked
        reading: the parser's options
        url: the whole URL
        headers: all headers but those that sign the request
        body: the JSON body
        stream: whether a stream was asked for
        options: the request options
        messages: the conversation
    """

    provider: str
    model: str
    wire: str
    dialect: str | None
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    stream: bool
    reading: Mapping[str, Any]
    options: Mapping[str, Any] = field(repr=False)
    messages: Any = field(repr=False)

    @property
    def place(self) -> str:
        """Host and path of the URL: what an error or a log may show of it."""
        parts = urlsplit(self.url)
        return f"{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"

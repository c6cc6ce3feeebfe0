"""The two servers of Gemini: Google's own API (AI Studio), and Vertex AI.

Sources, as of 2026-11: https://ai.google.dev/api/generate-content, the `google-genai` SDK 3.6.1 (it marks the
fields that only one of the two takes) and https://cloud.google.com/vertex-ai/generative-ai/docs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plait.errors import UnknownWireError


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one server takes.

    Attributes:
        ids: function calls and their responses carry the provider's ids
        urls: the addresses of files that it reads itself, as a pattern
        labels: the request may be tagged with `labels`
        blocked_domains: a search may leave domains out
        mixes: what allows tools of both sides in one request goes into `toolConfig`
        source: where the differences are written
        reading: the parser's options for this server
    """

    ids: bool = True
    urls: str = (
        r"gs://.+|https://generativelanguage\.googleapis\.com/.+"
        r"|https?://((www|m)\.)?(youtube\.com|youtu\.be)/.+"
    )
    labels: bool = False
    blocked_domains: bool = False
    mixes: bool = True
    source: str = "https://ai.google.dev/api/generate-content"
    reading: Mapping[str, Any] = field(default_factory=dict)


DIALECTS: Mapping[str, Dialect] = {
    "google": Dialect(),
    "vertex": Dialect(
        ids=False,
        urls=r"(gs|https?)://.+",
        labels=True,
        blocked_domains=True,
        mixes=False,
        source="https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest",
    ),
}
"""One row for each server."""

UNKNOWN = DIALECTS["google"]
"""What is sent where no dialect is named."""


def row(dialect: str | None) -> Dialect:
    """The row of a dialect.

    Raises:
        UnknownWireError: no such dialect
    """
    found = DIALECTS.get(dialect) if dialect is not None else UNKNOWN
    if found is None:
        raise UnknownWireError(f"gemini has no dialect {dialect!r}; its dialects are {', '.join(DIALECTS)}")
    return found

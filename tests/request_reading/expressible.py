"""What the readers of requests share: the refusal, and taking an object apart until nothing is left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class NotExpressible(Exception):
    """The request says something that the vocabulary has no place for; the message is the reason."""


def only(given: Mapping[str, Any], what: str, *known: str) -> None:
    """Refuse an object that has a key beyond those known, unless it is null."""
    left = sorted(key for key, value in given.items() if key not in known and value is not None)
    if left:
        raise NotExpressible(f"{what}: {', '.join(left)}")


def data_source(data: str, media_type: str) -> dict[str, Any]:
    """Content as base64, in the normalized form."""
    return {"type": "data", "data": data, "media_type": media_type}


def media_part(source: dict[str, Any], media_type: str, filename: str | None = None) -> dict[str, Any]:
    """An image as data, or else a file, in the normalized form."""
    if media_type.startswith("image/") and source["type"] == "data":
        return {"type": "image", "image": source}
    part = {"type": "file", "data": source, "media_type": media_type}
    return {**part, "filename": filename} if filename else part

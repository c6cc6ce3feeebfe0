"""Images, documents, films and sound -> Converse's blocks.

Source: the service model `bedrock-runtime/2023-09-30` of botocore 1.44, and
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from plait.messages import FilePart, ImagePart
from plait.wire.bedrock_converse.families import Family
from plait.wire.media import Media, media
from plait.wire.plan import Notes

_DOCUMENT_DOCS = "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html"
_S3_DOCS = "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_S3Location.html"

_OFFICE = "application/vnd.openxmlformats-officedocument"
_FORMATS: Mapping[str, tuple[str, str]] = {
    "image/png": ("image", "png"),
    "image/jpeg": ("image", "jpeg"),
    "image/gif": ("image", "gif"),
    "image/webp": ("image", "webp"),
    "application/pdf": ("document", "pdf"),
    "text/csv": ("document", "csv"),
    "application/msword": ("document", "doc"),
    f"{_OFFICE}.wordprocessingml.document": ("document", "docx"),
    "application/vnd.ms-excel": ("document", "xls"),
    f"{_OFFICE}.spreadsheetml.sheet": ("document", "xlsx"),
    "text/html": ("document", "html"),
    "text/plain": ("document", "txt"),
    "text/markdown": ("document", "md"),
    "video/x-matroska": ("video", "mkv"),
    "video/quicktime": ("video", "mov"),
    "video/mp4": ("video", "mp4"),
    "video/webm": ("video", "webm"),
    "video/x-flv": ("video", "flv"),
    "video/mpeg": ("video", "mpeg"),
    "video/x-ms-wmv": ("video", "wmv"),
    "video/3gpp": ("video", "three_gp"),
    "audio/mpeg": ("audio", "mp3"),
    "audio/mp3": ("audio", "mp3"),
    "audio/wav": ("audio", "wav"),
    "audio/x-wav": ("audio", "wav"),
    "audio/aac": ("audio", "aac"),
    "audio/flac": ("audio", "flac"),
    "audio/mp4": ("audio", "mp4"),
    "audio/ogg": ("audio", "ogg"),
    "audio/opus": ("audio", "opus"),
    "audio/webm": ("audio", "webm"),
    "audio/x-matroska": ("audio", "mka"),
    "audio/pcm": ("audio", "pcm"),
}
"""Kind of block and format, by media type. Other text is sent as `txt`."""

_TAKES = (
    "PNG, JPEG, GIF and WebP images; PDF, Word, Excel, CSV, HTML, Markdown and text files; videos and audio"
)
_STRANGE = re.compile(r"[^a-zA-Z0-9\s()\[\]-]+")


class Contents:
    """The images and files of one request; documents get names that are taken, each its own."""

    def __init__(self, notes: Notes, family: Family) -> None:
        self._notes = notes
        self._family = family
        self._names: set[str] = set()

    def block(self, part: ImagePart | FilePart, path: str, *, in_result: bool = False) -> dict[str, Any]:
        """The block of a part.

        Raises:
            InvalidDataError: a kind that is not taken, or content by URL
        """
        content = media(part, path)
        if isinstance(part, ImagePart) and part.detail in ("low", "high"):
            why = "how closely to look cannot be said"
            self._notes.add("dropped", f"{path}.detail", why, _DOCUMENT_DOCS)
        kind, format_ = _FORMATS.get(content.media_type or "", ("", ""))
        if not kind and content.is_text:
            self._notes.add("demoted", path, f"{content.media_type} is sent as plain text", _DOCUMENT_DOCS)
            kind, format_ = "document", "txt"
        if not kind:
            raise content.refused(_TAKES, "convert it to one of these")
        if in_result and kind == "audio":
            raise content.refused("images, files and videos in a tool result", "send it in a user message")
        if kind in ("video", "audio") and self._family.name == "anthropic":
            self._notes.add("will_be_refused", path, f"Claude takes no {kind}", _DOCUMENT_DOCS)
        block = {"format": format_, "source": self._source(content)}
        if kind == "document":
            block["name"] = self._name(content)
        return {kind: block}

    def _source(self, content: Media) -> dict[str, Any]:
        if content.url is None:
            return {"bytes": content.data}
        if not content.url.startswith("s3://"):
            raise content.refused(
                f"{_TAKES}, as data or in S3", "fetch it with part.resolve(), or pass resolve=True"
            )
        if self._family.name == "anthropic":
            self._notes.add("will_be_refused", content.path, "Claude takes nothing from S3", _S3_DOCS)
        return {"s3Location": {"uri": content.url}}

    def _name(self, content: Media) -> str:
        """The file's name without its ending; what a name may not hold becomes a hyphen."""
        filename = (content.filename or "").rpartition("/")[2]
        stem = filename.rpartition(".")[0] or filename
        name = " ".join(_STRANGE.sub("-", stem).split())[:190].strip()
        name = name if name.strip("-") else f"Document {len(self._names) + 1}"
        plain, number = name, 1
        while name.lower() in self._names:
            number += 1
            name = f"{plain} ({number})"
        self._names.add(name.lower())
        if stem and name != stem:
            why = f"{content.filename!r} is no name here: sent as {name!r}"
            self._notes.add("renamed", f"{content.path}.filename", why, _DOCUMENT_DOCS)
        return name

"""Images and files, by URL or as data."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import Field, ValidationInfo, field_validator

from plait import inline_data, media_types
from plait.errors import FetchError, InvalidDataError
from plait.inline_data import MAX_BYTES
from plait.messages.model import Model

if TYPE_CHECKING:
    from typing import Self

    from plait import files

TIMEOUT = 30.0
"""Seconds that `resolve` takes at most, unless the caller says otherwise."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s]+")
_SHA256 = re.compile(r"[0-9a-f]{64}")

Detail: TypeAlias = Literal["auto", "low", "high"]


class UrlSource(Model):
    """Content that lives at a URL. Plait never fetches it unless asked."""

    _positional: ClassVar = "url"

    type: Literal["url"] = "url"
    url: str

    if TYPE_CHECKING:

        def __init__(self, url: str, *, type: Literal["url"] = "url") -> None: ...


class DataSource(Model):
    """Content as base64: the standard alphabet, padded, no line breaks."""

    _positional: ClassVar = "data"

    type: Literal["data"] = "data"
    data: str
    media_type: str | None = None

    if TYPE_CHECKING:

        def __init__(
            self, data: str, *, media_type: str | None = None, type: Literal["data"] = "data"
        ) -> None: ...

    @field_validator("data", mode="before")
    @classmethod
    def _is_base64(cls, value: Any) -> Any:
        if isinstance(value, bytes | bytearray | memoryview):
            raise ValueError("expected base64 text, got bytes; `from_bytes` makes a part of them")
        if isinstance(value, str):
            inline_data.decode(value)
        return value

    def to_bytes(self) -> bytes:
        """The content itself."""
        return inline_data.decode(self.data)


Content: TypeAlias = Annotated[UrlSource | DataSource, Field(discriminator="type")]


def _inlined(value: Any) -> Any:
    """A `data:` URL as the data it holds."""
    url = value.url if isinstance(value, UrlSource) else value.get("url") if isinstance(value, dict) else None
    if not isinstance(url, str) or not inline_data.is_data_url(url):
        return value
    if isinstance(value, dict) and (value.get("type", "url") != "url" or value.keys() - {"type", "url"}):
        return value
    inline = inline_data.read_data_url(url)
    return DataSource(inline_data.encode(inline.data), media_type=inline.media_type)


def _start(source: DataSource) -> bytes:
    return inline_data.decode(source.data[:64])


def _url(url: str) -> str:
    if not _SCHEME.fullmatch(url) and not inline_data.is_data_url(url):
        raise InvalidDataError(f"url: {url[:80]!r} is not an absolute URL")
    return url


class MediaPart(Model):
    """Base of images and files: what is by URL can be fetched, when that is asked for."""

    def _source(self) -> Content:
        raise NotImplementedError

    def _with(self, content: files.Content) -> Self:
        raise NotImplementedError

    def resolve(
        self,
        client: files.Client | None = None,
        *,
        max_bytes: int = MAX_BYTES,
        allow_private: bool = False,
        timeout: float = TIMEOUT,
    ) -> Self:
        """The same part with its content as data: its URL is fetched. One that has data is given back.

        Args:
            client: an `httpx.Client` (or httpx2's) to fetch with; by default one for this call
            max_bytes: the most bytes the content may have (50 MiB)
            allow_private: fetch from private, loopback and link-local addresses too. Only for URLs that no
                stranger wrote
            timeout: seconds for the whole

        Raises:
            FetchError: the URL must not be fetched, could not be, or an image's is no image
            InvalidDataError: the content has another digest than `sha256`
        """
        source = self._source()
        if not isinstance(source, UrlSource):
            return self
        from plait import files

        return self._with(
            files.fetch(source.url, client, max_bytes=max_bytes, allow_private=allow_private, timeout=timeout)
        )

    async def aresolve(
        self,
        client: files.AsyncClient | None = None,
        *,
        max_bytes: int = MAX_BYTES,
        allow_private: bool = False,
        timeout: float = TIMEOUT,
    ) -> Self:
        """As `resolve`, with an `httpx.AsyncClient`."""
        source = self._source()
        if not isinstance(source, UrlSource):
            return self
        from plait import files

        return self._with(
            await files.afetch(
                source.url, client, max_bytes=max_bytes, allow_private=allow_private, timeout=timeout
            )
        )


class ImagePart(MediaPart):
    """An image, by URL or as data. A `data:` URL is read into data."""

    type: Literal["image"] = "image"
    image: Content
    detail: Detail | None = None
    signature: str | None = None
    """The provider's, over an image that it made."""
    format: str | None = None
    """Names the wire that `signature` is of."""

    _inline = field_validator("image", mode="before")(_inlined)

    @field_validator("image", mode="after")
    @classmethod
    def _typed(cls, source: Content) -> Content:
        if isinstance(source, DataSource) and source.media_type is None:
            shown = media_types.by_content(_start(source))
            if media_types.is_image(shown):
                return source.model_copy(update={"media_type": shown})
        return source

    @classmethod
    def from_path(
        cls,
        path: files.StrPath,
        *,
        media_type: str | None = None,
        detail: Detail | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> Self:
        """The image in a file, which is read once.

        Args:
            path: the file
            media_type: by its name or, where its bytes show another kind of image, by these
            detail: how closely the model is to look
            max_bytes: the most bytes it may have (50 MiB)

        Raises:
            InvalidDataError: the file is empty, larger, or not an image
            OSError: it cannot be read
        """
        from plait import files

        content = files.read(path, max_bytes)
        type_ = media_type or content.media_type
        if not media_types.is_image(type_):
            shown = type_ or "neither its name nor its bytes say what it is"
            raise InvalidDataError(
                f"{content.name}: not an image ({shown}); give `media_type`, or use FilePart.from_path"
            )
        return cls.from_bytes(content.data, media_type=type_, detail=detail)

    @classmethod
    def from_url(cls, url: str, *, detail: Detail | None = None) -> Self:
        """The image at a URL, which the provider fetches; a `data:` URL is read into data.

        Raises:
            InvalidDataError: not an absolute URL, or a malformed `data:` URL
        """
        return cls(image=UrlSource(_url(url)), detail=detail)

    @classmethod
    def from_bytes(cls, data: bytes, *, media_type: str | None = None, detail: Detail | None = None) -> Self:
        """The image these bytes are; the media type is the one they show.

        Raises:
            InvalidDataError: they show none, and `media_type` was not given
        """
        type_ = media_type or media_types.by_content(data[:32])
        if media_type is None and not media_types.is_image(type_):
            raise InvalidDataError("media_type: the bytes show no kind of image; give it")
        return cls(image=DataSource(inline_data.encode(data), media_type=type_), detail=detail)

    @classmethod
    def from_base64(cls, data: str, *, media_type: str | None = None, detail: Detail | None = None) -> Self:
        """As `from_bytes`, from base64 text.

        Raises:
            InvalidDataError: not base64, or as for `from_bytes`
        """
        source = DataSource(data, media_type=media_type)
        return cls.from_bytes(source.to_bytes(), media_type=media_type, detail=detail)

    def _source(self) -> Content:
        return self.image

    def _with(self, content: files.Content) -> Self:
        if not media_types.is_image(content.media_type):
            raise FetchError(
                f"{content.name or 'the URL'}: {content.media_type or 'the content'} is not an image"
            )
        source = DataSource(inline_data.encode(content.data), media_type=content.media_type)
        return self.model_copy(update={"image": source})


class FilePart(MediaPart):
    """A file, by URL or as data. A `data:` URL is read into data."""

    type: Literal["file"] = "file"
    data: Content
    filename: str | None = None
    media_type: str | None = Field(default=None, validate_default=True)
    """Of data without one: by `filename`, else by the bytes."""
    sha256: str | None = None
    """Of the content, in hexadecimal: checked, of a URL's when it is resolved."""
    signature: str | None = None
    """The provider's, over a file that it made."""
    format: str | None = None
    """Names the wire that `signature` is of."""

    _inline = field_validator("data", mode="before")(_inlined)

    @field_validator("media_type")
    @classmethod
    def _typed(cls, value: str | None, info: ValidationInfo) -> str | None:
        source = info.data.get("data")
        if value is not None or not isinstance(source, DataSource):
            return value
        named = media_types.by_name(info.data.get("filename") or "")
        return source.media_type or named or media_types.by_content(_start(source))

    @field_validator("sha256")
    @classmethod
    def _matches(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is None:
            return None
        value = value.lower()
        if not _SHA256.fullmatch(value):
            raise ValueError("a SHA-256 digest is 64 hexadecimal digits")
        source = info.data.get("data")
        if isinstance(source, DataSource):
            found = hashlib.sha256(source.to_bytes()).hexdigest()
            if found != value:
                raise ValueError(f"the content has another digest: {found}")
        return value

    @classmethod
    def from_path(
        cls,
        path: files.StrPath,
        *,
        media_type: str | None = None,
        filename: str | None = None,
        sha256: str | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> Self:
        """A file's content, which is read once.

        Args:
            path: the file
            media_type: by its name, else by its bytes, else `application/octet-stream`
            filename: what the model is told; the path's last part
            sha256: checked
            max_bytes: the most bytes it may have (50 MiB)

        Raises:
            InvalidDataError: the file is empty, larger, or has another digest
            OSError: it cannot be read
        """
        from plait import files

        content = files.read(path, max_bytes)
        return cls.from_bytes(
            content.data,
            media_type=media_type or content.media_type,
            filename=filename or content.name,
            sha256=sha256,
        )

    @classmethod
    def from_url(
        cls,
        url: str,
        *,
        media_type: str | None = None,
        filename: str | None = None,
        sha256: str | None = None,
    ) -> Self:
        """The file at a URL, which the provider fetches; a `data:` URL is read into data.

        The media type is that of `filename` or of the URL's own path, where these say it.

        Raises:
            InvalidDataError: not an absolute URL, or a malformed `data:` URL
        """
        if media_type is None and not inline_data.is_data_url(url):
            path = re.split(r"[?#]", url, maxsplit=1)[0]
            media_type = media_types.by_name(filename or "") or media_types.by_name(path)
        return cls(data=UrlSource(_url(url)), media_type=media_type, filename=filename, sha256=sha256)

    @classmethod
    def from_bytes(
        cls,
        data: bytes,
        *,
        media_type: str | None = None,
        filename: str | None = None,
        sha256: str | None = None,
    ) -> Self:
        """A file of these bytes; the media type by `filename`, else by the bytes.

        Raises:
            InvalidDataError: they have another digest
        """
        type_ = media_type or media_types.of_file(filename or "", data) or "application/octet-stream"
        source = DataSource(inline_data.encode(data))
        return cls(data=source, media_type=type_, filename=filename, sha256=sha256)

    @classmethod
    def from_base64(
        cls,
        data: str,
        *,
        media_type: str | None = None,
        filename: str | None = None,
        sha256: str | None = None,
    ) -> Self:
        """As `from_bytes`, from base64 text.

        Raises:
            InvalidDataError: not base64, or another digest
        """
        content = DataSource(data).to_bytes()
        return cls.from_bytes(content, media_type=media_type, filename=filename, sha256=sha256)

    def _source(self) -> Content:
        return self.data

    def _with(self, content: files.Content) -> Self:
        part = self.from_bytes(
            content.data,
            media_type=self.media_type or content.media_type,
            filename=self.filename or content.name or None,
            sha256=self.sha256,
        )
        return part.model_copy(update={"signature": self.signature, "format": self.format})

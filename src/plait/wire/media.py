"""Images and files on their way into a request: what they are, and what to say of those not taken."""

from __future__ import annotations

from dataclasses import dataclass

from plait import inline_data, media_types
from plait.errors import InvalidDataError
from plait.messages import DataSource, FilePart, ImagePart

_TEXTS = frozenset(
    {
        "application/json",
        "application/jsonl",
        "application/x-ipynb+json",
        "application/xml",
        "application/yaml",
    }
)
_SAME = {"image/jpg": "image/jpeg", "application/x-pdf": "application/pdf"}


@dataclass(frozen=True, slots=True)
class Media:
    """The content of an image or file: base64 in `data`, or a `url`.

    `media_type` is None where nothing says it: of a URL, neither its part nor its path.
    """

    path: str
    media_type: str | None
    data: str | None
    url: str | None
    filename: str | None

    @property
    def is_text(self) -> bool:
        """Whether this is text in some notation."""
        type_ = self.media_type or ""
        return type_.startswith("text/") or type_ in _TEXTS or type_.endswith(("+json", "+xml"))

    def text(self) -> str:
        """The data as text.

        Raises:
            InvalidDataError: it is not UTF-8
        """
        assert self.data is not None
        try:
            return inline_data.decode(self.data).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InvalidDataError(
                f"{self.path}: a {self.media_type} file must be UTF-8 here; byte {error.start:,} is not"
            ) from None

    def refused(self, takes: str, remedy: str) -> InvalidDataError:
        """The error for content of a kind that the target does not take."""
        kind = self.media_type or "a file of unknown media type"
        how = f"{kind} by URL" if self.url is not None else kind
        return InvalidDataError(f"{self.path}: this target does not take {how}: it takes {takes}; {remedy}")


def media(part: ImagePart | FilePart, path: str) -> Media:
    """What a part holds; its media type is in lower case and without parameters."""
    source = part.image if isinstance(part, ImagePart) else part.data
    filename = part.filename if isinstance(part, FilePart) else None
    said = part.media_type if isinstance(part, FilePart) else None
    if isinstance(source, DataSource):
        return Media(path, _type(said or source.media_type), source.data, None, filename)
    by_path = media_types.by_name(source.url.partition("?")[0].partition("#")[0])
    return Media(
        path, _type(said or media_types.by_name(filename or "") or by_path), None, source.url, filename
    )


def _type(said: str | None) -> str | None:
    plain = (said or "").partition(";")[0].strip().lower()
    return _SAME.get(plain, plain) or None

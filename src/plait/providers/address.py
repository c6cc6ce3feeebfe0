"""URLs made of a row's template and the settings of a call. No setting can lead a request elsewhere.

What a setting may hold is decided by where it stands in the template: at the start it is a whole URL, in the
host it is a piece of a host's name, and behind that one piece of the path or of the query.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias, cast
from urllib.parse import quote as percent_encoded
from urllib.parse import urlsplit

from plait.errors import ConfigurationError, quote

Place: TypeAlias = Literal["url", "host", "path"]

_NAME = re.compile(r"{(\w+)}")
_TEMPLATE = re.compile(r"(?P<url>{\w+})(?=/|\Z)|(?P<host>https?://[^/?#]+)")
_HOST_PIECE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")
_PATH_PIECE = re.compile(r"(?!\.{1,2}\Z)[^\s/?#\\%\x00-\x1f\x7f]+")


def names(template: str) -> list[str]:
    """The names in braces."""
    return _NAME.findall(template)


def places(template: str) -> dict[str, Place]:
    """By name, where each setting of a base URL's template stands: `url`, `host` or `path`.

    Raises:
        ConfigurationError: it begins neither with http(s):// and a host, nor with a setting that does
    """
    start = _TEMPLATE.match(template)
    if start is None:
        raise ConfigurationError(f"base_url: expected a URL such as https://host/v1, got {_shown(template)}")
    found: dict[str, Place] = dict.fromkeys(names(template[start.end() :]), "path")
    return found | dict.fromkeys(names(start[0]), cast(Place, start.lastgroup))


def check_setting(what: str, value: str, place: Place) -> None:
    """Refuse a value that could lead elsewhere.

    Args:
        what: provider and setting, for the message
        value: the value
        place: as `places` gives it

    Raises:
        ConfigurationError: it does not fit there
    """
    if place == "url":
        check_url(what, value)
    elif place == "host" and not _HOST_PIECE.fullmatch(value):
        raise ConfigurationError(f"{what}: expected letters, digits, '-' and '.', got {_shown(value)}")
    elif place == "path" and not _PATH_PIECE.fullmatch(value):
        raise ConfigurationError(f"{what}: expected one piece of a path, without '/', got {_shown(value)}")


def check_url(what: str, url: str) -> None:
    """Refuse what cannot be the start of a URL.

    Raises:
        ConfigurationError: it is not http(s) with a host, or has spaces or a fragment
    """
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and not parts.fragment
    except ValueError:
        fits = False
    if not fits or re.search(r"[\s\\#\x00-\x1f\x7f]", url):
        raise ConfigurationError(f"{what}: expected a URL such as https://host/v1, got {_shown(url)}")


def _shown(value: str) -> str:
    return "one with a password" if "@" in value else quote(value, 80)


def check_model(what: str, model: str) -> None:
    """Refuse a model's id that would lead out of its place in the path.

    Raises:
        ConfigurationError: a segment of it is `..` or `.`
    """
    if {".", ".."} & {*model.split("/")}:
        raise ConfigurationError(f"{what}: expected the name of a model, got {quote(model, 80)}")


def joined(base: str, path: str) -> str:
    """A base URL and the path behind it; a query of the base comes last."""
    start, question, query = base.partition("?")
    return start.rstrip("/") + path + (("&" if "?" in path else "?") + query if question else "")


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with the values of its names, as they are."""
    return _NAME.sub(lambda found: values.get(found[1], found[0]), template)


def encoded_model(model: str) -> str:
    """A model's id as one segment of a path. `@` stays: Vertex has versions behind it."""
    return percent_encoded(model, safe="@")


def encoded_resource(model: str, resource: Callable[[str], str]) -> str:
    """A model's id as the path to it, by the provider's own rule."""
    return resource(percent_encoded(model, safe="/@"))


def encoded_setting(value: str, place: Place) -> str:
    """A setting as it stands in the URL."""
    return percent_encoded(value, safe="@:,~") if place == "path" else value

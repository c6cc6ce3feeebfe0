"""Providers: a name -> where it is, the wire format and dialect it speaks, and how it is asked.

`catalogue.py` holds the rows. Others come from outside: `register_provider`, or the entry points of installed
packages in the group `plait.providers`, each a `Provider` or a callable that gives one or several.
"""

from __future__ import annotations

import threading
from importlib.metadata import entry_points
from typing import Any, NamedTuple

from plait.errors import ConfigurationError
from plait.providers.auth import Auth, Bearer, GoogleDefault, HeaderKey, SigV4
from plait.providers.catalogue import CATALOGUE
from plait.providers.provider import PATHS, Endpoint, Paths, Provider, Setting
from plait.wire import check_dialect

ENTRY_POINTS = "plait.providers"
"""The group of entry points that add providers."""

__all__ = [
    "ENTRY_POINTS",
    "PATHS",
    "Auth",
    "Bearer",
    "Endpoint",
    "GoogleDefault",
    "HeaderKey",
    "Paths",
    "Provider",
    "Setting",
    "SigV4",
    "Target",
    "find_provider",
    "providers",
    "register_provider",
    "target",
]

_registered: dict[str, Provider] = {}
_installed: dict[str, Provider] | None = None
_lock = threading.RLock()


class Target(NamedTuple):
    """Where a request goes: a wire format, its dialect, and the model's id there."""

    wire: str
    dialect: str | None
    model: str


def register_provider(provider: Provider | str, /, **fields: Any) -> Provider:
    """Add a provider, or put one in the place of a row that has its name.

    Args:
        provider: the row, or its name
        fields: with a name, the fields of `Provider`: at least `wire`, and `base_url` for most

    Raises:
        ConfigurationError: the name cannot be one
        UnknownWireError: no such wire format or dialect
    """
    row = Provider(provider, **fields) if isinstance(provider, str) else provider
    _check(row)
    with _lock:
        _registered[row.name] = row
    return row


def _check(row: Provider) -> None:
    for at in row.endpoints:
        check_dialect(at.wire, at.dialect)


def providers() -> dict[str, Provider]:
    """Every provider by its name: the catalogue's, those of installed packages, those that were registered.

    Raises:
        ConfigurationError: an installed package's entry point cannot be loaded; the message names it
    """
    with _lock:
        return {**CATALOGUE, **_from_packages(), **_registered}


def find_provider(name: str) -> Provider:
    """The provider of this name.

    Raises:
        ConfigurationError: there is none; the message lists those there are
    """
    with _lock:
        found = _registered.get(name)
        if found is None and name not in _entry_names():
            found = CATALOGUE.get(name)
    found = found or providers().get(name)
    if found is None:
        known = ", ".join(providers())
        raise ConfigurationError(
            f"unknown provider {name!r}; the providers are {known}. "
            "A server of another: openai-compatible/MODEL with base_url=, or plait.register_provider"
        )
    return found


def target(name: str) -> Target:
    """What `PROVIDER/MODEL` means, such as `anthropic/claude-sonnet-4-5`.

    Raises:
        ConfigurationError: not of that form, or no such provider; the message lists those there are
    """
    provider, model = split(name)
    at = find_provider(provider).endpoint(model)
    return Target(at.wire, at.dialect, model)


def split(name: str) -> tuple[str, str]:
    """The two halves of `PROVIDER/MODEL`. The model's id may have slashes of its own.

    Raises:
        ConfigurationError: not of that form
    """
    provider, slash, model = name.partition("/")
    if not (slash and provider and model):
        raise ConfigurationError(
            f"expected PROVIDER/MODEL, such as anthropic/claude-sonnet-4-5, got {name!r}"
        )
    return provider, model


def _entry_names() -> set[str]:
    return {point.name for point in entry_points(group=ENTRY_POINTS)} if _installed is None else {*_installed}


def _from_packages() -> dict[str, Provider]:
    global _installed
    if _installed is None:
        found: dict[str, Provider] = {}
        for point in entry_points(group=ENTRY_POINTS):
            try:
                made = point.load()
                made = made() if callable(made) else made
                rows = [made] if isinstance(made, Provider) else list(made)
                for row in rows:
                    if not isinstance(row, Provider):
                        raise TypeError(f"expected a plait.Provider, got {type(row).__name__}")
                    _check(row)
                    found[row.name] = row
            except Exception as error:
                raise ConfigurationError(
                    f"the entry point {point.name!r} of the group {ENTRY_POINTS} cannot be loaded "
                    f"({point.value}): {type(error).__name__}: {error}"
                ) from error
        _installed = found
    return _installed


def _forget_packages() -> None:
    """Look for entry points anew at the next call: a package was installed meanwhile."""
    global _installed
    _installed = None

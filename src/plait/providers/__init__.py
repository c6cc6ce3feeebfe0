"""Providers: a name -> where it is, the wire format and dialect it speaks, and how it is asked.

`catalogue.py` holds the rows. Others come from outside: `register_provider`, or the entry points of installed
packages in the group `plait.providers`, each a `Provider`, several in a list, or a callable that gives them.
What is registered comes before what packages add, and that before the catalogue.
"""

from __future__ import annotations

import threading
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NamedTuple

from plait.errors import ConfigurationError
from plait.providers.auth import Auth, Bearer, GoogleDefault, HeaderKey, SigV4, Unsigned
from plait.providers.capabilities import Capabilities
from plait.providers.catalogue import CATALOGUE
from plait.providers.provider import PATHS, Endpoint, Paths, Provider, Setting
from plait.wire import check_dialect, translator_class

ENTRY_POINTS = "plait.providers"
"""The group of entry points that add providers."""

__all__ = [
    "CATALOGUE",
    "ENTRY_POINTS",
    "PATHS",
    "Auth",
    "Bearer",
    "Capabilities",
    "Endpoint",
    "GoogleDefault",
    "HeaderKey",
    "Installed",
    "Paths",
    "Provider",
    "Setting",
    "SigV4",
    "Target",
    "Unsigned",
    "find_provider",
    "forget_installed",
    "installed",
    "providers",
    "register_provider",
    "registered",
    "target",
]

_registered: dict[str, Provider] = {}
_installed: Installed | None = None
_loading = threading.local()


class Installed(NamedTuple):
    """What packages add.

    Attributes:
        rows: by name
        faults: what is wrong with an entry point, by its name
    """

    rows: dict[str, Provider]
    faults: dict[str, ConfigurationError]


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
        ConfigurationError: the name cannot be one, or its URL cannot be filled
        TypeError: it is no row, or fields came with one
        UnknownWireError: no such wire format or dialect
    """
    if not isinstance(provider, str) and fields:
        raise TypeError("register_provider: expected a Provider, or a name and fields, got both")
    row = Provider(provider, **fields) if isinstance(provider, str) else provider
    _check(row)
    _registered[row.name] = row
    return row


def _check(row: Provider) -> None:
    if not isinstance(row, Provider):
        raise TypeError(f"expected a plait.Provider, got {type(row).__name__}")
    for at in row.endpoints:
        translator_class(at.wire)
        check_dialect(at.wire, at.dialect)


def providers() -> dict[str, Provider]:
    """Every provider by its name: the catalogue's, those of installed packages, those that were registered.

    Raises:
        ConfigurationError: an installed package's entry point cannot be loaded; the message names it
    """
    found = installed()
    for fault in found.faults.values():
        raise ConfigurationError(str(fault)) from fault.__cause__
    return {**CATALOGUE, **found.rows, **_registered}


def registered() -> dict[str, Provider]:
    """Those that were registered in this process, by name."""
    return dict(_registered)


def find_provider(name: str) -> Provider:
    """The provider of this name. A package that cannot be loaded does not keep it from being found.

    Raises:
        ConfigurationError: there is none; the message lists those there are, or says why it cannot be loaded
    """
    found = _registered.get(name)
    if found is not None:
        return found
    rows, faults = installed()
    if name in faults:
        raise ConfigurationError(str(faults[name])) from faults[name].__cause__
    found = rows.get(name) or CATALOGUE.get(name)
    if found is None:
        known = ", ".join({**CATALOGUE, **rows, **_registered})
        broken = "".join(f". And {fault}" for fault in faults.values())
        raise ConfigurationError(
            f"unknown provider {name!r}; the providers are {known}. "
            f"A server of another: openai-compatible/MODEL with base_url=, or plait.register_provider{broken}"
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


def installed() -> Installed:
    """What the entry points of installed packages add, and those that cannot be loaded. Read once."""
    global _installed
    if _installed is not None:
        return _installed
    if getattr(_loading, "now", False):
        return Installed({}, {})  # a package that is being loaded asks for a provider
    _loading.now = True
    # No lock: a package's import may wait for another thread that asks for the same.
    try:
        found = Installed({}, {})
        for point in entry_points(group=ENTRY_POINTS):
            try:
                for row in _loaded(point):
                    if row.name in found.rows:
                        raise ValueError(f"another package has added {row.name!r}")
                    found.rows[row.name] = row
            except Exception as error:
                found.faults[point.name] = ConfigurationError(
                    f"the entry point {point.name!r} of the group {ENTRY_POINTS} cannot be loaded "
                    f"({point.value}): {type(error).__name__}: {error}"
                )
                found.faults[point.name].__cause__ = error
        _installed = found
    finally:
        _loading.now = False
    return _installed


def _loaded(point: EntryPoint) -> list[Provider]:
    made = point.load()
    made = made() if callable(made) else made
    rows = [made] if isinstance(made, Provider) else list(made)
    for row in rows:
        _check(row)
    return rows


def forget_installed() -> None:
    """Look for entry points anew at the next call: a package was installed meanwhile."""
    global _installed
    _installed = None

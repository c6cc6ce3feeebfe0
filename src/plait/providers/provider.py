"""What a provider is: where it is, what it speaks, and how it is asked: a row of data."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

from plait.errors import ConfigurationError
from plait.providers.address import (
    Place,
    check_model,
    check_setting,
    check_url,
    encoded_model,
    encoded_resource,
    encoded_setting,
    fill,
    joined,
    names,
    places,
)
from plait.providers.auth import Auth, Bearer
from plait.providers.capabilities import Capabilities, capabilities_of


class Paths(NamedTuple):
    """The ends of a wire format's URLs: of a streaming call, and of one that is answered at once."""

    stream: str
    whole: str


def _same(path: str) -> Paths:
    return Paths(path, path)


PATHS: Mapping[str, Paths] = MappingProxyType(
    {
        "openai-chat": _same("/chat/completions"),
        "openai-responses": _same("/responses"),
        "anthropic-messages": _same("/v1/messages"),
        "bedrock-converse": Paths("/model/{model}/converse-stream", "/model/{model}/converse"),
        "gemini": Paths("/{resource}:streamGenerateContent?alt=sse", "/{resource}:generateContent"),
        "cohere-chat": _same("/v2/chat"),
        "mistral-chat": _same("/chat/completions"),
        "ollama-chat": _same("/api/chat"),
    }
)
"""By wire format, what follows the base URL. `{resource}` is the path to a model, such as `models/NAME`."""


def gemini_resource(model: str) -> str:
    """A Gemini model as a path: `models/...`, unless it is one already, as of a tuned model."""
    return model if model.startswith(("models/", "tunedModels/")) else f"models/{model}"


@dataclass(frozen=True, slots=True)
class Setting:
    """Something an address needs beside the model: a region, a project.

    Attributes:
        what: it, in words, for the error when it is missing
        env: environment variables that may hold it, the first that is set counts
        default: what it is when nobody says
        read: makes the value an address takes of the text that was given
        find: where to look when neither argument nor environment has it, given the settings so far; may read
            files or the network
        of: another setting that this one is made of, by `read`; it cannot be given itself
    """

    what: str
    env: tuple[str, ...] = ()
    default: str | None = None
    read: Callable[[str], str] | None = None
    find: Callable[[Mapping[str, str | None]], str | None] | None = None
    of: str | None = None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One wire format at a provider.

    Attributes:
        wire: the wire format
        dialect: the provider's dialect of it
        base_url: where it differs from the provider's
        paths: where they differ from the wire's own `PATHS`
        resource: makes of a model's id, percent-encoded, what stands for `{resource}` in the paths; it may
            have `{settings}` in it
        models: the models that are asked here without being told so, as a pattern of their ids
        keys: the API keys with which models are asked here when no setting is given, as a pattern
        auth, headers: where they differ from the provider's; headers are added to those
    """

    wire: str
    dialect: str | None = None
    base_url: str | None = None
    paths: Paths | None = None
    resource: Callable[[str], str] | None = None
    models: str | None = None
    keys: str | None = None
    auth: Auth | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def capabilities(self) -> Capabilities | None:
        """What a request here can say; None where the server is not known."""
        return capabilities_of(self.wire, self.dialect)

    def path(self, template: str, model: str) -> str:
        """One of the `paths` with the model's `{resource}` in it."""
        return template.replace("{resource}", encoded_resource(model, self.resource or gemini_resource))


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider.

    Attributes:
        name: what stands before the slash in `anthropic/claude-sonnet-4-5`
        wire: the wire format it speaks
        base_url: the start of its URLs, with `{settings}` in braces; None: the caller must say
        key_env: environment variables that may hold the key, the first that is set counts
        auth: how the key is sent
        dialect: its dialect of the wire format
        paths: what follows the base URL, where it is not the wire's own `PATHS`
        resource: as of `Endpoint`
        also: other wire formats it speaks; a model that fits one's `models` is asked there
        settings: what its addresses need beside the model
        headers: sent with every request
        docs: its API reference
        checked: when the row was last compared with that, as `YYYY-MM`
        transport: makes what answers in this process instead of a server: an httpx transport, sync and async
    """

    name: str
    wire: str
    base_url: str | None = None
    key_env: str | tuple[str, ...] = ()
    auth: Auth = field(default_factory=Bearer)
    dialect: str | None = None
    paths: Paths | None = None
    resource: Callable[[str], str] | None = None
    also: tuple[Endpoint, ...] = ()
    settings: Mapping[str, Setting] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    docs: str = ""
    checked: str = ""
    transport: Callable[[], Any] | None = None

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9][a-z0-9._-]*", self.name):
            raise ConfigurationError(
                f"a provider's name is lower-case letters, digits, '.', '_' and '-', got {self.name!r}"
            )
        for name, _ in self._places():
            if name not in self.settings and name != "model":
                raise ConfigurationError(f"{self.name}: the URL has {{{name}}}, which is no setting")

    @property
    def key_names(self) -> tuple[str, ...]:
        """The environment variables that may hold the key."""
        return (self.key_env,) if isinstance(self.key_env, str) else tuple(self.key_env)

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """Every wire format it speaks, its own first; nothing in them is left to the provider."""
        own = Endpoint(self.wire, self.dialect, paths=self.paths, resource=self.resource)
        return tuple(self._whole(endpoint) for endpoint in (own, *self.also))

    def endpoint(self, model: str, wire: str | None = None, *, key: str | None = None) -> Endpoint:
        """Where a model is asked. A wire format that the row does not name is tried at the base URL.

        Args:
            model: the model's id
            wire: the wire format to speak; the one that fits the model by default
            key: the API key, when one is given and no setting
        """
        speaking = [at for at in self.endpoints if wire in (None, at.wire)]
        of_model = [at for at in speaking if at.models and re.search(at.models, model)]
        of_key = [at for at in speaking if at.keys and key and re.match(at.keys, key)]
        return next(iter([*of_model, *of_key, *speaking]), None) or self._whole(Endpoint(wire or self.wire))

    def _whole(self, at: Endpoint) -> Endpoint:
        return replace(
            at,
            base_url=at.base_url or self.base_url,
            paths=at.paths or PATHS.get(at.wire),
            auth=at.auth or self.auth,
            headers={**self.headers, **at.headers},
        )

    def address(self, at: Endpoint, path: str = "") -> str:
        """An endpoint's URL for people to read: defaults are filled in, the rest stands in braces."""
        shown: dict[str, str] = {}
        for name, setting in self.settings.items():
            source = self.settings[setting.of] if setting.of else setting
            value = source.default or (f"{{{setting.of}}}" if setting.of else None)
            if value is not None:
                shown[name] = setting.read(value) if setting.read is not None else value
        base = fill(at.base_url or "{base_url}", shown).partition("?")[0]  # a query may hold a key
        return base.rstrip("/") + fill(at.path(path, "MODEL").replace("MODEL", "{model}"), shown)

    def key(self) -> str | None:
        """The key in the environment."""
        return from_environment(self.key_names)

    def values(
        self, given: Mapping[str, str | None], *, find: Container[str] | None = None
    ) -> dict[str, str | None]:
        """The settings: those given, else those of the environment, else what is found, else the default.

        Args:
            given: by name
            find: which of them to look for where that may read files or the network; all of them by default

        Raises:
            ConfigurationError: a setting that the provider does not have, or that cannot stand where it is
                put into the URL
        """
        for name in given:
            if name not in self.settings or self.settings[name].of is not None:
                known = ", ".join(name for name, setting in self.settings.items() if setting.of is None)
                raise ConfigurationError(
                    f"{self.name} has no setting {name!r}; its settings: {known or 'none'}"
                )
        stands = self._places()
        values: dict[str, str | None] = {}
        for name, setting in sorted(self.settings.items(), key=lambda item: item[1].of is not None):
            value = values.get(setting.of) if setting.of else given.get(name) or from_environment(setting.env)
            if not value and setting.find is not None and (find is None or name in find):
                value = setting.find(values)
            where = {place for used, place in stands if used == name}
            values[name] = self._read(name, setting, value or setting.default, where)
        return values

    def needs(self, at: Endpoint, base_url: str | None = None) -> frozenset[str]:
        """The settings that a request there cannot do without."""
        paths = "".join(at.path(path, "model") for path in at.paths or ())
        used = {
            *names(paths + (at.base_url or "" if base_url is None else "")),
            *getattr(at.auth, "needs", ()),
        }
        used &= self.settings.keys()
        return frozenset(used) | {source for name in used if (source := self.settings[name].of)}

    def can_find(self, needed: Container[str], values: Mapping[str, str | None]) -> bool:
        """Whether needed settings are missing that `values` would look for if it were told to."""
        return any(
            name in needed and setting.find is not None and not values[name]
            for name, setting in self.settings.items()
        )

    def _read(self, name: str, setting: Setting, value: str | None, where: set[Place]) -> str | None:
        if not value:
            return None
        what = f"{self.name}: {setting.of or name}"
        if not isinstance(value, str):
            raise ConfigurationError(f"{what}: expected text, got {type(value).__name__}")
        try:
            value = setting.read(value) if setting.read is not None else value
        except ValueError as error:
            raise ConfigurationError(f"{what}: expected {setting.what}: {error}") from None
        for place in where:
            check_setting(what, value, place)
        return value

    def _places(self) -> set[tuple[str, Place]]:
        """Where settings, and the model, stand in the URLs."""
        found: set[tuple[str, Place]] = set()
        for at in self.endpoints:
            found.update(places(at.base_url).items() if at.base_url is not None else ())
            for path in at.paths or ():
                found.update((name, "path") for name in names(at.path(path, "model")))
        return found

    def url(
        self,
        at: Endpoint,
        model: str,
        *,
        stream: bool,
        base_url: str | None = None,
        settings: Mapping[str, str | None],
    ) -> str:
        """The URL of a call.

        Args:
            at: the endpoint, as `endpoint` gives it
            model: the model's id
            stream: whether the answer is to be streamed
            base_url: in place of the endpoint's
            settings: as `values` gives them

        Raises:
            ConfigurationError: a setting that the address needs is missing, or there is no address
        """
        base = base_url or at.base_url
        if base is None:
            raise ConfigurationError(f"{self.name}: expected base_url=, the server's URL: the row has none")
        if at.paths is None:
            raise ConfigurationError(f"{self.name}: no path is known for the wire format {at.wire}")
        check_model(self.name, model)
        if base_url:
            check_url(f"{self.name}: base_url", base_url)
        where = {} if base_url else places(base)
        path = at.path(at.paths.stream if stream else at.paths.whole, model)
        filled = {"model": encoded_model(model)}
        for name in {*where, *names(path)} & self.settings.keys():
            value = settings.get(name)
            if not value:
                name = self.settings[name].of or name
                setting = self.settings[name]
                env = f", or set {' or '.join(setting.env)}" if setting.env else ""
                raise ConfigurationError(f"{self.name}: expected {setting.what}: pass {name}={env}")
            filled[name] = encoded_setting(value, where.get(name, "path"))
        return joined(base if base_url else fill(base, filled), fill(path, filled))


def from_environment(names: tuple[str, ...]) -> str | None:
    """The value of the first of these variables that has one."""
    return next((value for name in names if (value := os.environ.get(name, "").strip())), None)

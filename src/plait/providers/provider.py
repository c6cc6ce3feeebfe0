"""What a provider is: where it is, what it speaks, and how it is asked: a row of data."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import quote

from plait.errors import ConfigurationError
from plait.providers.auth import Auth, Bearer


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
"""By wire format, what follows the base URL. `{resource}` is Gemini's `models/{model}`."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Something an address needs beside the model: a region, a project.

    Attributes:
        what: it, in words, for the error when it is missing
        env: environment variables that may hold it, the first that is set counts
        default: what it is when nobody says
        read: makes the value an address takes of the text that was given
        find: where to look when neither argument nor environment has it; may read files
        of: another setting that this one is made of, by `read`
    """

    what: str
    env: tuple[str, ...] = ()
    default: str | None = None
    read: Callable[[str], str] | None = None
    find: Callable[[], str | None] | None = None
    of: str | None = None

    def value(self, given: str | None) -> str | None:
        """The value: the argument, the environment's, what is found, or the default."""
        value = given or _from_environment(self.env) or (self.find() if self.find else None) or self.default
        return self.read(value) if value and self.read else value


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One wire format at a provider.

    Attributes:
        wire: the wire format
        dialect: the provider's dialect of it
        base_url: where it differs from the provider's
        paths: where they differ from the wire's own `PATHS`
        models: the models that are asked here without being told so, as a pattern of their ids
        auth, headers: where they differ from the provider's; headers are added to those
    """

    wire: str
    dialect: str | None = None
    base_url: str | None = None
    paths: Paths | None = None
    models: str | None = None
    auth: Auth | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


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
        models: as of `Endpoint`; only of use beside `also`
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

    @property
    def key_names(self) -> tuple[str, ...]:
        """The environment variables that may hold the key."""
        return (self.key_env,) if isinstance(self.key_env, str) else self.key_env

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """Every wire format it speaks, its own first; nothing in them is left to the provider."""
        own = Endpoint(self.wire, self.dialect, paths=self.paths)
        return tuple(self._whole(endpoint) for endpoint in (own, *self.also))

    def endpoint(self, model: str, wire: str | None = None) -> Endpoint:
        """Where a model is asked. A wire format that the row does not name is tried at the base URL.

        Args:
            model: the model's id
            wire: the wire format to speak; the one that fits the model by default
        """
        endpoints = self.endpoints
        if wire is None:
            special = [at for at in endpoints if at.models and re.search(at.models, model)]
            return special[0] if special else endpoints[0]
        speaking = [at for at in endpoints if at.wire == wire]
        return speaking[0] if speaking else self._whole(Endpoint(wire))

    def _whole(self, at: Endpoint) -> Endpoint:
        return replace(
            at,
            base_url=at.base_url or self.base_url,
            paths=at.paths or PATHS.get(at.wire),
            auth=at.auth or self.auth,
            headers={**self.headers, **at.headers},
        )

    def key(self) -> str | None:
        """The key in the environment."""
        return _from_environment(self.key_names)

    def values(self, given: Mapping[str, str | None]) -> dict[str, str | None]:
        """The settings: those given, else those of the environment.

        Raises:
            ConfigurationError: a setting that the provider does not have
        """
        for name in given:
            if name not in self.settings:
                known = ", ".join(self.settings) or "none"
                raise ConfigurationError(f"{self.name} has no setting {name!r}; its settings: {known}")
        values = {
            name: setting.value(given.get(name))
            for name, setting in self.settings.items()
            if setting.of is None
        }
        for name, setting in self.settings.items():
            if setting.of is not None:
                values[name] = setting.value(given.get(name) or values[setting.of])
        return values

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
        path = at.paths.stream if stream else at.paths.whole
        names = set(re.findall(r"{(\w+)}", (at.base_url or "" if base_url is None else "") + path))
        for name in names & self.settings.keys():
            if not settings.get(name):
                setting = self.settings[name]
                env = f", or set {' or '.join(setting.env)}" if setting.env else ""
                raise ConfigurationError(f"{self.name}: expected {setting.what}: pass {name}={env}")
        values = {name: value or "" for name, value in settings.items()}
        if base_url is None:
            base = base.format_map(values)
        resource = model if "/" in model else f"models/{model}"
        quoted = {"model": quote(model, safe=""), "resource": quote(resource, safe="/")}
        base, question, query = base.rstrip("/").partition("?")
        path = path.format_map({**values, **quoted})
        return base.rstrip("/") + path + (("&" if "?" in path else "?") + query if question else "")


def _from_environment(names: tuple[str, ...]) -> str | None:
    return next((value for name in names if (value := os.environ.get(name, "").strip())), None)

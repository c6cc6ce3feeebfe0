"""`Model`: ask a provider's model over HTTP, and read the answer as events or as a message."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import plait
from plait.errors import ConfigurationError
from plait.providers import Provider, find_provider, split
from plait.providers.auth import Auth, Unsigned
from plait.transport.async_stream import AsyncStream
from plait.transport.call import Call
from plait.transport.clients import HTTPClient, OwnClients, check_client, is_async
from plait.transport.frames import OnFrame
from plait.transport.limits import Retries, Retry, Timeouts
from plait.transport.observing import Observer
from plait.transport.question import Question
from plait.transport.secrets import Hidden, Secrets
from plait.transport.stream import Stream
from plait.wire import check_dialect, translator_class

if TYPE_CHECKING:
    from plait.messages import AssistantMessage, Message
    from plait.wire.plan import RequestPlan

_log = logging.getLogger("plait.transport")

Messages: TypeAlias = "str | Iterable[Message | Mapping[str, Any]]"
"""A conversation: message objects, or their JSON data; text alone is one user message."""

Key: TypeAlias = str | Callable[[], str] | Callable[[], Awaitable[str]]
"""A key, or what gives one for each attempt, such as a token that expires."""


class Model:
    """A provider's model.

    Making one does no I/O; it may be shared by threads and event loops. `close` and `aclose` (or `with` and
    `async with`) free the connections it keeps open for the next call.

    Args:
        name: `PROVIDER/MODEL`, such as `anthropic/claude-sonnet-4-5`. With `base_url` and `wire` the provider
            may be missing
        api_key: the key, or a callable that gives one for each attempt (it may be a coroutine function: for
            asynchronous calls only). By default the provider's environment variable is read at each call
        base_url: in place of the provider's URL; the wire's path is put behind it
        headers: sent with every request, over those of the provider
        wire: the wire format, in place of the provider's own for this model
        dialect: the server's dialect of it
        http_client: a client of `httpx` or `httpx2`, for synchronous or asynchronous calls; never closed
        timeouts: how long a call may take
        retries: how often it is tried
        on_retry: told of every attempt that failed and is made again
        on_frame: given every raw frame of a body, before its events
        observer: watches calls; see `plait.telemetry`
        options: request options of every call, as of `plait.build_request`; a call's own come over them
        reading: options of the parser, such as `think_tags`
        settings: what the provider's address needs, such as `region`, `project` or `endpoint`

    Raises:
        ConfigurationError: no such provider or setting; the message lists those there are
        UnknownWireError: no such wire format or dialect
    """

    def __init__(
        self,
        name: str,
        *,
        api_key: Key | None = None,
        base_url: str | None = None,
        headers: Mapping[str, str] | None = None,
        wire: str | None = None,
        dialect: str | None = None,
        http_client: HTTPClient | None = None,
        timeouts: Timeouts | None = None,
        retries: Retries | None = None,
        on_retry: Callable[[Retry], None] | None = None,
        on_frame: OnFrame | None = None,
        observer: Observer | None = None,
        options: Mapping[str, Any] | None = None,
        reading: Mapping[str, Any] | None = None,
        **settings: str | None,
    ) -> None:
        self.provider, self.model = _provider(name, base_url, wire)
        own_key = api_key.strip() if isinstance(api_key, str) and not settings else None
        self._endpoint = self.provider.endpoint(self.model, wire, key=own_key)
        self.wire = self._endpoint.wire
        self.dialect = dialect if dialect is not None else self._endpoint.dialect
        translator_class(self.wire)
        check_dialect(self.wire, self.dialect)
        if http_client is not None:
            check_client(http_client)
        self._api_key = Hidden(api_key)
        self._base_url = Hidden(base_url)
        self._headers = Hidden(dict(headers or {}))
        self._http_client = http_client
        _check_headers(self.provider.name, headers or {})
        self._own = OwnClients(self.provider.transport)
        self._settings = dict(settings)
        self._needs = self.provider.needs(self._endpoint, base_url)
        self.provider.values(self._settings, find=())
        self.timeouts = timeouts if timeouts is not None else Timeouts()
        self.retries = retries if retries is not None else Retries()
        self.options = dict(options or {})
        self._reading = dict(reading or {})
        self._on_retry = on_retry
        self._on_frame = on_frame
        self._observer = observer

    def __repr__(self) -> str:
        return f"Model('{self.provider.name}/{self.model}', wire='{self.wire}')"

    # Calls

    def stream(self, messages: Messages, **options: Any) -> Stream:
        """Ask, and iterate over the events of the answer as they come.

        Args:
            messages: the conversation
            options: request options, as of `plait.build_request`: tools, output, reasoning, ...; and `repair`

        Raises (the first two before anything is sent, the others from the stream):
            InvalidDataError: an unknown option, or a history the provider would refuse
            ConfigurationError: no key, no region, a missing extra
            ProviderError: the provider answered with an error
            IncompleteStreamError: the answer ended, or broke, before its end; `StreamTimeoutError` when it
                was too slow
            TransportError: no answer came; `RequestTimeoutError` when not in time
            ProtocolError: the bytes are not the wire format
        """
        client, sign = self._sync_client(), self._signer()
        call = self._call(messages, stream=True, options=options)
        return self._watched(Stream(call, client, lambda: sign.now(call)))

    def astream(self, messages: Messages, **options: Any) -> AsyncStream:
        """As `stream`, for `async with` and `async for`."""
        client, sign = self._async_client(), self._signer()
        call = self._call(messages, stream=True, options=options, find=False)
        return AsyncStream(call, client, lambda: sign.later(call))

    def generate(self, messages: Messages, **options: Any) -> AssistantMessage:
        """Ask, and wait for the whole answer. Arguments and errors as of `stream`."""
        client, sign = self._sync_client(), self._signer()
        call = self._call(messages, stream=False, options=options)
        with self._watched(Stream(call, client, lambda: sign.now(call))) as answer:
            for _ in answer:
                pass
            return answer.message

    async def agenerate(self, messages: Messages, **options: Any) -> AssistantMessage:
        """As `generate`."""
        client, sign = self._async_client(), self._signer()
        call = self._call(messages, stream=False, options=options, find=False)
        async with AsyncStream(call, client, lambda: sign.later(call)) as answer:
            async for _ in answer:
                pass
            return answer.message

    def plan(self, messages: Messages, **options: Any) -> RequestPlan:
        """What would be sent, and what of it not as asked; nothing is sent. See `plait.plan_request`."""
        merged = {"model": self.model, **self.options, **options}
        return plait.plan_request(self.wire, _conversation(messages), dialect=self.dialect, **merged)

    # Connections

    def close(self) -> None:
        """Close the connections that synchronous calls keep open. The model can still be used."""
        self._own.close()

    async def aclose(self) -> None:
        """Close the connections that calls of the running event loop, and synchronous calls, keep open."""
        await self._own.aclose()

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    async def __aenter__(self) -> Model:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.aclose()

    def _watched(self, stream: Stream) -> Stream:
        """A stream that `close` ends, if the connections are ours to close."""
        if self._http_client is None:
            self._own.reads(stream)
        return stream

    def _sync_client(self) -> Callable[[], Any]:
        client = self._http_client
        if client is None:
            return self._own.sync
        if is_async(client):
            raise ConfigurationError(
                f"http_client is a {type(client).__name__}: use astream or agenerate, or pass a Client"
            )
        return lambda: client

    def _async_client(self) -> Callable[[], Awaitable[Any]]:
        client = self._http_client
        if client is None:
            return self._own.running
        if not is_async(client):
            raise ConfigurationError(
                f"http_client is a {type(client).__name__}: use stream or generate, or pass an AsyncClient"
            )

        async def given() -> Any:
            return client

        return given

    # Making the call

    def _call(
        self, messages: Messages, *, stream: bool, options: Mapping[str, Any], find: bool = True
    ) -> Call:
        options = {**self.options, **options}
        conversation = _conversation(messages)
        plan = self.plan(conversation, **{**options, "stream": stream})
        for note in plan.notes:
            _log.debug("%s: %s", self.provider.name, note)
        return Call(
            Question(
                provider=self.provider.name,
                model=self.model,
                wire=self.wire,
                dialect=self.dialect,
                url=self._url(stream, self._values(find=find)),
                headers=self._all_headers(stream),
                body=_encoded(plan.body),
                stream=stream,
                reading=self._reading,
                options=options,
                messages=conversation,
            ),
            timeouts=self.timeouts,
            retries=self.retries,
            secrets=Secrets(),
            on_retry=self._on_retry,
            on_frame=self._on_frame,
            observer=self._observer,
        )

    def _values(self, *, find: bool = True) -> dict[str, str | None] | None:
        """The provider's settings; None when some must be looked for first, and must not now."""
        values = self.provider.values(self._settings, find=self._needs if find else ())
        if not find:
            return None if self.provider.can_find(self._needs, values) else values
        for name in self._needs:
            if self.provider.settings[name].find is not None and values[name]:
                self._settings.setdefault(name, values[name])  # to look once is enough
        return values

    def _url(self, stream: bool, values: Mapping[str, str | None] | None) -> str:
        """The URL; empty while settings are not known."""
        base_url = self._base_url.show()
        if values is None:
            return ""
        return self.provider.url(
            self._endpoint, self.model, stream=stream, base_url=base_url, settings=values
        )

    def _all_headers(self, stream: bool) -> dict[str, str]:
        framing = translator_class(self.wire).framings[0]
        headers = {
            "content-type": "application/json",
            "accept-encoding": "gzip, deflate",
            "accept": "text/event-stream" if stream and framing == "sse" else "*/*",
            "user-agent": f"plait/{plait.__version__}",
        }
        for more in (self._endpoint.headers, self._headers.show()):
            headers.update({name.lower(): value for name, value in more.items()})
        return headers

    def _signer(self) -> _Signer:
        return _Signer(
            self.provider,
            self._endpoint.auth or self.provider.auth,
            self._api_key.show(),
            self._headers.show(),
            self._values,
            self._url,
        )


class _Signer:
    """Finds the key and signs: for each attempt anew, since keys and signatures expire."""

    def __init__(
        self,
        provider: Provider,
        auth: Auth,
        api_key: Key | None,
        own_headers: Mapping[str, str],
        values: Callable[[], Mapping[str, str | None] | None],
        url: Callable[[bool, Mapping[str, str | None] | None], str],
    ) -> None:
        self._provider = provider
        self._auth = auth
        self._api_key = api_key
        self._own = own_headers
        self._values = values
        self._url = url

    def now(self, call: Call) -> Mapping[str, str]:
        """The headers that sign this call's next attempt."""
        key = self._api_key() if callable(self._api_key) else self._api_key
        if inspect.iscoroutine(key):
            key.close()
            raise ConfigurationError(
                f"{self._provider.name}: api_key is a coroutine function: use astream or agenerate with it"
            )
        return self._sign(call, key)

    async def later(self, call: Call) -> Mapping[str, str]:
        """As `now`, without blocking the event loop."""
        key = self._api_key() if callable(self._api_key) else self._api_key
        if inspect.isawaitable(key):
            key = await key
        if self._auth.blocking or not call.question.url:
            return await asyncio.to_thread(self._sign, call, key)
        return self._sign(call, key)

    def _sign(self, call: Call, key: Any) -> Mapping[str, str]:
        key = _checked(self._provider.name, key) or _checked(self._provider.name, self._provider.key())
        own, asked = self._own, call.question
        call.secrets = Secrets([key], own, asked.url)
        signs_itself = any(name.lower() in _SIGNING for name in own)
        if signs_itself and asked.url:
            return {}
        values = self._values() or {}
        if not asked.url:
            asked = call.question = replace(asked, url=self._url(asked.stream, values))
        if signs_itself:
            return {}
        signed = self._auth.sign(
            Unsigned(
                provider=asked.provider,
                method="POST",
                url=asked.url,
                headers=asked.headers,
                body=asked.body,
                settings=values,
                key_names=self._provider.key_names,
            ),
            key,
        )
        call.secrets = Secrets([key], {**own, **signed}, asked.url)
        return signed


_SIGNING = frozenset({"authorization", "x-api-key", "api-key", "x-goog-api-key"})


_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def _check_headers(provider: str, headers: Mapping[str, str]) -> None:
    """Refuse what HTTP has no way to send, without showing it (RFC 9110, 5.1 and 5.5)."""
    for name, value in headers.items():
        if not (isinstance(name, str) and _HEADER_NAME.fullmatch(name)):
            raise ConfigurationError(f"{provider}: headers: a name that no header can have")
        if not (isinstance(value, str) and value.isascii() and value.replace("\t", "").isprintable()):
            raise ConfigurationError(
                f"{provider}: headers: expected printable ASCII text for {name!r} (it is not shown here)"
            )


def _checked(provider: str, key: Any) -> str | None:
    """A key that a header can hold, without the line end that a file may have put behind it."""
    if key is None:
        return None
    if not isinstance(key, str):
        raise ConfigurationError(f"{provider}: api_key: expected text, got {type(key).__name__}")
    key = key.strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ConfigurationError(
            f"{provider}: the API key has characters that no key has (it is not shown here)"
        )
    return key or None


def _provider(name: str, base_url: str | None, wire: str | None) -> tuple[Provider, str]:
    """The provider and the model's id that a name means."""
    if base_url is not None and wire is not None:
        try:
            provider, model = split(name)
            return find_provider(provider), model
        except ConfigurationError:
            if not name:
                raise
            return find_provider("openai-compatible"), name
    provider, model = split(name)
    return find_provider(provider), model


def _encoded(body: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # half a surrogate pair is no text, but can be escaped
        return json.dumps(body, separators=(",", ":")).encode()


def _conversation(messages: Any) -> list[Any]:
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    return list(messages)

"""Wire formats: what each provider's bytes say, as moves on one assembler.

`parser.py` holds what all formats share, `assembler.py` the laws, and each folder one format.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache, partial
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

from plait.errors import PlaitError, ProtocolError, ProviderError, UnknownWireError, quote
from plait.wire.assembler import Assembler
from plait.wire.parser import Parser, read_whole
from plait.wire.reading import NotAnObject
from plait.wire.translation import Translator

if TYPE_CHECKING:
    from plait.messages import AssistantMessage

_TRANSLATORS: Mapping[str, str] = {
    "openai-chat": "plait.wire.openai_chat.parser:ChatTranslator",
    "openai-responses": "plait.wire.openai_responses.parser:ResponsesTranslator",
    "anthropic-messages": "plait.wire.anthropic_messages.parser:AnthropicTranslator",
    "bedrock-converse": "plait.wire.bedrock_converse.parser:BedrockTranslator",
    "gemini": "plait.wire.gemini.parser:GeminiTranslator",
    "cohere-chat": "plait.wire.cohere_chat.parser:CohereTranslator",
    "mistral-chat": "plait.wire.mistral_chat.parser:MistralTranslator",
    "ollama-chat": "plait.wire.ollama_chat.parser:OllamaTranslator",
}

WIRES: tuple[str, ...] = tuple(_TRANSLATORS)
"""The wire formats that can be read."""


@cache
def translator_class(wire: str) -> type[Translator]:
    """The class that reads this wire format; imported on first use.

    Raises:
        UnknownWireError: no such wire format; the message lists those there are.
    """
    target = _TRANSLATORS.get(wire)
    if target is None:
        raise UnknownWireError(f"unknown wire format {wire!r}; the wire formats are {', '.join(WIRES)}")
    module, _, name = target.partition(":")
    cls: type[Translator] = getattr(import_module(module), name)
    return cls


_DIALECTS: Mapping[str, tuple[str, ...]] = {
    "anthropic-messages": ("anthropic", "vertex", "bedrock"),
    "bedrock-converse": ("bedrock",),
    "gemini": ("google", "vertex"),
    "cohere-chat": ("cohere",),
    "mistral-chat": ("mistral",),
    "ollama-chat": ("ollama",),
}
"""Dialects of the wires whose servers do not conflict. The others have rows, in `<wire>/dialects.py`."""


@cache
def dialects(wire: str) -> Mapping[str, Any]:
    """The dialects of a wire format: its rows, by name; imported on first use. None where there is no row.

    Raises:
        UnknownWireError: no such wire format
    """
    module = translator_class(wire).__module__.replace(".parser", ".dialects")
    if wire in _DIALECTS:
        return dict.fromkeys(_DIALECTS[wire])
    rows: Mapping[str, Any] = import_module(module).DIALECTS
    return rows


def check_dialect(wire: str, dialect: str | None) -> None:
    """Refuse what is no dialect of this wire format.

    Raises:
        UnknownWireError: no such wire format or dialect; the message lists those there are
    """
    known = dialects(wire) if dialect is not None else {}
    if dialect is not None and dialect not in known:
        raise UnknownWireError(f"{wire} has no dialect {dialect!r}; its dialects are {', '.join(known)}")


def parser(wire: str, *, dialect: str | None = None, count_fields: bool = False, **options: Any) -> Parser:
    """A parser for one response of this wire format. See `plait.parser`."""
    return Parser(
        partial(translator, wire, dialect, {"count_fields": count_fields, **options}),
        count_fields=count_fields,
    )


def translator(
    wire: str, dialect: str | None, options: Mapping[str, Any], assembler: Assembler, unknown: Counter[str]
) -> Translator:
    """The translator of a wire format, with its dialect's options and the caller's.

    Raises:
        UnknownWireError: no such wire format, dialect or option
    """
    cls = translator_class(wire)
    check_dialect(wire, dialect)
    accepted = _options(wire)
    strange = [name for name in options if name not in accepted]
    if strange:
        raise UnknownWireError(
            f"{wire} has no option {strange[0]!r}; its options are {', '.join(sorted(accepted))}"
        )
    return cls(assembler, unknown, **{**_reading(wire, dialect), **options})


def _reading(wire: str, dialect: str | None) -> Mapping[str, Any]:
    """The options that a dialect's responses are read with; most need none."""
    row = dialects(wire)[dialect] if dialect is not None else None
    return getattr(row, "reading", None) or {}


@cache
def _options(wire: str) -> frozenset[str]:
    return frozenset(signature(translator_class(wire)).parameters) - {"assembler", "unknown"}


def read_response(
    wire: str, body: bytes | str | Mapping[str, Any], *, dialect: str | None = None, **options: Any
) -> AssistantMessage:
    """The message in a non-streaming JSON body. See `plait.read_response`."""
    assembler, unknown = Assembler(), Counter[str]()
    reading = translator(wire, dialect, options, assembler, unknown)
    try:
        if isinstance(body, bytes | bytearray | memoryview):
            try:
                body = bytes(body).decode("utf-8-sig")
            except UnicodeDecodeError as error:
                raise NotAnObject(
                    f"bytes that are not UTF-8 ({error.reason} at byte {error.start})"
                ) from None
        if isinstance(body, str):
            body = body.strip("\ufeff \t\r\n")
        elif isinstance(body, Mapping):
            body = dict(body)
        read_whole(reading, body, unknown)
    except NotAnObject as problem:
        got = quote(body) if isinstance(body, bytes | str) else type(body).__name__
        raise ProtocolError(f"{wire}: expected a JSON object, got {problem}: {got}") from None
    except PlaitError as error:
        error.partial_message = assembler.message()
        raise
    return assembler.message()


def read_error(
    wire: str, status: int, headers: Mapping[str, str], body: bytes | str, *, provider: str | None = None
) -> ProviderError:
    """The typed error of an HTTP error response. See `plait.read_error`."""
    from plait.wire.http_errors import http_error  # reads dates: not needed to read a stream

    errors = import_module(translator_class(wire).__module__.replace(".parser", ".mapping")).ERRORS
    return http_error(provider or wire, errors, status, headers, body)

"""Error documents of every shape -> typed errors.

Which class an error gets is decided in this order: the provider's code or type (the wire's table), words
in the message that mean a too long prompt, the HTTP status (or the one the document names). What none of
them knows is a plain `ProviderError`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from plait import json_text
from plait.errors import (
    AuthenticationError,
    BadRequestError,
    ContentFilterError,
    ContextWindowExceededError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    ProviderError,
    RateLimitError,
    ServerError,
)

ErrorTable = Mapping[str, type[ProviderError]]

STATUS_ERRORS: Mapping[int, type[ProviderError]] = {
    400: BadRequestError,
    401: AuthenticationError,
    402: PermissionDeniedError,
    403: PermissionDeniedError,
    404: NotFoundError,
    405: BadRequestError,
    408: ServerError,
    409: BadRequestError,
    413: BadRequestError,
    415: BadRequestError,
    422: BadRequestError,
    424: ServerError,
    429: RateLimitError,
    434: PermissionDeniedError,
    451: ContentFilterError,
    498: OverloadedError,
    499: ServerError,
    503: OverloadedError,
    529: OverloadedError,
}
"""RFC 9110 statuses and the ones providers add: 434 (Z.ai), 498 (Groq flex), 499, 529 (Anthropic)."""

CONTEXT_WORDS = re.compile(
    r"maximum context length|context window|context length|prompt (is )?too long"
    r"|exceeds? (the (available|max).*)?context( limit)?|Range of input length|too many prompt tokens"
    r"|Input token length too long|exceeded model token limit|Input is too long",
    re.IGNORECASE,
)
KEY_WORDS = re.compile(r"incorrect api key|invalid api key|invalid x-api-key", re.IGNORECASE)
RETRY_WORDS = re.compile(r"try again in (?:(\d+)m)?(\d+(?:\.\d+)?)(ms|s)\b", re.IGNORECASE)


class ErrorFacts(msgspec.Struct):
    """What an error document says."""

    message: str
    code: str | None = None
    type: str | None = None
    status: int | None = None
    request_id: str | None = None
    raw: Any = None


def error_facts(document: Any) -> ErrorFacts:
    """The facts of an error document, whatever its shape: nested in `error`, flat, `detail`, or text."""
    raw = document
    if isinstance(document, list) and document:
        document = document[0]
    if not isinstance(document, dict):
        return ErrorFacts(_text(document) or "no message", raw=raw)
    inner = document.get("error")
    error = inner if isinstance(inner, dict) else document
    message = (
        _text(error.get("message"))
        or (inner if isinstance(inner, str) else None)
        or _text(document.get("message"))
        or _detail(document.get("detail"))
        or _text(error.get("error_message"))
        or "the provider sent an error without a message"
    )
    code = _text(error.get("code"))
    type_ = _text(error.get("type")) or _text(error.get("status")) or _text(error.get("error_type"))
    status = next(
        (
            value
            for value in (
                error.get("status_code"),
                document.get("status_code"),
                document.get("status"),
                error.get("code"),
            )
            if isinstance(value, int) and 400 <= value < 600
        ),
        None,
    )
    request_id = _text(document.get("request_id")) or _text(error.get("request_id"))
    return _unwrap(ErrorFacts(message, code, type_, status, request_id, raw))


def typed_error(
    facts: ErrorFacts,
    table: ErrorTable,
    *,
    provider: str,
    status: int | None = None,
    request_id: str | None = None,
    retry_after: float | None = None,
) -> ProviderError:
    """The typed error for these facts; `status` is the HTTP status when that is what failed."""
    status = status if status is not None and status >= 400 else facts.status or status
    cls = _class(facts, table, status)
    return cls(
        facts.message,
        provider=provider,
        status=status,
        code=facts.code or facts.type,
        request_id=request_id or facts.request_id,
        retry_after=retry_after if retry_after is not None else _retry_after(facts.message),
        raw=facts.raw,
    )


def _class(facts: ErrorFacts, table: ErrorTable, status: int | None) -> type[ProviderError]:
    known = next(
        (table[name] for name in (facts.code, facts.type) if name is not None and name in table), None
    )
    if known is None or known is BadRequestError:
        if CONTEXT_WORDS.search(facts.message) and (status is None or status in (400, 413, 422)):
            return ContextWindowExceededError
        if KEY_WORDS.search(facts.message):
            return AuthenticationError
    if known is not None:
        return known
    if status is None:
        return ProviderError
    return STATUS_ERRORS.get(
        status, ServerError if status >= 500 else BadRequestError if status >= 400 else ProviderError
    )


def _unwrap(facts: ErrorFacts) -> ErrorFacts:
    """Some front ends put the upstream's whole error document, as text, into their own message."""
    if not facts.message.startswith("{"):
        return facts
    try:
        document = json_text.loads(facts.message)
    except ValueError:
        return facts
    if not isinstance(document, dict) or not isinstance(document.get("error"), dict):
        return facts
    inner = error_facts(document)
    inner.raw = facts.raw
    inner.status = inner.status or facts.status
    return inner


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value or None
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _detail(value: Any) -> str | None:
    if isinstance(value, list):
        words = [str(item.get("msg") if isinstance(item, dict) else item) for item in value]
        return "; ".join(words) or None
    if isinstance(value, dict):
        return _text(value.get("message"))
    return _text(value)


def _retry_after(message: str) -> float | None:
    found = RETRY_WORDS.search(message)
    if found is None:
        return None
    minutes, amount, unit = found.groups()
    return int(minutes or 0) * 60 + float(amount) / (1000 if unit.lower() == "ms" else 1)

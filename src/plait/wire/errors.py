"""Error documents of every shape -> typed errors.

Which class an error gets is decided in this order: the provider's code or type (the wire's table), words
in the message, the HTTP status (or the one the document names). Where the code says no more than "a bad
request" or "the server failed", words come before it. What none of them knows is a plain `ProviderError`.
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
"""Class by code, type or reason; by status, as `HTTP 498`, where it has another meaning than usual."""

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
    r"|Input token length too long|exceeded model token limit|Input is too long|Input Tokens? Exceeded"
    r"|too many tokens: (size limit|total number)|tokens in the prompt (cannot|must not) exceed"
    r"|input token count .{0,40}exceeds",
    re.IGNORECASE,
)
KEY_WORDS = re.compile(
    r"incorrect api key|invalid api (key|token)|no api key supplied|invalid x-api-key|api key not valid"
    r"|api key expired|security token included in the request is (invalid|expired)",
    re.IGNORECASE,
)
QUOTA_WORDS = re.compile(r"insufficient (balance|credits?|quota)|exceeded your current quota", re.IGNORECASE)
BILLING_WORDS = re.compile(r"credit balance is too low", re.IGNORECASE)
FILTER_WORDS = re.compile(
    r"(blocked|filtered|rejected|refused|flagged) (by|due to|as a result of|because of|under|as) .{0,60}"
    r"\b(content|safety|usage|moderation)[ -]?(filter(ing|s)?|management|moderation|polic(y|ies)|system)\b"
    r"|violat(e|es|ed|ing) .{0,40}\b(content|safety|usage) (polic(y|ies)|guidelines)",
    re.IGNORECASE,
)
OVERLOAD_WORDS = re.compile(r"\boverloaded\b|\b(at|over|out of) capacity\b|\bhigh demand\b", re.IGNORECASE)
MODEL_WORDS = re.compile(
    r"model ('[^']*' |\"[^\"]*\" )?not found|not a valid model|supported API model names"
    r"|model identifier is invalid",
    re.IGNORECASE,
)
TOO_LARGE_WORDS = re.compile(r"request too large for", re.IGNORECASE)
LOCATION_WORDS = re.compile(r"user location is not supported", re.IGNORECASE)
RETRY_WORDS = re.compile(r"(?:try again|retry) in (?:(\d{1,6})m)?(\d{1,9}(?:\.\d+)?)(ms|s)\b", re.IGNORECASE)

_WORDS_LIMIT = 4096
"""How much of a message is searched for words: an error page may be megabytes, and says it at the start."""


class ErrorFacts(msgspec.Struct):
    """What an error document says."""

    message: str
    code: str | None = None
    type: str | None = None
    status: int | None = None
    request_id: str | None = None
    raw: Any = None
    reason: str | None = None
    retry_after: float | None = None


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
        or _text(document.get("Message"))
        or _detail(error.get("message"))
        or _detail(document.get("detail"))
        or _text(error.get("error_message"))
        or "the provider sent an error without a message"
    )
    # Google's code is the HTTP status as a number; the code to tell errors apart by is its `status`.
    code = None if isinstance(error.get("status"), str) else _text(error.get("code"))
    type_ = (
        _text(error.get("type"))
        or (_text(error.get("status")) if isinstance(error.get("status"), str) else None)
        or _text(error.get("error_type"))
        or _metadata_type(error.get("metadata"))
        or _aws_type(document)
    )
    named = (
        error.get("status_code"), document.get("status_code"), document.get("raw_status_code"),
        document.get("status"), error.get("code"),
    )  # fmt: skip
    status = next((number for number in map(_status, named) if number is not None), None)
    request_id = _text(document.get("request_id")) or _text(error.get("request_id"))
    facts = ErrorFacts(message, code, type_, status, request_id, raw)
    facts.reason, facts.retry_after = _google_details(error.get("details"))
    return _unwrap(facts)


def typed_error(
    facts: ErrorFacts,
    table: ErrorTable,
    *,
    provider: str,
    status: int | None = None,
    request_id: str | None = None,
    retry_after: float | None = None,
    default: type[ProviderError] = ProviderError,
) -> ProviderError:
    """The typed error for these facts; `status` is the HTTP status when that is what failed.

    `default` is the class where neither code, words nor status say more.
    """
    status = status if status is not None and status >= 400 else facts.status or status
    cls = _class(facts, table, status, default)
    return cls(
        facts.message,
        provider=provider,
        status=status,
        code=facts.code or facts.type,
        request_id=request_id or facts.request_id,
        retry_after=next(
            (
                seconds
                for seconds in (retry_after, facts.retry_after, _retry_after(facts.message))
                if seconds is not None
            ),
            None,
        ),
        raw=facts.raw,
    )


def _class(
    facts: ErrorFacts, table: ErrorTable, status: int | None, default: type[ProviderError]
) -> type[ProviderError]:
    names = (facts.reason, facts.code, facts.type)
    known = next((table[name] for name in names if name is not None and name in table), None)
    words = facts.message[:_WORDS_LIMIT]
    if known is None or known is BadRequestError:
        for pattern, cls, statuses in _WORDS if status != 402 else ():  # 402: there is no money
            if (statuses is None or status in statuses) and pattern.search(words):
                return cls
        if known is BadRequestError and status is not None:
            # "Invalid request" is said of a missing key, too.
            return table.get(f"HTTP {status}") or STATUS_ERRORS.get(status, known)
    busy = known in (None, ServerError) and (status is None or status == 429 or status >= 500)
    if busy and OVERLOAD_WORDS.search(words):
        return OverloadedError
    if known is RateLimitError and TOO_LARGE_WORDS.search(words):
        return BadRequestError  # larger than the limit itself: waiting does not help
    if known is not None:
        return known
    if status is None:
        return default
    return table.get(f"HTTP {status}") or STATUS_ERRORS.get(
        status, ServerError if status >= 500 else BadRequestError if status >= 400 else ProviderError
    )


_REFUSED = frozenset({None, 400, 413, 422})

_WORDS: tuple[tuple[re.Pattern[str], type[ProviderError], frozenset[int | None] | None], ...] = (
    (CONTEXT_WORDS, ContextWindowExceededError, _REFUSED),
    (KEY_WORDS, AuthenticationError, None),
    (LOCATION_WORDS, PermissionDeniedError, None),
    (BILLING_WORDS, PermissionDeniedError, None),
    (QUOTA_WORDS, RateLimitError, None),
    (MODEL_WORDS, NotFoundError, None),
    (FILTER_WORDS, ContentFilterError, _REFUSED),
)
"""Words that mean the same with every provider, and the HTTP statuses that they stand with (None: all)."""


def _status(value: Any) -> int | None:
    """An HTTP error status, as a number or as a numeral."""
    if isinstance(value, str) and len(value) == 3 and value.isascii() and value.isdigit():
        value = int(value)
    return value if isinstance(value, int) and 400 <= value < 600 else None


def _aws_type(document: dict[str, Any]) -> str | None:
    """`namespace#Name`, as AWS writes it into some bodies."""
    output = document.get("Output")
    name = document.get("__type") or (output.get("__type") if isinstance(output, dict) else None)
    return name.rpartition("#")[2] if isinstance(name, str) else None


def _metadata_type(metadata: Any) -> str | None:
    """OpenRouter's own word for an upstream's error."""
    if not isinstance(metadata, dict):
        return None
    return _text(metadata.get("error_type")) or ("flagged_input" if metadata.get("flagged_input") else None)


def _google_details(details: Any) -> tuple[str | None, float | None]:
    """The reason and the seconds to wait that google.rpc's `ErrorInfo` and `RetryInfo` details name.

    Source: https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto; a duration is
    written as `"34.07s"`.
    """
    reason: str | None = None
    delay: float | None = None
    for item in details if isinstance(details, list) else ():
        if isinstance(item, dict):
            reason = reason or _text(item.get("reason"))
            found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)s", str(item.get("retryDelay")))
            delay = float(found[1]) if found and delay is None else delay
    return reason, delay


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
    inner.request_id = inner.request_id or facts.request_id
    return inner


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value or None
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _detail(value: Any) -> str | None:
    if isinstance(value, list):
        words = [_text(item.get("msg") if isinstance(item, dict) else item) for item in value]
        return "; ".join(word for word in words if word) or None
    if isinstance(value, dict):
        inner = value.get("detail")
        return _text(value.get("message")) or (_detail(inner) if not isinstance(inner, dict) else None)
    return _text(value)


def _retry_after(message: str) -> float | None:
    found = RETRY_WORDS.search(message[:_WORDS_LIMIT])
    if found is None:
        return None
    minutes, amount, unit = found.groups()
    return int(minutes or 0) * 60 + float(amount) / (1000 if unit.lower() == "ms" else 1)

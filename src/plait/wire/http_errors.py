"""An HTTP error response (status, headers, body) -> a typed error."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime

from plait import json_text
from plait.errors import QUOTE_LIMIT, ProviderError
from plait.wire import aws
from plait.wire.errors import ErrorFacts, ErrorTable, error_facts, typed_error

REQUEST_ID_HEADERS = (
    "x-request-id",
    "request-id",
    "x-amzn-requestid",
    "apim-request-id",
    "x-generation-id",
    "mistral-correlation-id",
    "x-ds-trace-id",
    "inference-id",
    "x-goog-request-id",
    "x-debug-trace-id",
    "cf-ray",
)
"""Headers that name the request, the provider's own before those of what stands in front of it."""

_RESET_HEADERS = ("x-ratelimit-reset-requests", "x-ratelimit-reset-tokens", "x-ratelimit-reset")
_SPAN = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def http_error(
    provider: str, table: ErrorTable, status: int, headers: Mapping[str, str], body: bytes | str
) -> ProviderError:
    """The typed error for a response with this status (400 and up).

    The body may be JSON of any shape, whatever its content type says, or text, or an HTML page.
    """
    fields = {name.lower(): value for name, value in headers.items()}
    text = body if isinstance(body, str) else bytes(body).decode("utf-8", "replace")
    facts = _facts(text.strip(), status)
    kind = fields.get("x-amzn-errortype")
    if kind:
        # "ThrottlingException:http://internal.amazon.com/..." or a bare name
        facts.code = facts.code or kind.partition(":")[0].rpartition("#")[2]
        table = {**aws.ERRORS, **table}
    request_id = next((fields[name] for name in REQUEST_ID_HEADERS if fields.get(name)), None)
    return typed_error(
        facts,
        table,
        provider=provider,
        status=status,
        request_id=request_id,
        retry_after=retry_after(fields) if status in (408, 409, 429) or status >= 500 else None,
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from lower-case response headers; None when they do not say.

    The longest of `retry-after-ms`, `retry-after` (seconds, or a date: then counted from the response's
    own `date`), and only without these the reset times of a rate limit. Values of zero or less say nothing.
    """
    waits = [wait for wait in _asked(headers) if wait > 0]
    if not waits:
        waits = [_span(headers[name]) for name in _RESET_HEADERS if name in headers]
    longest = max(waits, default=0.0)
    return longest if longest > 0 else None


def _asked(headers: Mapping[str, str]) -> Iterator[float]:
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if re.fullmatch(r"[0-9]{1,300}(\.[0-9]{1,9})?", value):
            yield float(value) * unit
        elif value and name == "retry-after":
            try:
                yield (parsedate_to_datetime(value) - parsedate_to_datetime(headers["date"])).total_seconds()
            except (ValueError, TypeError, KeyError):
                continue


def _span(text: str) -> float:
    """Seconds of `6m0s`, `12ms` or `1.5`; 0 for anything else, such as an absolute time."""
    if re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,9})?", text):
        return float(text)
    found = _SPAN.findall(text)
    if "".join(amount + unit for amount, unit in found) != text:
        return 0.0
    return sum(float(amount) * _SECONDS[unit] for amount, unit in found)


def _facts(text: str, status: int) -> ErrorFacts:
    try:
        document = json_text.loads(text)
    except ValueError:
        document = None
    if isinstance(document, dict) or (isinstance(document, list) and document):
        return error_facts(document)
    words = document if isinstance(document, str) and document else text
    if not words:
        return ErrorFacts(f"HTTP {status} without a body", raw=text)
    if words.startswith("<"):
        title = re.search(r"<title>\s*([^<]{1,200}?)\s*</title>", words, re.IGNORECASE)
        words = f"HTTP {status} with an HTML page{f': {title[1]}' if title else ''}"
    return ErrorFacts(words[:QUOTE_LIMIT], raw=text)

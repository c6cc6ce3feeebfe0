"""AWS's errors, of every wire format that Bedrock speaks: by name, in a document, and as frames.

Sources: the service model `bedrock-runtime/2023-09-30` and `eventstream.py` of botocore 1.44, and
https://docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plait import json_text
from plait.errors import (
    AuthenticationError,
    BadRequestError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    ProviderError,
    RateLimitError,
    ServerError,
)
from plait.framing import EventStreamMessage
from plait.wire.errors import ErrorFacts, error_facts, typed_error

_ERRORS: Mapping[str, type[ProviderError]] = {
    "AccessDeniedException": PermissionDeniedError,
    "ConflictException": BadRequestError,
    "ExpiredTokenException": AuthenticationError,
    "IncompleteSignature": AuthenticationError,
    "InternalFailure": ServerError,
    "InternalServerException": ServerError,
    "InvalidClientTokenId": AuthenticationError,
    "InvalidSignatureException": AuthenticationError,
    "MissingAuthenticationToken": AuthenticationError,
    "MissingAuthenticationTokenException": AuthenticationError,
    "ModelErrorException": ServerError,
    "ModelNotReadyException": OverloadedError,
    "ModelStreamErrorException": ServerError,
    "ModelTimeoutException": ServerError,
    "NotAuthorized": PermissionDeniedError,
    "OptInRequired": PermissionDeniedError,
    "ResourceNotFoundException": NotFoundError,
    "SerializationException": BadRequestError,
    "ServiceQuotaExceededException": RateLimitError,
    "ServiceUnavailable": OverloadedError,
    "ServiceUnavailableException": OverloadedError,
    "ThrottlingException": RateLimitError,
    "UnknownOperationException": NotFoundError,
    "UnrecognizedClientException": AuthenticationError,
    "ValidationError": BadRequestError,
    "ValidationException": BadRequestError,
}

ERRORS: Mapping[str, type[ProviderError]] = {
    **_ERRORS,
    **{name[0].lower() + name[1:]: cls for name, cls in _ERRORS.items()},
}
"""Class of each error by its name: `ThrottlingException` in HTTP headers, `throttlingException` in frames."""


def message_error(message: EventStreamMessage, provider: str) -> ProviderError | None:
    """The error that a message of an event stream is; None for an event.

    An `exception` is one that the service's model has, its facts are in the payload; an `error` is any
    other, its facts are in the headers. A message that does not say its type is told by those headers, and an
    event of type `error` (of something in between) is an error, too.
    """
    kind, name, code = message.message_type, message.exception_type, message.error_code
    if kind == "exception" or (kind is None and name is not None):
        facts = document_facts(_document(message.payload, name))
        facts.code = name or facts.code
        return typed_error(facts, ERRORS, provider=provider)
    if kind == "error" or (kind is None and code is not None) or message.event_type == "error":
        facts = document_facts(_document(message.payload, code))
        facts.message = message.error_message or facts.message
        facts.code = code or facts.code
        return typed_error(facts, ERRORS, provider=provider, default=ServerError)
    return None


def member_error(document: Any, provider: str) -> ProviderError | None:
    """The error in `{"throttlingException": {"message": ...}}`: an exception as the member of a union."""
    if not isinstance(document, dict):
        return None
    for name, inner in document.items():
        if (name in ERRORS or name.endswith("Exception")) and isinstance(inner, dict):
            facts = document_facts(inner)
            facts.code, facts.raw = name, document
            return typed_error(facts, ERRORS, provider=provider)
    return None


def document_facts(document: Any) -> ErrorFacts:
    """As `error_facts`; the status that a model answered Bedrock with is the error's."""
    facts = error_facts(document)
    status = document.get("originalStatusCode") if isinstance(document, dict) else None
    if facts.status is None and isinstance(status, int) and 400 <= status < 600:
        facts.status = status
    return facts


def _document(payload: bytes, name: str | None) -> Any:
    text = payload.decode("utf-8", "replace")
    try:
        document = json_text.loads_tolerant(text)
    except ValueError:
        document = text
    if isinstance(document, dict) and document.keys() - {"p"}:
        return document
    words = document if isinstance(document, str) and document.strip() else None
    return {"message": words or name or "an error without a name"}

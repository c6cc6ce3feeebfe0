"""Servers of the Responses API, and what each takes otherwise.

Sources, as of 2026-11: the `openai` SDK 3.57 types, the providers' documentation and recordings of requests
that were answered (OpenAI, Azure, xAI, DeepSeek, Bedrock Mantle, ChatGPT's Codex backend).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from plait.errors import UnknownWireError
from plait.wire.openai_responses.mapping import FORMAT, TEXT_FORMAT

WIRE = "openai-responses"

Ids: TypeAlias = Literal["stored", "reasoning", "required", "never"]
"""Which ids of items go back: all if the provider stores responses, those of reasoning, all (and calls and
reasoning without one get one), or none."""

_OWN = frozenset({WIRE, FORMAT})
_UPSTREAM = frozenset({"unknown", "azure-openai-responses-v1", "xai-responses-v1"})
"""Formats that OpenRouter names and nobody else makes."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one server takes.

    Attributes:
        formats: of reasoning, kept items and extras that it takes back
        ids: which ids of items are sent
        names_formats: reasoning items say in `format` who made them
        id_prefixes: ids must begin as OpenAI's do (`rs_`, `msg_`, `fc_`), so others are left out
        call_id_length: the longest `call_id`, where there is a limit
        encrypts: it encrypts reasoning on demand, so that a server that keeps nothing can be given it back
        stores: it keeps responses, so `store` and `previous_response_id` can be asked for
        forced: fields it demands, whatever was asked
        only: the options that it takes, where it refuses all others
        late_instructions: system text belongs into `instructions` wherever it stands
        web_search: the `type` of the web search tool
        blocked_domains: the filter for domains that are not searched, where there is one
        user: the field for the end user's id
        refuses_sampling: OpenAI's reasoning models are served, which refuse `temperature` and `top_p`
        source: where the differences are written
        reading: the parser's options for this server
    """

    formats: frozenset[str] = _OWN
    ids: Ids = "stored"
    names_formats: bool = False
    id_prefixes: bool = False
    call_id_length: int | None = None
    encrypts: bool = True
    stores: bool = True
    forced: tuple[tuple[str, Any], ...] = ()
    only: frozenset[str] | None = None
    late_instructions: bool = False
    web_search: Literal["web_search", "web_search_preview"] = "web_search"
    blocked_domains: str | None = None
    user: Literal["safety_identifier", "user"] = "safety_identifier"
    refuses_sampling: bool = True
    source: str | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)


UNKNOWN = Dialect(formats=_OWN | {TEXT_FORMAT} | _UPSTREAM)
"""What is sent where no dialect is named: all that this wire's parser reads goes back."""

DIALECTS: Mapping[str, Dialect] = {
    "openai": Dialect(id_prefixes=True, call_id_length=64),
    "azure": Dialect(
        id_prefixes=True,
        call_id_length=64,
        web_search="web_search_preview",
        source="https://learn.microsoft.com/azure/ai-foundry/openai/how-to/responses",
    ),
    "xai": Dialect(
        blocked_domains="excluded_domains",
        user="user",
        refuses_sampling=False,
        source="https://docs.x.ai/docs/guides/tools/search-tools",
    ),
    "openrouter": Dialect(
        formats=_OWN | {TEXT_FORMAT} | _UPSTREAM | {"anthropic-claude-v1", "google-gemini-v1"},
        ids="required",
        names_formats=True,
        stores=False,
        user="user",
        refuses_sampling=False,
        source="https://openrouter.ai/docs/api/reference/responses/overview",
    ),
    "deepseek": Dialect(
        formats=_OWN | {TEXT_FORMAT},
        ids="reasoning",
        encrypts=False,
        stores=False,
        user="user",
        refuses_sampling=False,
        source="https://api-docs.deepseek.com",
    ),
    "bedrock": Dialect(
        formats=_OWN | {TEXT_FORMAT},
        source="https://docs.aws.amazon.com/bedrock/latest/userguide/bedrock-mantle.html",
    ),
    "codex": Dialect(
        ids="never",
        stores=False,
        forced=(("store", False), ("stream", True)),
        only=frozenset(
            {"tools", "tool_choice", "parallel_tool_calls", "reasoning", "include_usage", "store"}
        ),
        late_instructions=True,
        source="https://github.com/openai/codex",
    ),
}
"""One row for each server that is known."""


def row(dialect: str | None) -> Dialect:
    """The row of a dialect.

    Raises:
        UnknownWireError: no such dialect
    """
    found = DIALECTS.get(dialect) if dialect is not None else UNKNOWN
    if found is None:
        raise UnknownWireError(f"{WIRE} has no dialect {dialect!r}; its dialects are {', '.join(DIALECTS)}")
    return found

"""The servers that speak Chat Completions: one row each, with what conflicts between them and nothing else.

A row is read by `request.py`, its `reading` also by the parser. What is common to all is in the code: system
text is sent as `system` (OpenAI reads it as `developer` where a model wants that; the others know no
`developer`), text alone goes as a bare string, tool results each as one `tool` message.

Without a dialect the server is unknown: its options are OpenAI's, but for `user`, and the reasoning of this
wire is sent back in the field it came in. Whoever asks another server than the one that made the history
should name it: most servers refuse reasoning they do not know.

Sources, as of 2026-11: "SDK" are the request types of openai 3.57, groq 1.7, cerebras 1.91, together 3.1,
openrouter 1.3, perplexityai 0.46, fireworks-ai 1.2 and huggingface_hub 2.4; otherwise the server's own page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
ToolChoice: TypeAlias = Literal["auto", "none", "required", "named"]
Output: TypeAlias = Literal["json_schema", "json_object"]
Media: TypeAlias = Literal["image", "image-data", "audio", "file", "file-url", "file_url", "video"]
"""Kinds of user parts. `image-data`: not by URL; `file-url`: by URL too; `file_url`: Perplexity's part."""

EFFORTS: tuple[Effort, ...] = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


@dataclass(frozen=True, slots=True)
class Thinking:
    """The fields that control reasoning, as paths (`reasoning.effort`); None where there is none.

    Attributes:
        effort: takes one of `efforts`
        efforts: what it takes; another value is sent as the nearest
        budget: takes a number of tokens
        switch: the field that turns reasoning on and off, and its two values
        summary: takes how much of it is told
        either: effort or budget, not both
    """

    effort: str | None = "reasoning_effort"
    efforts: tuple[Effort, ...] = EFFORTS
    budget: str | None = None
    switch: tuple[str, Any, Any] | None = None
    summary: str | None = None
    either: bool = False


@dataclass(frozen=True, slots=True)
class Search:
    """How a server's own web search is asked for.

    Attributes:
        base: what is put into the body, or, with `tool`, among the tools
        fields: paths of the fields of `options.WebSearch` in it; the others have no place
        tool: it is a tool
        location: how the user's location is written: as it is, typed, or typed and nested
    """

    base: Mapping[str, Any]
    fields: Mapping[str, str] = field(default_factory=dict)
    tool: bool = False
    location: Literal["flat", "typed", "nested"] = "flat"


@dataclass(frozen=True, slots=True)
class Dialect:
    """One server.

    Attributes:
        source: where the facts are written
        options: the server's field for each plain option; other options are dropped with a note
        media: kinds of parts that a user message takes
        audio: formats of sound that it takes
        outputs: forms of structured output; what is missing is asked for in words
        strict: schemas are kept to exactly only if they are in the subset of `plait.wire.schemas`
        tool_choices: forms of `tool_choice`
        tools: tools are taken at all
        custom_tools: tools with free text instead of JSON are taken
        usage: of a stream: must be `asked` for, is `given` anyway, or `refused` to whoever asks
        thinking: how reasoning is controlled
        replays: formats of reasoning that are taken back, each in its own field (`reasoning`,
            `reasoning_content`; `openrouter` is `reasoning_details`)
        needs_reasoning: a turn with tool calls must have the field, even if empty
        keeps: what makes the server read the reasoning it is sent back
        strict_roles: one system message, at the start; then user and assistant in turn
        result_media: images may stand in a tool's result
        refusals: `refusal` of an assistant message is taken back
        spoken: an answer that was spoken is sent back by its id
        extra_content: Google's signatures are taken back
        id_pattern: ids of calls that are taken as they are
        prefix: the field that has the last assistant message continued
        stops: the most `stop` texts
        cache_key: the field for the key of a cached prompt
        cache_times: the field for a cache's time to live, by its value
        cache_marks: parts are marked with `cache_control`
        search: how a web search is asked for
        adds: always sent, because the server's own default loses something
        reading: the parser's options for this server
    """

    source: str
    options: Mapping[str, str]
    media: frozenset[Media] = frozenset({"image"})
    audio: tuple[str, ...] = ("wav", "mp3")
    outputs: tuple[Output, ...] = ("json_schema", "json_object")
    strict: bool = False
    tool_choices: frozenset[ToolChoice] = frozenset({"auto", "none", "required", "named"})
    tools: bool = True
    custom_tools: bool = False
    usage: Literal["asked", "given", "refused"] = "asked"
    thinking: Thinking = field(default_factory=Thinking)
    replays: frozenset[str] = frozenset()
    needs_reasoning: str | None = None
    keeps: Mapping[str, Any] = field(default_factory=dict)
    strict_roles: bool = False
    result_media: bool = False
    refusals: bool = False
    spoken: bool = False
    extra_content: bool = False
    id_pattern: str = r"[\s\S]+"
    prefix: str | None = None
    stops: int | None = None
    cache_key: str | None = None
    cache_times: Mapping[str, str] = field(default_factory=dict)
    cache_marks: bool = False
    search: Search | None = None
    adds: Mapping[str, Any] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)


def _fields(limit: str, *names: str, **renamed: str) -> dict[str, str]:
    named = {name: name for name in ("temperature", "top_p", "stop", *names)}
    return {"max_output_tokens": limit, **named, **renamed}


_PENALTIES = ("presence_penalty", "frequency_penalty")
_THINKING_TYPE = ("thinking.type", "enabled", "disabled")
_TEMPLATE_SWITCH = ("chat_template_kwargs.enable_thinking", True, False)
_LOW_TO_HIGH: tuple[Effort, ...] = ("low", "medium", "high")
_NONE_TO_HIGH: tuple[Effort, ...] = ("none", *_LOW_TO_HIGH)
_TEXT_FIELDS = frozenset({"reasoning", "reasoning_content"})

_OPENAI = Dialect(
    source="openai SDK 3.57; https://developers.openai.com/api/docs/api-reference/chat/create",
    options=_fields(
        "max_completion_tokens", *_PENALTIES, "seed", "parallel_tool_calls", "metadata", "store",
        "service_tier", "verbosity", user="safety_identifier",
    ),
    media=frozenset({"image", "audio", "file"}),
    custom_tools=True,
    refusals=True,
    spoken=True,
    # 400 "string too long. Expected a string with maximum length 40" for `tool_calls[].id`.
    id_pattern=r"[\s\S]{1,40}",
    strict=True,
    stops=4,
    cache_key="prompt_cache_key",
    cache_times={"30m": "prompt_cache_options.ttl", "24h": "prompt_cache_retention"},
    # Of the search models only.
    search=Search(
        {"web_search_options": {}},
        {
            "context_size": "web_search_options.search_context_size",
            "user_location": "web_search_options.user_location",
        },
        location="nested",
    ),
)  # fmt: skip

_USER = {"user": "user"}

UNKNOWN = replace(
    _OPENAI,
    options={**_OPENAI.options, **_USER},
    replays=frozenset({*_TEXT_FIELDS, "openrouter"}),
    extra_content=True,
    id_pattern=r"[\s\S]+",
)
"""What is sent where no dialect is named."""

DIALECTS: Mapping[str, Dialect] = {
    "openai": _OPENAI,
    # https://learn.microsoft.com/azure/ai-foundry/openai/reference: OpenAI's, before `safety_identifier`.
    "azure": replace(
        _OPENAI,
        source="https://learn.microsoft.com/azure/ai-foundry/openai/reference",
        options={**_OPENAI.options, **_USER},
        search=None,
    ),
    # SDK, also images in results; that usage comes anyway, files by URL and `reasoning_details` are recorded.
    "openrouter": Dialect(
        source="openrouter SDK 1.3; https://openrouter.ai/docs/api-reference",
        options=_fields(
            "max_completion_tokens", *_PENALTIES, "top_k", "seed", "parallel_tool_calls", "metadata", "user",
            "service_tier",
        ),
        media=frozenset({"image", "audio", "file", "file-url", "video"}),
        audio=("wav", "mp3", "aiff", "aac", "ogg", "flac", "m4a"),
        strict=True,
        usage="given",
        thinking=Thinking(
            "reasoning.effort", EFFORTS, "reasoning.max_tokens", ("reasoning.enabled", True, False),
            summary="reasoning.summary", either=True,
        ),
        replays=frozenset({"openrouter", "reasoning"}),
        result_media=True,
        refusals=True,
        cache_key="prompt_cache_key",
        cache_marks=True,
        search=Search(
            {"type": "openrouter:web_search"},
            {
                "context_size": "parameters.search_context_size",
                "allowed_domains": "parameters.allowed_domains",
                "blocked_domains": "parameters.excluded_domains",
                "max_uses": "parameters.max_uses",
                "user_location": "parameters.user_location",
            },
            tool=True,
            location="typed",
        ),
    ),
    # Text only, JSON without a schema; the field must stand on turns with tool calls, even empty: 400 "The
    # `reasoning_content` in the thinking mode must be passed back to the API."
    "deepseek": Dialect(
        source="https://api-docs.deepseek.com/api/create-chat-completion, .../guides/thinking_mode",
        options=_fields("max_tokens", *_PENALTIES),
        media=frozenset(),
        outputs=("json_object",),
        usage="given",
        thinking=Thinking(efforts=(*_LOW_TO_HIGH, "xhigh", "max"), switch=_THINKING_TYPE),
        replays=frozenset({"reasoning_content"}),
        needs_reasoning="reasoning_content",
    ),
    # SDK: `reasoning` of an assistant message. Searching: compound models only.
    "groq": Dialect(
        source="groq SDK 1.7; https://console.groq.com/docs/api-reference",
        options=_fields(
            "max_completion_tokens", *_PENALTIES, "seed", "parallel_tool_calls", "user", "service_tier"
        ),
        strict=True,
        usage="given",
        thinking=Thinking(efforts=_NONE_TO_HIGH),
        replays=frozenset({"reasoning"}),
        search=Search(
            {"search_settings": {}},
            {
                "allowed_domains": "search_settings.include_domains",
                "blocked_domains": "search_settings.exclude_domains",
            },
        ),
    ),
    # Reasoning comes back as text and is not needed again; no encrypted form on this endpoint.
    "xai": Dialect(
        source="https://docs.x.ai/docs/api-reference",
        options=_fields("max_completion_tokens", *_PENALTIES, "seed", "parallel_tool_calls", "user"),
        strict=True,
        thinking=Thinking(efforts=("low", "high")),
        search=Search({"search_parameters": {"mode": "on"}}),
    ),
    # SDK: either reasoning field of an assistant message; sound as wav only.
    "together": Dialect(
        source="together SDK 3.1; https://docs.together.ai/reference/chat-completions",
        options=_fields("max_tokens", *_PENALTIES, "top_k", "seed", "parallel_tool_calls"),
        media=frozenset({"image", "audio", "video"}),
        audio=("wav",),
        usage="given",
        thinking=Thinking(efforts=_LOW_TO_HIGH, switch=("reasoning.enabled", True, False)),
        replays=_TEXT_FIELDS,
    ),
    # SDK. A prompt that is too long would be cut without a word.
    "fireworks": Dialect(
        source="fireworks-ai SDK 1.2; https://docs.fireworks.ai/api-reference/post-chatcompletions",
        options=_fields(
            "max_tokens", *_PENALTIES, "top_k", "seed", "parallel_tool_calls", "metadata", "user",
            "service_tier",
        ),
        media=frozenset({"image", "video"}),
        usage="given",
        thinking=Thinking(
            "reasoning_effort", _NONE_TO_HIGH, "thinking.budget_tokens", _THINKING_TYPE, either=True
        ),
        replays=frozenset({"reasoning_content"}),
        cache_key="prompt_cache_key",
        adds={"context_length_exceeded_behavior": "error"},
    ),
    # SDK. It always searches; its reasoning is in the text between tags; user and assistant must alternate.
    "perplexity": Dialect(
        source="perplexityai SDK 0.46; https://docs.perplexity.ai/api-reference/chat-completions-post",
        options=_fields("max_tokens", *_PENALTIES, "top_k"),
        media=frozenset({"image", "file_url", "video"}),
        outputs=("json_schema",),
        tool_choices=frozenset(),
        tools=False,
        usage="refused",
        thinking=Thinking(efforts=("minimal", *_LOW_TO_HIGH)),
        strict_roles=True,
        search=Search(
            {},
            {
                "context_size": "web_search_options.search_context_size",
                "user_location": "web_search_options.user_location",
                "allowed_domains": "search_domain_filter",
            },
        ),
    ),
    "cerebras": Dialect(  # SDK
        source="cerebras_cloud_sdk 1.91; https://inference-docs.cerebras.ai/api-reference/chat-completions",
        options=_fields(
            "max_completion_tokens", *_PENALTIES, "seed", "parallel_tool_calls", "user", "service_tier"
        ),
        strict=True,
        thinking=Thinking(efforts=_NONE_TO_HIGH),
        replays=frozenset({"reasoning"}),
        cache_key="prompt_cache_key",
    ),
    # The types of huggingface_hub: no field for reasoning in a message.
    "huggingface": Dialect(
        source="huggingface_hub 2.4; https://huggingface.co/docs/inference-providers/tasks/chat-completion",
        options=_fields("max_tokens", *_PENALTIES, "seed"),
        thinking=Thinking(efforts=_LOW_TO_HIGH),
    ),
    # Reasoning must be kept over the turns of a tool call.
    "moonshot": Dialect(
        source="https://platform.kimi.ai/docs/api/chat",
        options=_fields("max_tokens", *_PENALTIES),
        thinking=Thinking(None, switch=_THINKING_TYPE),
        replays=frozenset({"reasoning_content"}),
        needs_reasoning="reasoning_content",
        prefix="partial",
        search=Search({"type": "builtin_function", "function": {"name": "$web_search"}}, tool=True),
    ),
    # Parts of type `file` are refused.
    "alibaba": Dialect(
        source="https://www.alibabacloud.com/help/en/model-studio/qwen-api-reference",
        options=_fields("max_tokens", "presence_penalty", "top_k", "seed", "parallel_tool_calls"),
        media=frozenset({"image", "audio", "video"}),
        thinking=Thinking(None, budget="thinking_budget", switch=("enable_thinking", True, False)),
        replays=frozenset({"reasoning_content"}),
        search=Search({"enable_search": True}),
    ),
    # `stream_options` is ignored; reasoning is read again only with `clear_thinking: false`.
    "zai": Dialect(
        source="https://docs.z.ai/api-reference/llm/chat-completion",
        options=_fields("max_tokens", user="user_id"),
        media=frozenset({"image", "video"}),
        outputs=("json_object",),
        tool_choices=frozenset({"auto"}),
        usage="given",
        thinking=Thinking(switch=_THINKING_TYPE),
        replays=frozenset({"reasoning_content"}),
        keeps={"thinking": {"clear_thinking": False}},
        search=Search({"type": "web_search", "web_search": {"enable": True}}, tool=True),
    ),
    # Reasoning comes in `reasoning`, in older ones in `reasoning_content`: vllm-project/vllm#27755. Templates
    # refuse a second system message and roles that do not alternate: vllm-project/vllm#6862.
    "vllm": Dialect(
        source="https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html",
        options=_fields(
            "max_completion_tokens", *_PENALTIES, "top_k", "seed", "parallel_tool_calls", "user"
        ),
        media=frozenset({"image", "audio", "video"}),
        audio=("wav", "mp3", "flac", "ogg"),
        thinking=Thinking(switch=_TEMPLATE_SWITCH),
        replays=_TEXT_FIELDS,
        strict_roles=True,
    ),
    "llamacpp": Dialect(  # the model's own template, as with vLLM
        source="https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
        options=_fields("max_tokens", *_PENALTIES, "top_k", "seed", "parallel_tool_calls"),
        media=frozenset({"image", "audio"}),
        thinking=Thinking(
            "chat_template_kwargs.reasoning_effort", _LOW_TO_HIGH, "reasoning_budget", _TEMPLATE_SWITCH
        ),
        replays=frozenset({"reasoning_content"}),
        strict_roles=True,
    ),
    "lmstudio": Dialect(  # which reasoning field it sends is a setting
        source="https://lmstudio.ai/docs/developer/openai-compat/chat-completions",
        options=_fields("max_tokens", *_PENALTIES, "top_k", "seed"),
        thinking=Thinking(efforts=_LOW_TO_HIGH),
        replays=_TEXT_FIELDS,
        strict_roles=True,
    ),
    # Images as base64 only; no `tool_choice`; it sends `reasoning` and takes both names.
    "ollama": Dialect(
        source="https://docs.ollama.com/api/openai-compatibility",
        options=_fields("max_tokens", *_PENALTIES, "seed"),
        media=frozenset({"image-data"}),
        tool_choices=frozenset(),
        thinking=Thinking(efforts=_NONE_TO_HIGH),
        replays=_TEXT_FIELDS,
    ),
    # `reasoning` and `reasoning_details` as OpenRouter has them: recorded.
    "snowflake": Dialect(
        source="https://docs.snowflake.com/en/user-guide/snowflake-cortex/cortex-rest-api",
        options=_fields("max_completion_tokens"),
        thinking=Thinking("reasoning.effort"),
        replays=frozenset({"openrouter"}),
    ),
    # No public reference: what its editors send.
    "copilot": Dialect(
        source="public recordings of its clients",
        options=_fields("max_tokens"),
    ),
    "venice": Dialect(
        source="https://docs.venice.ai/api-reference/endpoint/chat/completions",
        options=_fields(
            "max_completion_tokens", *_PENALTIES, "top_k", "seed", "parallel_tool_calls", "user"
        ),
        search=Search({"venice_parameters": {"enable_web_search": "on"}}),
    ),
    # Signatures stand in `extra_content`, on the call or message they came with, and must come back.
    "google": Dialect(
        source="https://ai.google.dev/gemini-api/docs/openai",
        options=_fields("max_completion_tokens", *_PENALTIES, "seed"),
        media=frozenset({"image", "audio"}),
        thinking=Thinking(
            "reasoning_effort",
            ("none", "minimal", *_LOW_TO_HIGH),
            "extra_body.google.thinking_config.thinking_budget",
            either=True,
        ),
        extra_content=True,
    ),
}  # fmt: skip

"""The candidates: for each, how its own public client is made to read an invented stream.

A client gets its bytes from an in-process mock of its HTTP library, one event a chunk, as providers send
them. Nothing is imported until a candidate is opened; a peer is looked up by the module it needs.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from .reading import AsyncIteration, Bytes, Feeding, Floor, Iteration, Reading
from .streams import Stream

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else importing LiteLLM fetches a price list

MODEL = {
    "openai-chat": "gpt-5-mini",
    "openai-responses": "gpt-5-mini",
    "anthropic-messages": "claude-sonnet-4-5",
}
PROMPT = "Describe the bridge."
MESSAGES = [{"role": "user", "content": PROMPT}]
_HEADERS = {"content-type": "text/event-stream"}

Opener = Callable[[Stream], Reading]
Text = Callable[[Any], str | None]


@dataclass(frozen=True)
class Candidate:
    """A row of the table.

    Attributes:
        name: what it is called
        openers: for each wire format that it reads, what sets it up for a stream
        module: the module that must be installed, for all wire formats or for each
    """

    name: str
    openers: Mapping[str, Opener]
    module: str | Mapping[str, str] = "plait"

    def missing(self, wire: str) -> str | None:
        """Why it cannot be measured on this wire format: it is not installed, or does not read it."""
        if wire not in self.openers:
            return "does not read this wire format"
        module = self.module if isinstance(self.module, str) else self.module[wire]
        return None if find_spec(module) else f"not installed: {module}"


# The mock transport: httpx2, which the SDKs use now, or httpx.


def _http(module: str = "openai") -> Any:
    """The HTTP library that a client is built on; SDKs moved from httpx to httpx2."""
    client = import_module(module)
    default = getattr(client, "DefaultHttpxClient", None)
    names = {base.__module__.partition(".")[0] for base in default.__mro__} if default else set()
    return import_module("httpx2" if "httpx2" in names else "httpx")


def _client(http: Any, chunks: Sequence[bytes]) -> Any:
    def respond(_request: object) -> Any:
        return http.Response(200, headers=_HEADERS, content=list(chunks))

    return http.Client(transport=http.MockTransport(respond))


def _async_client(http: Any, chunks: Sequence[bytes]) -> Any:
    async def body() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    def respond(_request: object) -> Any:
        return http.Response(200, headers=_HEADERS, content=body())

    return http.AsyncClient(transport=http.MockTransport(respond))


def _transport(stream: Stream) -> Reading:
    client = _client(_http("anthropic" if stream.wire == "anthropic-messages" else "openai"), stream.events)

    def items() -> Iterator[bytes]:
        with client.stream(
            "POST", "https://example.com/v1/", json={"model": "m", "messages": MESSAGES}
        ) as response:
            yield from response.iter_bytes()

    return Bytes(items)


# The official SDKs. Raw is `create(stream=True)`, the helper `stream(...)`, which keeps a snapshot.


def _openai(stream: Stream) -> Any:
    return import_module("openai").OpenAI(api_key="none", http_client=_client(_http("openai"), stream.events))


def _anthropic(stream: Stream) -> Any:
    http_client = _client(_http("anthropic"), stream.events)
    return import_module("anthropic").Anthropic(api_key="none", http_client=http_client)


def _chat_text(chunk: Any) -> Any:
    if not chunk.choices:
        return None
    delta = chunk.choices[0].delta
    return delta.tool_calls[0].function.arguments if delta.tool_calls else delta.content


def _responses_text(event: Any) -> Any:
    kinds = ("response.output_text.delta", "response.function_call_arguments.delta")
    return event.delta if event.type in kinds else None


def _anthropic_text(event: Any) -> Any:
    if event.type != "content_block_delta":
        return None
    return event.delta.text if event.delta.type == "text_delta" else event.delta.partial_json


def _chat_raw(stream: Stream) -> Reading:
    create = _openai(stream).chat.completions.create
    return Iteration(lambda: create(model=MODEL[stream.wire], messages=MESSAGES, stream=True), _chat_text)


def _responses_raw(stream: Stream) -> Reading:
    create = _openai(stream).responses.create
    return Iteration(lambda: create(model=MODEL[stream.wire], input=PROMPT, stream=True), _responses_text)


def _anthropic_raw(stream: Stream) -> Reading:
    create = _anthropic(stream).messages.create
    request = {"model": MODEL[stream.wire], "max_tokens": 1000, "messages": MESSAGES}
    return Iteration(lambda: create(**request, stream=True), _anthropic_text)


def _helper(open_stream: Callable[[], Any], text: Text) -> Reading:
    def items() -> Iterator[Any]:
        with open_stream() as events:
            yield from events

    return Iteration(items, text)


def _chat_helper(stream: Stream) -> Reading:
    def text(event: Any) -> Any:
        if event.type == "content.delta":
            return event.delta
        return event.arguments_delta if event.type == "tool_calls.function.arguments.delta" else None

    open_stream = _openai(stream).chat.completions.stream
    return _helper(lambda: open_stream(model=MODEL[stream.wire], messages=MESSAGES), text)


def _responses_helper(stream: Stream) -> Reading:
    open_stream = _openai(stream).responses.stream
    return _helper(lambda: open_stream(model=MODEL[stream.wire], input=PROMPT), _responses_text)


def _anthropic_helper(stream: Stream) -> Reading:
    open_stream = _anthropic(stream).messages.stream
    request = {"model": MODEL[stream.wire], "max_tokens": 1000, "messages": MESSAGES}
    return _helper(lambda: open_stream(**request), _anthropic_text)


# LiteLLM: its chat chunks for every provider, and its own Responses client.


def _litellm_chat(stream: Stream) -> Reading:
    client = _openai(stream)
    return _litellm(stream, "openai/", client=client, stream_options={"include_usage": True})


def _litellm_anthropic(stream: Stream) -> Reading:
    return _litellm(stream, "anthropic/", client=_litellm_http(stream), api_key="none")


def _litellm(stream: Stream, prefix: str, **options: Any) -> Reading:
    completion = import_module("litellm").completion
    model = prefix + MODEL[stream.wire]
    return Iteration(lambda: completion(model=model, messages=MESSAGES, stream=True, **options), _chat_text)


def _litellm_responses(stream: Stream) -> Reading:
    responses = import_module("litellm").responses
    options = {"model": "openai/" + MODEL[stream.wire], "api_key": "none", "client": _litellm_http(stream)}
    return Iteration(lambda: responses(input=PROMPT, stream=True, **options), _responses_text)


def _litellm_http(stream: Stream) -> Any:
    handler = import_module("litellm.llms.custom_httpx.http_handler").HTTPHandler
    return handler(client=_client(import_module("httpx"), stream.events))


# pydantic-ai: its direct model request, which has no agent around it.


def _pydantic_ai(model: str, provider: str, module: str) -> Opener:
    sdk, name = ("anthropic", "AsyncAnthropic") if module == "anthropic" else ("openai", "AsyncOpenAI")

    def open_(stream: Stream) -> Reading:
        client = getattr(import_module(sdk), name)(
            api_key="none", http_client=_async_client(_http(sdk), stream.events)
        )
        provider_class = getattr(import_module(f"pydantic_ai.providers.{module}"), provider)
        model_class = getattr(import_module(f"pydantic_ai.models.{module}"), model)
        target = model_class(MODEL[stream.wire], provider=provider_class(**{f"{module}_client": client}))
        request = import_module("pydantic_ai.direct").model_request_stream
        prompt = [import_module("pydantic_ai.messages").ModelRequest.user_text_prompt(PROMPT)]

        async def items() -> AsyncIterator[Any]:
            async with request(target, prompt) as events:
                async for event in events:
                    yield event

        return AsyncIteration(items, _pydantic_ai_text)

    return open_


def _pydantic_ai_text(event: Any) -> Any:
    if event.event_kind == "part_start":
        part = event.part
        return (part.content if part.part_kind == "text" else part.args) or None
    if event.event_kind == "part_delta":
        delta = event.delta
        return delta.content_delta if delta.part_delta_kind == "text" else delta.args_delta
    return None


# langchain-openai


def _langchain(stream: Stream) -> Reading:
    model = import_module("langchain_openai").ChatOpenAI(
        model=MODEL[stream.wire],
        api_key="none",
        use_responses_api=stream.wire == "openai-responses",
        http_client=_client(_http("openai"), stream.events),
    )
    return Iteration(lambda: model.stream(PROMPT), _langchain_text)


def _langchain_text(chunk: Any) -> str | None:
    if chunk.tool_call_chunks:
        return "".join(call["args"] or "" for call in chunk.tool_call_chunks)
    return str(chunk.text)


# lm15: its own transport, so its own mock of it


def _lm15(name: str) -> Opener:
    def open_(stream: Stream) -> Reading:
        lm15, testing = import_module("lm15"), import_module("lm15.testing")
        transport = testing.FakeTransport()
        client = getattr(lm15, name)(api_key="none", transport=transport)
        request = lm15.Request(model=MODEL[stream.wire], messages=(lm15.Message.user(PROMPT),))

        def items() -> Iterator[Any]:
            body = testing.FakeResponse(200, b"", list(_HEADERS.items()), chunks=list(stream.events))
            transport.responses.append(body)
            transport.requests.clear()
            return iter(client.stream(request))

        return Iteration(items, _lm15_text)

    return open_


def _lm15_text(event: Any) -> Any:
    if event.type != "delta":
        return None
    return event.delta.input if event.delta.type == "tool_call" else getattr(event.delta, "text", None)


def _everywhere(opener: Opener) -> dict[str, Opener]:
    return dict.fromkeys(MODEL, opener)


_SDK = {"openai-chat": "openai", "openai-responses": "openai", "anthropic-messages": "anthropic"}

FLOOR = "floor: split lines, orjson.loads"
PLAIT = ("Plait, whole body", "Plait, 4 KiB chunks", "Plait, one event a chunk")
RAW = "official SDK, raw stream"
HELPER = "official SDK, accumulating helper"

CANDIDATES: dict[str, Candidate] = {
    candidate.name: candidate
    for candidate in (
        Candidate(FLOOR, _everywhere(lambda stream: Floor(stream.body)), "orjson"),
        Candidate(PLAIT[0], _everywhere(lambda stream: Feeding(stream.wire, [stream.body]))),
        Candidate(PLAIT[1], _everywhere(lambda stream: Feeding(stream.wire, stream.blocks))),
        Candidate(PLAIT[2], _everywhere(lambda stream: Feeding(stream.wire, stream.events))),
        Candidate("mock transport alone", _everywhere(_transport), _SDK),
        Candidate(
            RAW,
            {
                "openai-chat": _chat_raw,
                "openai-responses": _responses_raw,
                "anthropic-messages": _anthropic_raw,
            },
            _SDK,
        ),
        Candidate(
            HELPER,
            {
                "openai-chat": _chat_helper,
                "openai-responses": _responses_helper,
                "anthropic-messages": _anthropic_helper,
            },
            _SDK,
        ),
        Candidate(
            "LiteLLM",
            {
                "openai-chat": _litellm_chat,
                "openai-responses": _litellm_responses,
                "anthropic-messages": _litellm_anthropic,
            },
            "litellm",
        ),
        Candidate(
            "pydantic-ai",
            {
                "openai-chat": _pydantic_ai("OpenAIChatModel", "OpenAIProvider", "openai"),
                "openai-responses": _pydantic_ai("OpenAIResponsesModel", "OpenAIProvider", "openai"),
                "anthropic-messages": _pydantic_ai("AnthropicModel", "AnthropicProvider", "anthropic"),
            },
            "pydantic_ai",
        ),
        Candidate(
            "langchain-openai",
            {"openai-chat": _langchain, "openai-responses": _langchain},
            "langchain_openai",
        ),
        Candidate(
            "lm15",
            {
                "openai-chat": _lm15("OpenAIChatLM"),
                "openai-responses": _lm15("OpenAILM"),
                "anthropic-messages": _lm15("AnthropicLM"),
            },
            "lm15",
        ),
    )
}
"""All rows of the reading table, in its order."""

"""Every Chat Completions recording, read by Plait and by the official SDK: what both can say is the same.

The SDK is fed the recorded bytes through its own HTTP client and stream class; its own accumulator builds
the message. `DIFFERENCES` holds all that it says otherwise, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx
import openai
import pytest
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletion

import plait
from plait.errors import ProviderError
from plait.messages import AssistantMessage
from recordings import Recording, recordings

Facts = dict[str, Any]

GROQ = "Groq says the usage in `x_groq`, which the SDK does not read"
UNFINISHED = "the SDK passes an empty finish_reason on; here it is none"
DETAILS = "the reasoning is only in `reasoning_details`, which the SDK does not read"
NO_ID = "an empty call id is none"
HIDDEN = "Gemini counts hidden reasoning only in the total: it was generated, so it is output"

DIFFERENCES: Mapping[str, Mapping[str, str]] = {
    "pydantic-ai/openai-chat/test_groq--test_groq_model_thinking_part_iter.0": {"usage": GROQ},
    "pydantic-ai/openai-chat/test_groq--test_groq_model_thinking_part_iter.1": {"usage": GROQ},
    "pydantic-ai/openai-chat/test_groq--test_groq_model_web_search_tool_stream.0": {"usage": GROQ},
    "pydantic-ai-sdist/openai-chat/test_groq--test_groq_model_thinking_part_iter.0": {"usage": GROQ},
    "pydantic-ai-sdist/openai-chat/test_groq--test_tool_use_failed_error_streaming.1": {"usage": GROQ},
    "pydantic-ai-sdist/openai-chat/test_groq--test_tool_use_failed_error_streaming.2": {"usage": GROQ},
    "pydantic-ai/openai-chat/test_openai--test_openai_moderation_stream.0": {
        "usage": "the SDK's accumulator keeps the last chunk's usage, even where that is null"
    },
    "pydantic-ai/openai-chat/test_openrouter--test_openrouter_stream_error.0": {
        "usage": "the SDK raises before it reads the usage that stands beside the error"
    },
    "pydantic-ai/openai-chat/test_snowflake--test_snowflake_thinking_streaming.0": {"reasoning": DETAILS},
    "simonw-llm/openai-chat/test_tools_streaming--test_tools_streaming_variant_a.0": {
        "calls": "the SDK's accumulator joins an id and a name that are said again"
    },
    "pydantic-ai/openai-chat/test_openai--test_compatible_api_with_tool_calls_without_id.0": {
        "calls": NO_ID,
        "usage": HIDDEN,
    },
    "pydantic-ai/openai-chat/test_openai--test_compatible_api_with_tool_calls_without_id.1": {
        "usage": HIDDEN
    },
    "pydantic-ai/openai-chat/test_snowflake--test_snowflake_llama.0": {"finish": UNFINISHED},
    "pydantic-ai/openai-chat/test_snowflake--test_snowflake_model_simple.0": {"finish": UNFINISHED},
    "pydantic-ai/openai-chat/test_snowflake--test_snowflake_native_output.0": {"finish": UNFINISHED},
    "pydantic-ai/openai-chat/test_snowflake--test_snowflake_thinking.0": {
        "reasoning": DETAILS,
        "finish": UNFINISHED,
    },
    "pydantic-ai/openai-chat/test_snowflake--test_snowflake_thinking.1": {"finish": UNFINISHED},
    "pydantic-ai/openai-chat/test_snowflake--test_snowflake_tool_calling.0": {"finish": UNFINISHED},
    "pydantic-ai/openai-chat/test_snowflake--test_snowflake_tool_calling.1": {"finish": UNFINISHED},
}
"""By recording: the facts that differ, and why. An entry that no longer differs fails."""


def client(recording: Recording) -> openai.OpenAI:
    """The SDK's client; whatever it asks for, it gets the recording."""

    def answer(_request: httpx.Request) -> httpx.Response:
        kind = "application/json" if recording.kind != "stream" else "text/event-stream"
        return httpx.Response(recording.status, content=recording.body(), headers={"content-type": kind})

    # Newer SDKs declare a client of `httpx2`; they take either.
    transport: Any = httpx.Client(transport=httpx.MockTransport(answer))
    return openai.OpenAI(api_key="none", max_retries=0, http_client=transport)


def sdk_stream(recording: Recording) -> tuple[Any, str | None]:
    """The SDK's message for a stream (None when it has none), and the text of its error."""
    state = ChatCompletionStreamState()
    model = None
    started = False
    error = None
    try:
        for chunk in client(recording).chat.completions.create(model="any", messages=[], stream=True):
            for choice in chunk.choices:
                # Its accumulator refuses lists whose entries have no index.
                (choice.delta.model_extra or {}).pop("annotations", None)
            state.handle_chunk(chunk)
            started, model = True, chunk.model or model
    except openai.APIError as fault:
        error = fault.message
    if not started:
        return None, error
    completion = state.current_completion_snapshot
    completion.model = model or ""
    return completion, error


def sdk_facts(completion: Any) -> Facts:
    """What the SDK says of the first choice."""
    choice = completion.choices[0] if completion.choices else None
    message = choice.message if choice is not None else None
    extra = (message.model_extra or {}) if message is not None else {}
    calls = (message.tool_calls or []) if message is not None else []
    usage = completion.usage
    return {
        "text": (message.content or "") if message is not None else "",
        "refusal": (message.refusal or "") if message is not None else "",
        "reasoning": extra.get("reasoning_content") or extra.get("reasoning") or "",
        "calls": [(call.id, call.function.name, call.function.arguments or "{}") for call in calls],
        "finish": choice.finish_reason if choice is not None else None,
        "usage": (usage.prompt_tokens, usage.completion_tokens) if usage is not None else None,
        "model": completion.model or None,
        "id": completion.id or None,
    }


def our_facts(message: AssistantMessage) -> Facts:
    """What our message says of the same."""
    texts = [part for part in message.content if part.type == "text"]
    usage = message.token_usage
    return {
        "text": "".join(part.text for part in texts if not part.refusal),
        "refusal": "".join(part.text for part in texts if part.refusal),
        "reasoning": "".join(part.text or "" for part in message.reasoning if part.type != "encrypted"),
        "calls": [(call.call_id, call.tool_name, call.arguments) for call in message.tool_calls],
        "finish": message.raw_finish_reason,
        "usage": (usage.input_tokens, usage.output_tokens) if usage is not None else None,
        "model": message.model,
        "id": message.id,
    }


def check(recording: Recording, theirs: Facts, ours: Facts) -> None:
    """The facts are the same, but for those in the table."""
    allowed = DIFFERENCES.get(recording.id, {})
    differing = {name: (theirs[name], ours[name]) for name in theirs if theirs[name] != ours[name]}
    assert allowed.keys() == differing.keys(), differing


@pytest.mark.parametrize("recording", recordings("openai-chat", "stream"), ids=lambda r: r.id)
def test_stream(recording: Recording) -> None:
    """The same message from a stream; where the SDK raises an error, so do we, with the same words."""
    completion, error = sdk_stream(recording)
    parser = plait.parser("openai-chat")
    parser.feed(recording.body())
    _, fault = parser.finish()
    assert error == (fault.message if isinstance(fault, ProviderError) else None), fault
    theirs = (
        sdk_facts(completion) if completion is not None else our_facts(plait.parser("openai-chat").message)
    )
    check(recording, theirs, our_facts(parser.message))


@pytest.mark.parametrize("recording", recordings("openai-chat", "json"), ids=lambda r: r.id)
def test_response(recording: Recording) -> None:
    """The same message from a whole body."""
    completion = client(recording).chat.completions.create(model="any", messages=[])
    assert isinstance(completion, ChatCompletion)
    check(recording, sdk_facts(completion), our_facts(plait.read_response("openai-chat", recording.body())))


def test_differences_have_recordings() -> None:
    """The table names no recording that is not there."""
    known = {recording.id for kind in ("stream", "json") for recording in recordings("openai-chat", kind)}
    assert not DIFFERENCES.keys() - known


SDK_CLASSES: Mapping[type[Exception], type[ProviderError]] = {
    openai.NotFoundError: plait.NotFoundError,
    openai.BadRequestError: plait.BadRequestError,
    openai.RateLimitError: plait.RateLimitError,
}


@pytest.mark.parametrize("recording", recordings("openai-chat", "error"), ids=lambda r: r.id)
def test_error(recording: Recording) -> None:
    """The same class of error from an error body, although we see no status here."""
    with pytest.raises(openai.APIStatusError) as theirs:
        client(recording).chat.completions.create(model="any", messages=[])
    with pytest.raises(ProviderError) as ours:
        plait.read_response("openai-chat", recording.body())
    assert SDK_CLASSES[type(theirs.value)] is type(ours.value)

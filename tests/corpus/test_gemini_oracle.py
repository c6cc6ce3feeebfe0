"""Every Gemini recording, read by Plait and by google-genai's own types: what both can say is the same.

The SDK makes its object of each document as its client does; it has no accumulator, so their parts are joined
here.
`DIFFERENCES` holds all that it says otherwise, with the reason.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from google.genai import types

import plait
from plait.messages import AssistantMessage
from recordings import Recording, recordings

Facts = dict[str, Any]

FETCHED = "pages that the URL context tool fetched are cited, but no search found them"
PAST = "the end of one segment is past the text that Google itself gives it"

DIFFERENCES: Mapping[str, Mapping[str, str]] = {
    "pydantic-ai/gemini/test_google--test_google_model_web_fetch_tool_stream.0": {"sources": FETCHED},
    "pydantic-ai/gemini/test_google--test_google_model_web_fetch_tool.0": {"sources": FETCHED},
    "pydantic-ai/gemini/test_structured_output--test_native_output_with_builtin_tools_stream.0": {
        "total": "the last chunk leaves out the count of the text, and sums without it"
    },
    "pydantic-ai-sdist/gemini/test_gemini--test_gemini_model_thinking_part.1": {
        "output": "this preview counts its thoughts as output, too; the total has them once"
    },
    "pydantic-ai/gemini/test_thinking_native_tools--test_thinking_with_native_tool_wire_contract-google.0": {
        "segments": PAST
    },
    "pydantic-ai/gemini/test_google--test_google_vertex_tool_combination_omits"
    "_include_server_side_tool_invocations.1": {"segments": PAST},
}
"""By recording: the facts that differ, and why. An entry that no longer differs fails."""


def sdk_documents(recording: Recording) -> list[types.GenerateContentResponse]:
    """The SDK's object for each document, in order."""
    body = recording.body().decode()
    documents = [body] if recording.kind == "json" else re.findall(r"^data: (.*?)\r?$", body, re.MULTILINE)
    from_response = types.GenerateContentResponse._from_response
    return [from_response(response=json.loads(document), kwargs={}) for document in documents]


def decoded(signature: str | None) -> bytes | None:
    """A signature's bytes, as the SDK has them."""
    if signature is None:
        return None
    return base64.urlsafe_b64decode(signature.translate(str.maketrans("+/", "-_")))


def sdk_facts(documents: list[types.GenerateContentResponse]) -> Facts:
    """What the SDK's objects say, all together."""
    first = [document.candidates[0] for document in documents if document.candidates]
    parts = [
        part for candidate in first if candidate.content is not None for part in candidate.content.parts or ()
    ]
    metadata = {}
    for document in documents:
        metadata.update(
            document.usage_metadata.model_dump(exclude_none=True) if document.usage_metadata else {}
        )
    blocked = [
        document.prompt_feedback.block_reason
        for document in documents
        if document.prompt_feedback is not None and document.prompt_feedback.block_reason is not None
    ]
    reasons = [candidate.finish_reason for candidate in first if candidate.finish_reason is not None]
    grounded = [
        c.grounding_metadata for c in first if c.grounding_metadata and c.grounding_metadata.grounding_chunks
    ]
    calls = [part.function_call for part in parts if part.function_call is not None]
    return {
        "text": "".join(part.text or "" for part in parts if not part.thought),
        "thoughts": "".join(part.text or "" for part in parts if part.thought),
        "calls": [(call.id, call.name, call.args or {}) for call in calls],
        "signatures": [part.thought_signature for part in parts if part.thought_signature is not None],
        "signed text": [
            (part.text, part.thought_signature)
            for part in parts
            if part.text is not None and part.thought_signature is not None and not part.thought
        ],
        "files": [
            (part.inline_data.mime_type, part.inline_data.data)
            for part in parts
            if part.inline_data is not None
        ],
        "tools": [
            tool.model_dump(mode="json", by_alias=True, exclude_none=True)
            for part in parts
            for tool in (part.executable_code, part.code_execution_result, part.tool_call, part.tool_response)
            if tool is not None
        ],
        "sources": [
            (chunk.web.uri, chunk.web.title or "")
            for metadata_ in grounded[-1:]
            for chunk in metadata_.grounding_chunks or ()
            if chunk.web is not None
        ],
        "segments": [
            (segment.start_index or 0, segment.end_index, segment.text)
            for metadata_ in grounded[-1:]
            for support in metadata_.grounding_supports or ()
            if (segment := support.segment) is not None
            for _ in support.grounding_chunk_indices or ()
        ],
        "finish": (reasons or blocked)[-1].value,
        "input": metadata.get("prompt_token_count", 0) + metadata.get("tool_use_prompt_token_count", 0),
        "output": metadata.get("candidates_token_count", 0) + metadata.get("thoughts_token_count", 0),
        "total": metadata.get("total_token_count", 0),
        "cached": metadata.get("cached_content_token_count"),
        "thought tokens": metadata.get("thoughts_token_count"),
        "model": documents[0].model_version,
        "id": documents[0].response_id,
    }


def our_signatures(part: Any) -> list[str | None]:
    """The signatures of a part of our message."""
    if part.type == "reasoning":
        return [detail.signature for detail in part.details]
    return [part.data.get("thoughtSignature") if part.type == "provider" else part.signature]


def our_tool(data: Any) -> Any:
    """The only data field of a part that the provider made for itself."""
    (tool,) = [value for name, value in data.items() if name != "thoughtSignature"]
    return tool


def our_facts(message: AssistantMessage, events: list[plait.Event]) -> Facts:
    """What our message and events say of the same."""
    usage = message.token_usage or plait.TokenUsage(0, 0)
    texts = [part for part in message.content if part.type == "text"]
    files: list[Any] = [part for part in message.content if part.type in ("image", "file")]
    whole = message.text.encode()
    citations = [event for event in events if isinstance(event, plait.Citation)]
    found = [event for event in events if isinstance(event, plait.WebSearchDone)]
    signatures = [signature for part in message.content for signature in our_signatures(part)]
    return {
        "text": message.text,
        "thoughts": "".join(part.text or "" for part in message.reasoning),
        "calls": [(call.call_id, call.tool_name, call.input) for call in message.tool_calls],
        "signatures": [decoded(signature) for signature in signatures if signature is not None],
        "signed text": [(part.text, decoded(part.signature)) for part in texts if part.signature is not None],
        "files": [
            (source.media_type, base64.b64decode(source.data))
            for source in (part.image if part.type == "image" else part.data for part in files)
        ],
        "tools": [our_tool(part.data) for part in message.content if part.type == "provider"],
        "sources": [(source["url"], source["title"]) for event in found for source in event.sources],
        "segments": [(c.start, c.end, whole[c.start : c.end].decode()) for c in citations],
        "finish": message.raw_finish_reason,
        "input": usage.input_tokens,
        "output": usage.output_tokens,
        "total": usage.total_tokens,
        "cached": usage.cache_read_tokens,
        "thought tokens": usage.reasoning_tokens,
        "model": message.model,
        "id": message.id,
    }


@pytest.mark.parametrize(
    "recording", [*recordings("gemini", "stream"), *recordings("gemini", "json")], ids=lambda r: r.id
)
def test_recording(recording: Recording) -> None:
    """The same text, thoughts, calls, signatures, files, grounding, usage and finish reason."""
    parser = plait.parser("gemini")
    events = [*parser.feed(recording.body()), *parser.close()]
    theirs, ours = sdk_facts(sdk_documents(recording)), our_facts(parser.message, events)
    differing = {name: (theirs[name], ours[name]) for name in theirs if theirs[name] != ours[name]}
    assert DIFFERENCES.get(recording.id, {}).keys() == differing.keys(), differing
    assert dict(parser.unknown) == {}
